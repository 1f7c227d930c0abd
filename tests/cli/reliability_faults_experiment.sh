#!/bin/sh
# Faults on the way from results to a table and to one run in full; the runs themselves and the report go through the same walk in a
# unit test.
set -eu
# shellcheck source=tests/cli/support/fault_walk.sh
. "$DISSENT_SOURCE/tests/cli/support/fault_walk.sh"

cat >e.yaml <<'TEXT'
name: e
data: {d: {votes: votes.csv, gold: gold4.csv}}
split: {by: none}
human: standard
defaults: {baseline: votes}
cells: [{name: votes, labels: standard}, {name: soft, labels: softmax}]
measure: {test: [accuracy]}
TEXT
if ! "$DISSENT" experiment run e.yaml -q 2>err; then
    grep -q "this build has no" err || fail "$(cat err)"
    echo "skipped: $(cat err)"
    exit 77
fi
key=$("$DISSENT" experiment status e.yaml --json - | sed -n 's/.*"key": "\([0-9a-f]*\)".*/\1/p' | head -1)
walk "table.md table.json" experiment table ../e.yaml --store ../e.results -o table.md --json table.json --threads 1 -q
walk "show.json" experiment show ../e.yaml "$key" --store ../e.results --json show.json --threads 1 -q
