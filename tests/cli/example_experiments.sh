#!/bin/sh
# examples/experiments: each file runs with the commands of its comment, and its table has a value in every cell.
set -eu
# shellcheck source=tests/cli/support/scratch.sh
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"
"$DISSENT" --version --verbose | grep -Eqi '^(libyaml|sqlite): absent' && { echo "skipped: this build has no experiments"; exit 77; }
count=0
for file in "$DISSENT_SOURCE"/examples/experiments/*.yaml; do
    name=$(basename "$file" .yaml)
    mkdir "$name"
    synth=$(sed -nE 's/^#   dissent (synth .*)/\1/p' "$file")
    [ -n "$synth" ] || fail "$name: the comment does not say how the data is made"
    (
        cd "$name"
        # shellcheck disable=SC2086 # its words are options
        "$DISSENT" $synth -q
        "$DISSENT" experiment run "$file" --data . --store store -q
        "$DISSENT" experiment table "$file" --data . --store store --format csv -o table.csv -q
        "$DISSENT" experiment report "$file" --data . --store store -o report.html -q
    )
    # every cell and metric has a mean
    awk -F, -v name="$name" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "mean") at = i; if (!at) { print name ": no column mean"; exit 1 } next }
        $at == "" { print name ": no value in " $0; bad = 1 } END { exit bad || NR < 7 }' "$name/table.csv" || fail "$name: an incomplete table: $(cat "$name/table.csv")"
    count=$((count + 1))
done
[ "$count" = 2 ] || fail "there are $count example experiments; README.md of papers/ names two"
echo "$count experiments"
