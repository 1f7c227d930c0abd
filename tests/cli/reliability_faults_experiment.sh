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

# A merge that fails at any place leaves a store with whole runs, and the next one adds the rest.
"$DISSENT" experiment table e.yaml --store e.results --format csv -q >whole.csv
for kind in alloc:5 io:4; do
    n=0
    while :; do
        # shellcheck disable=SC2154 # every: of the walk, which takes a sample under sanitizers
        n=$((n + 1 + n / every))
        [ $n -le 2000 ] || fail "merge ${kind%:*}: more than 2000 sites"
        rm -rf joined
        status=0
        DISSENT_FAULT=${kind%:*}:$n "$DISSENT_FAULTY" experiment merge e.results --store joined -q >/dev/null 2>err || status=$?
        if grep -q "^fault not reached" err; then
            [ $status = 0 ] || fail "merge ${kind%:*}:$n: exit $status without a fault: $(cat err)"
            break
        fi
        [ $status = "${kind#*:}" ] || fail "merge ${kind%:*}:$n: exit $status: $(cat err)"
        "$DISSENT" experiment merge e.results --store joined -q 2>err || fail "merge after ${kind%:*}:$n: $(cat err)"
        "$DISSENT" experiment table e.yaml --store joined --format csv -q >joined.csv
        cmp -s whole.csv joined.csv || fail "merge after ${kind%:*}:$n: another table"
        [ -z "$(find joined -name '*.tmp')" ] || fail "merge after ${kind%:*}:$n: left $(find joined -name '*.tmp')"
    done
    echo "merge: $n places of ${kind%:*}"
done
