#!/bin/sh
# Golden tests of the tool. tests/cli/cases/NAME.case is one case, in sections that begin with a line "#### TITLE":
#   files     what lies in the fresh folder that the command runs in: NAME, or NAME FIXTURE, from tests/cli/fixtures
#   command   a shell script; $DISSENT is the tool. One that exits with 77 is skipped for the reason it prints
#   stdout, stderr, status    what it must say; times are replaced by "T s", lists of all rows of a table by the name of
#                             the table (support/mask_tables.awk), but in list.case, which holds these lists
# A section whose last line is "#### no newline" has no line feed at its end.
# tests/cli/run_cases.sh [NAME...] runs these cases, or all; ctest runs each as a test of its own.
# UPDATE=1 tests/cli/run_cases.sh [NAME...] writes what they say now; look at the diff before you keep it.
set -eu
source=${DISSENT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
DISSENT=${DISSENT:-$source/build/dissent}
DISSENT_FAULTY=${DISSENT_FAULTY:-$source/build/dissent-faulty}
export DISSENT DISSENT_FAULTY
unset NO_COLOR DISSENT_FAULT DISSENT_ISA DISSENT_DATA || :
LC_ALL=C.UTF-8
export LC_ALL
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

for table in methods combiners recipes metrics models objectives presets scales crowds; do
    echo "#### $table"
    "$DISSENT" list $table
done > "$scratch/tables"

# plain FILE: its text without times, scratch folders and lists of the rows of a table.
plain() {
    sed -E -e 's/[0-9]+\.[0-9]+ s\)/T s)/; s/, [0-9]+\.[0-9]+ s$/, T s/; s/( (yes|no|-) +)[0-9]+\.[0-9]{3}$/\1T/' -e "s#$scratch#SCRATCH#g" "$1" > "$scratch/timeless"
    if [ "$name" = list ] || [ -n "$(tail -c 1 "$1")" ]; then
        cat "$scratch/timeless"
    else
        awk -v tables="$scratch/tables" -f "$source/tests/cli/support/mask_tables.awk" "$scratch/tables" "$scratch/timeless"
    fi
}

# sections FILE: one file per section, in $scratch/case.
sections() {
    rm -rf "$scratch/case"
    mkdir "$scratch/case"
    awk -v folder="$scratch/case" '
        /^#### / { file = folder "/" substr($0, 6); if (!/^#### no newline$/) printf "" > file; next }
        { print > file }' "$1"
}

# lay_out: the fixtures that the case asks for, in $scratch/work.
lay_out() {
    rm -rf "$scratch/work"
    mkdir "$scratch/work"
    [ -e "$scratch/case/files" ] || return 0
    while read -r file fixture; do
        mkdir -p "$(dirname "$scratch/work/$file")"
        cp "$source/tests/cli/fixtures/${fixture:-$file}" "$scratch/work/$file"
    done < "$scratch/case/files"
}

# section TITLE FILE: the file as a section of a case.
section() {
    echo "#### $1"
    cat "$2"
    [ ! -s "$2" ] || [ -z "$(tail -c 1 "$2")" ] || printf '\n#### no newline\n'
}

failed=0
count=0
# shellcheck disable=SC2046 # names of cases have no spaces
[ $# -gt 0 ] || set -- $(cd "$source/tests/cli/cases" && ls -- *.case)
for name; do
    name=${name%.case}
    case=$source/tests/cli/cases/$name.case
    sections "$case"
    lay_out
    status=0
    (cd "$scratch/work" && sh "$scratch/case/command") > "$scratch/out" 2> "$scratch/err" < /dev/null || status=$?
    if [ "$status" = 77 ]; then
        echo "case $name: skipped: $(cat "$scratch/out")"
        [ $# -gt 1 ] || exit 77
        continue
    fi
    plain "$scratch/out" > "$scratch/stdout"
    plain "$scratch/err" > "$scratch/stderr"
    echo "$status" > "$scratch/status"
    {
        [ ! -e "$scratch/case/files" ] || section files "$scratch/case/files"
        section command "$scratch/case/command"
        for part in stdout stderr status; do section $part "$scratch/$part"; done
    } > "$scratch/now"
    if [ "${UPDATE:-0}" = 1 ]; then
        cp "$scratch/now" "$case"
    elif ! diff -u "$case" "$scratch/now" > "$scratch/diff"; then
        echo "case $name is not what it was"
        cat "$scratch/diff"
        failed=1
    fi
    left=$(find "$scratch/work" -name '*.tmp')
    [ -z "$left" ] || { echo "case $name: left behind: $left"; failed=1; }
    count=$((count + 1))
done
echo "$count cases"
exit $failed
