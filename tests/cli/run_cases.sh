#!/bin/sh
# Golden tests of the tool. Each folder tests/cli/cases/NAME holds `cmd` (a shell script; the folder's other files lie beside it in
# a fresh folder, $DISSENT is the tool) and what it must say: `stdout`, `stderr`, `status`. Times are replaced by "T s".
# A cmd that exits with 77 is skipped for the reason it prints.
# UPDATE=1 tests/cli/run_cases.sh [NAME...] writes what it says now; look at the diff before you keep it.
set -eu
source=${DISSENT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
DISSENT=${DISSENT:-$source/build/dissent}
DISSENT_FAULTY=${DISSENT_FAULTY:-$source/build/dissent-faulty}
export DISSENT DISSENT_FAULTY
unset NO_COLOR DISSENT_FAULT DISSENT_ISA || :
LC_ALL=C.UTF-8
export LC_ALL
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM

plain() {
    sed -E -e 's/[0-9]+\.[0-9]+ s\)/T s)/; s/, [0-9]+\.[0-9]+ s$/, T s/; s/( (yes|no|-) +)[0-9]+\.[0-9]{3}$/\1T/' -e "s#$scratch#SCRATCH#g" "$1"
}

failed=0
count=0
# shellcheck disable=SC2046 # names of cases have no spaces
[ $# -gt 0 ] || set -- $(cd "$source/tests/cli/cases" && ls)
for name; do
    case=$source/tests/cli/cases/$name
    rm -rf "$scratch/work"
    mkdir "$scratch/work"
    for file in "$case"/*; do
        case ${file##*/} in cmd | stdout | stderr | status) ;; *) cp -R "$file" "$scratch/work/" ;; esac
    done
    status=0
    (cd "$scratch/work" && sh "$case/cmd") >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
    if [ "$status" = 77 ]; then
        echo "case $name: skipped: $(cat "$scratch/out")"
        continue
    fi
    plain "$scratch/out" >"$scratch/stdout"
    plain "$scratch/err" >"$scratch/stderr"
    echo "$status" >"$scratch/status"
    for part in stdout stderr status; do
        if [ "${UPDATE:-0}" = 1 ]; then
            cp "$scratch/$part" "$case/$part"
        elif ! diff -u "$case/$part" "$scratch/$part" >"$scratch/diff"; then
            echo "case $name: $part is not what it was"
            cat "$scratch/diff"
            failed=1
        fi
    done
    left=$(find "$scratch/work" -name '*.tmp')
    [ -z "$left" ] || { echo "case $name: left behind: $left"; failed=1; }
    count=$((count + 1))
done
echo "$count cases"
exit $failed
