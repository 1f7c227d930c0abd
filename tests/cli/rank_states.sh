#!/bin/sh
# Labels on ranks by groups of people, with states that know of every item, and with votes that grow: the bytes of one
# process.
set -eu
# shellcheck source=tests/cli/support/ranks.sh
. "$DISSENT_SOURCE/tests/cli/support/ranks.sh"

"$DISSENT" synth --items 4000 --workers 40 --seed 3 --shuffle --gold gold.csv -o votes.csv -q

# groups of people: a table of votes each, dealt out once more
awk -F, 'BEGIN { print "worker,side" } NR > 1 && !seen[$2]++ { print $2 "," (n++ % 3 ? "left" : "right") }' votes.csv >people.csv
set -- labels votes.csv --method dawid-skene:iterations=3 --gold gold.csv --worker-table people.csv --group side -q
"$DISSENT" "$@" --threads 1 --save-groups groups --json one.json -o one.csv
mv groups one
for n in 2 3; do
    ranks $n "$DISSENT" "$@" --threads 2 --save-groups groups --json ranks.json -o ranks.csv
    cmp one.csv ranks.csv && cmp one.json ranks.json || fail "groups on $n ranks: other bytes"
    cmp one/left.csv groups/left.csv && cmp one/right.csv groups/right.csv || fail "groups on $n ranks: other labels"
done

# states that know of every item
for method in glad:iterations=2 "ordinal:iterations=2,intervals=yes"; do
    "$DISSENT" labels votes.csv --scale ordinal --method "$method" --save-state one.safetensors -o one.csv -q
    ranks 3 "$DISSENT" labels votes.csv --scale ordinal --method "$method" --save-state ranks.safetensors -o ranks.csv -q
    cmp one.safetensors ranks.safetensors || fail "a state of $method: other bytes"
done

# votes that grow: states hold a random key, so what is made of them is compared
head -12001 votes.csv >old.csv
{
    head -1 votes.csv
    tail -n +12002 votes.csv
} >new.csv
"$DISSENT" labels old.csv --method dawid-skene --save-growing one.safetensors -o one.csv -q
ranks 3 "$DISSENT" labels old.csv --method dawid-skene --save-growing ranks.safetensors -o ranks.csv -q
[ "$(wc -c <one.safetensors)" = "$(wc -c <ranks.safetensors)" ] || fail "a growing state: other size"
head -500 new.csv >few.csv
"$DISSENT" labels few.csv --method dawid-skene --append one.safetensors -o one.csv -q
for n in 2 4; do
    ranks $n "$DISSENT" labels few.csv --method dawid-skene --append ranks.safetensors -q >ranks.csv
    cmp one.csv ranks.csv || fail "more votes on $n ranks: other bytes"
done
"$DISSENT" labels new.csv --method one-coin --append one.safetensors --refit --json one.json -o one.csv -q
ranks 3 "$DISSENT" labels new.csv --method one-coin --append ranks.safetensors --refit --json ranks.json --save-views views -o ranks.csv -q
cmp one.csv ranks.csv || fail "a refit: other bytes"
sed 's/ranks[.]safetensors/one.safetensors/' ranks.json | cmp - one.json || fail "a refit: another summary"

echo "groups, states and growing votes on ranks: the bytes of one process"
