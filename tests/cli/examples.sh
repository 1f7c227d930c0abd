#!/bin/sh
# The C programs under examples/ do what they say.
set -eu
folder=$(dirname "$DISSENT")/examples
[ -x "$folder/example_labels" ] || { echo "skipped: the examples are not built"; exit 77; }
# shellcheck source=tests/cli/support/scratch.sh
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"
"$DISSENT" synth -q --items 200 --classes 2 --gold gold.csv -o votes.csv
"$folder/example_labels" votes.csv >labels.txt
[ "$(wc -l <labels.txt)" = 200 ] || { echo "not one line per item"; exit 1; }
grep -qE '^t0  0 [01]\.[0-9]{3}  1 [01]\.[0-9]{3}$' labels.txt || { echo "a line reads otherwise:"; head -1 labels.txt; exit 1; }

# The same through the tool, to the three digits that the program prints.
"$DISSENT" labels -q votes.csv --method standard --method dawid-skene:iterations=50 -o labels.csv
tail -n +2 labels.csv | awk -F, '{ printf "%s  0 %.3f  1 %.3f\n", $1, $4, $5 }' | diff labels.txt - || { echo "program and tool differ"; exit 1; }

status=0
"$folder/example_labels" nosuch.csv 2>err || status=$?
[ $status = 4 ] && grep -q nosuch.csv err || { echo "a missing file: exit $status"; cat err; exit 1; }

"$folder/example_default_labels" votes.csv default.csv
"$DISSENT" labels -q votes.csv -o labels.csv
cmp default.csv labels.csv || { echo "the default labels of program and tool differ"; exit 1; }

"$folder/example_score" gold.csv both=labels.csv >table.txt
awk '$1 == "both" { found = $2 == 200 && $3 > .7 && $3 <= 1 } END { exit !found }' table.txt || { cat table.txt; exit 1; }

# A model: what the program says of the predictions that it writes is what the tool says of them.
"$DISSENT" synth -q --items 500 --classes 2 --gold gold.csv --text items.csv -o votes.csv
"$DISSENT" labels -q votes.csv -o labels.csv
"$folder/example_train" items.csv labels.csv gold.csv predicted.csv >trained.txt
"$DISSENT" eval -q predicted.csv --gold gold.csv --human labels.csv --lenient --metric accuracy --metric cross_entropy -o scores.csv
{
    echo "100 items held out"
    tail -n +2 scores.csv | awk -F, '{ printf "%s %.4f [%.4f, %.4f]\n", $1, $3, $4, $5 }'
} | diff trained.txt - || { echo "program and tool differ"; exit 1; }
awk '$1 == "accuracy" { found = $2 > .75 } END { exit !found }' trained.txt || { cat trained.txt; exit 1; }
status=0
"$folder/example_train" items.csv nosuch.csv gold.csv 2>err || status=$?
[ $status = 4 ] && grep -q nosuch.csv err || { echo "a missing file: exit $status"; cat err; exit 1; }
echo "examples hold"
