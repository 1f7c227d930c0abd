#!/bin/sh
# Labels on ranks with all that may be given beside the votes, and all that may be written: the bytes of one process.
set -eu
# shellcheck source=tests/cli/support/ranks.sh
. "$DISSENT_SOURCE/tests/cli/support/ranks.sh"

"$DISSENT" synth --items 8000 --workers 40 --seed 3 --shuffle --gold gold.csv -o votes.csv -q
"$DISSENT" labels votes.csv --method softmax -q -o soft.csv
{
    head -2000 gold.csv
    echo "nothing,1"
} >some.csv
head -5001 soft.csv >predictions.csv
# votes that come again, on other ranks; items and a worker with too few
{
    cat votes.csv
    awk -F, 'NR > 1 && NR % 7 == 0 { print $1 "," $2 "," ($3 + 1) % 4 }' votes.csv
} >again.csv
{
    awk 'NR == 1 || (NR % 11 && NR % 3)' votes.csv
    echo "lonely,unseen,1"
} >thin.csv
"$DISSENT" labels votes.csv --method dawid-skene:iterations=2 -q --save-state state.safetensors -o two.csv

# same NAME RANKS ARGUMENTS...: labels, summary and workers
same() {
    name=$1
    counts=$2
    shift 2
    "$DISSENT" labels "$@" --threads 1 -q --json one.json --workers one-workers.csv -o one.csv
    for n in $counts; do
        ranks "$n" "$DISSENT" labels "$@" --threads 2 -q --json ranks.json --workers workers.csv -o ranks.csv || fail "$name fails on $n ranks"
        cmp one.csv ranks.csv && cmp one.json ranks.json && cmp one-workers.csv workers.csv || fail "$name: $n ranks give other bytes"
    done
}
same "bwa and glad, known labels" "1 2 3 4" votes.csv --gold some.csv --method bwa:iterations=5 --method glad:iterations=4 --combine average
same "papers, known labels" 2 votes.csv --gold some.csv --method papers
same "default, known labels" "1 3" votes.csv --gold some.csv
same "predictions" 3 votes.csv --predictions predictions.csv --method dawid-skene:iterations=5 --method crowdlab --combine average
same "classes in an order" "2 3" votes.csv --scale ordinal --method ordinal:iterations=6,intervals=yes
same "a state" 3 votes.csv --init-state state.safetensors --method dawid-skene:iterations=2
same "the first vote" 3 again.csv --duplicates first --method dawid-skene:iterations=3
same "the last vote" 4 again.csv --duplicates last --method one-coin:iterations=3
same "enough votes" 3 thin.csv --min-votes 4 --method dawid-skene:iterations=3

# other files
"$DISSENT" labels votes.csv --method softmax -q --format npy -o one.npy
"$DISSENT" labels votes.csv --method softmax -q -o one.jsonl.gz
ranks 3 "$DISSENT" labels votes.csv --method softmax -q --format npy -o ranks.npy
ranks 3 "$DISSENT" labels votes.csv --method softmax -q -o ranks.jsonl.gz
cmp one.npy ranks.npy && cmp one.tasks.txt ranks.tasks.txt && cmp one.classes.txt ranks.classes.txt || fail "npy: other bytes"
gzip -dc one.jsonl.gz >one.jsonl
gzip -dc ranks.jsonl.gz | cmp - one.jsonl || fail "an archive: other bytes"

# combinations that look at all items, weights by halves of the crowd
same "temperatures" 2 votes.csv --method majority --method dawid-skene:iterations=2 --combine temperature
same "hybrid" "1 4" votes.csv --gold some.csv --method softmax --method dawid-skene:iterations=3 --combine hybrid
same "chosen weights" 3 votes.csv --gold some.csv --method softmax --method dawid-skene:iterations=3 --combine hybrid:weights=auto
same "chosen weights with predictions" 2 votes.csv --predictions predictions.csv --method ibcc:iterations=2 --method one-coin:iterations=2 \
    --combine average:weights=auto

code=0
ranks 3 "$DISSENT" labels votes.csv --min-votes 9 -o refused.csv -q 2>message || code=$?
[ $code = 3 ] && [ "$(grep -c "no votes are left" message)" = 1 ] || fail "no votes left: exit code $code, $(cat message)"
echo "nobody,9" >>some.csv
sed -n 2p votes.csv | sed 's/,.*/,9/' >>some.csv
code=0
ranks 3 "$DISSENT" labels votes.csv --gold some.csv -o refused.csv -q 2>message || code=$?
[ $code = 3 ] && [ "$(grep -c "some.csv:2003" message)" = 1 ] || fail "a bad gold label: exit code $code, $(cat message)"
[ ! -e refused.csv ] || fail "something was written"
echo "labels with all options on ranks: the bytes of one process"
