#!/bin/sh
# Runs the command lines that the pages of docs/ show outside README, the tour and the pages of exports, each page in a
# folder with synthetic files of the names it uses (page_files.sh): each command must succeed. Left out: what needs a GPU,
# the papers' data or another program; --device and MPI have separate tests. What console blocks show is compared with the
# output by tools/docs/refresh_docs.py --check (the test page_outputs).
set -eu
# shellcheck source=tests/cli/support/documents.sh
. "${DISSENT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/cli/support/documents.sh"
# shellcheck source=tests/cli/support/page_files.sh
. "$source/tests/cli/support/page_files.sh"
cd "$scratch"

mkdir common
(cd common && common_files)

n=0
for page in "$source"/docs/guides/*.md "$source"/docs/concepts/*.md "$source"/docs/evidence/*.md "$source"/docs/reference/*.md; do
    name=$(basename "$page" .md)
    awk '/^```/ { on = !on; next } on && /^(\$ )?dissent / { sub(/^\$ /, ""); print }' "$page" |
        grep -vE -e '--device|\| *$' >"$scratch/commands" || continue
    case $name in labels-and-model | predictions) continue ;; esac # by labels_and_model.sh, and with data that is not included
    rm -rf work
    cp -r common work
    cd work
    page_files "$name" || { echo "no files are prepared for the commands of $page"; exit 1; }
    while read -r command; do
        case $command in *experiments/*) continue ;; esac # the shared task's data
        put "$name" "$command"
        sh -eu -c "$command" >"$scratch/out" 2>&1 </dev/null || {
            echo "a command of $page failed:"
            echo "$command"
            cat "$scratch/out"
            exit 1
        }
        n=$((n + 1))
    done <"$scratch/commands"
    cd ..
done
[ $n -ge 50 ] || { echo "only $n commands were run"; exit 1; }
echo "$n commands of pages hold"
