#!/bin/sh
# Runs every shell block of README.md and docs/start/tour.md, in order, in one fresh folder per document: what they show must
# work, and print what they say. Blocks marked ```sh are run with the tool first in the path, and lines that begin with
# ./run, make or cmake are left out (they build what is being tested).
# The tour's tables must name every method, combination and recipe of `dissent list`, and no other; the C programs must
# be those of examples/; links of all documents must lead somewhere.
set -eu
# shellcheck source=tests/cli/support/documents.sh
. "${DISSENT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/cli/support/documents.sh"

experiments=yes
! dissent --version --verbose | grep -Eqi '^(libyaml|sqlite): absent' || experiments=no

# check DOCUMENT PROGRAM MINIMUM: its blocks, its C program, and how many blocks must show what they print.
check() {
    document=$1 program=$2 minimum=$3 shown=0
    rm -rf "$scratch/blocks" "$scratch/work"
    mkdir "$scratch/blocks" "$scratch/work"
    # One file per block, in order: NNN.sh what to run, NNN.text what it prints by the document (both streams).
    awk -v folder="$scratch/blocks" '
        /^```sh$/ { n++; file = sprintf("%s/%03d.sh", folder, n); next }
        /^```text$/ && !closed { file = sprintf("%s/%03d.text", folder, n); next }
        /^```/ { if (file) { close(file); closed = file ~ /text$/; file = "" } next }
        file { closed = 0; if (!/^(\.\/run|make|cmake|git|cc) /) print > file }' "$source/$document"
    for block in "$scratch"/blocks/*.sh; do
        [ $experiments = yes ] || ! grep -q '^dissent experiment' "$block" || {
            echo "a block about experiments is left out: this build has none"
            continue
        }
        (cd "$scratch/work" && sh -eu "$block") >"$scratch/out" 2>&1 </dev/null || {
            echo "a block of $document failed:"
            cat "$block" "$scratch/out"
            exit 1
        }
        text=${block%.sh}.text
        [ -e "$text" ] || continue
        plain "$text" >"$scratch/expected"
        plain "$scratch/out" | diff "$scratch/expected" - || {
            echo "$document shows something else than this block prints:"
            cat "$block"
            exit 1
        }
        shown=$((shown + 1))
    done
    [ "$shown" -ge "$minimum" ] || { echo "only $shown blocks of $document show what they print"; exit 1; }
    awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on { print }' "$source/$document" |
        diff "$source/examples/$program" - || { echo "the C program of $document is not examples/$program"; exit 1; }
}
check README.md default_labels.c 1
check docs/start/tour.md labels.c 10

for kind in methods combiners recipes; do dissent list $kind | sed -n 's/^\([a-z-][a-z-]*\) .*/\1/p'; done | sort >"$scratch/known"
sed -n 's/^| `\([a-z-]*\)` |.*/\1/p' "$source/docs/start/tour.md" | sort >"$scratch/table"
diff "$scratch/known" "$scratch/table" || { echo "the tour's tables of methods, combinations and recipes are not those of the tool"; exit 1; }

# Links within the tree lead somewhere. The site generates the pages of reference/cli, tables, python and c, and exit-codes.md;
# its build checks these links.
find "$source"/*.md "$source/docs" "$source/bench" "$source/papers" -name "*.md" >"$scratch/documents"
while read -r document; do
    { grep -oE '\]\([^)#]+' "$document" || true; } | cut -c3- | { grep -v '://' || true; } | while read -r link; do
        case $link in cli/* | tables/* | *reference/cli/* | *reference/tables/* | *reference/python/* | *reference/c/* | *exit-codes.md) continue ;; esac
        [ -e "$(dirname "$document")/$link" ] || { echo "$document: nothing at $link"; exit 1; }
    done
done <"$scratch/documents"
echo "README and the tour hold"
