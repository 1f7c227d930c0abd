#!/bin/sh
# The commands at the top of docs/guides/labels-and-model.md: labels, predictions out of fold, labels with them. What they are for must come true.
set -eu
# shellcheck source=tests/cli/support/documents.sh
. "${DISSENT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/cli/support/documents.sh"
cd "$scratch"
awk '/^```sh$/ && !n++ { on = 1; next } /^```/ { on = 0 } on { print $0 " --quiet" }' "$source/docs/guides/labels-and-model.md" >commands.sh
[ "$(wc -l <commands.sh)" -ge 6 ] || { echo "docs/guides/labels-and-model.md shows fewer commands than it did"; exit 1; }
sh -eu commands.sh
accuracy() { dissent eval --gold gold.csv "$1" --quiet 2>/dev/null | sed -n 's/^accuracy,[^,]*,\([^,]*\),.*/\1/p'; }
before=$(accuracy labels.csv)
for after in better.csv best.csv; do
    awk -v a="$before" -v b="$(accuracy $after)" 'BEGIN { exit !(b > a + .1) }' || { echo "$after: $(accuracy $after) after $before"; exit 1; }
done
# Predictions of other items are worth nothing, and change nothing.
{ head -1 predictions.csv; tail -n +2 predictions.csv | cut -d, -f1 >tasks; tail -n +2 predictions.csv | cut -d, -f2- | sed -n '500,$p;1,499{w first
}' | cat - first | paste -d, tasks -; } >moved.csv
dissent labels votes.csv --method ibcc --predictions moved.csv --quiet -o moved-labels.csv
dissent labels votes.csv --method ibcc --quiet -o plain-labels.csv
cmp moved-labels.csv plain-labels.csv
echo "labels and model hold"
