#!/bin/sh
# Any number of threads gives the same bytes, in every output of every method.
# shellcheck disable=SC2086 # counts are words
set -eu
# shellcheck source=tests/cli/support/scratch.sh
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"

# Sanitizers make each run ten times as long, and look at what it does to memory: one count is enough for that.
counts="1 2 7 16" items=6000 many=1000
[ -z "${DISSENT_SANITIZE:-}" ] || { counts=7 items=2000 many=300; }

"$DISSENT" synth --items $items --workers 200 --classes 4 --seed 3 --shuffle --gold gold.csv -o votes.csv -q
head -300 gold.csv >known.csv
"$DISSENT" synth --items $many --workers 60 --classes 300 --votes-per-item 7 --seed 4 -o many.csv -q # 16-bit labels

# run NAME COMMAND...: the same as with one thread.
run() {
    name=$1
    shift
    for threads in $counts; do
        mkdir "$threads"
        (cd "$threads" && "$DISSENT" "$@" --threads $threads -q) || fail "$name fails with $threads threads"
        diff -r "${counts%% *}" $threads >/dev/null || fail "$name: $threads threads give other bytes than 1: $(diff -rq 1 $threads)"
    done
    rm -rf $counts
}

run "default" labels ../votes.csv --gold ../known.csv -o labels.csv --workers workers.csv --save-state state.safetensors \
    --save-views views --json summary.json
run "other methods" labels ../votes.csv --method majority:ties=random --method one-coin:iterations=15 --method fast-dawid-skene \
    --method ibcc:iterations=15 --method mace:method=em,restarts=3,iterations=15 --method wawa --method crowd --method zero-based-skill --method smoothed \
    --method glad:iterations=10 --combine hybrid -o labels.jsonl --save-views views --json summary.json
run "weights without gold" labels ../votes.csv --method standard --method ibcc:iterations=5 --combine average:weights=auto \
    -o labels.npy --json summary.json
run "many classes" labels ../many.csv --method standard --method dawid-skene:iterations=5 --combine temperature -o labels.tsv \
    --json summary.json
run "synth" synth --items 20000 --model difficulty --shuffle -o votes.csv --gold gold.csv --text text.csv --features features.npy
"$DISSENT" labels votes.csv --method standard --method softmax --method dawid-skene --method mace --save-views views -o labels.csv -q
run "compare" compare --a ../views/mace.csv ../views/softmax.csv --b ../views/standard.csv ../views/dawid-skene.csv --gold ../gold.csv \
    --human ../views/softmax.csv --resamples 300 -o table.csv --json summary.json
run "views" views ../views/mace.csv ../views/softmax.csv ../views/standard.csv --resamples 300 -o table.csv --json summary.json
run "report" report --votes ../votes.csv --gold ../known.csv --resamples 20 -o report.html --json summary.json
run "review" review ../votes.csv --gold ../known.csv --budget 900 -o items.csv --items all.csv --workers workers.csv --json summary.json
"$DISSENT" synth --items $many --workers 12 --classes 300 --votes-per-item 7 --seed 4 -o few.csv -q # seconds each
all=$counts
[ -n "${DISSENT_SANITIZE:-}" ] || counts="1 7"
run "review of many classes" review ../few.csv --method mace:iterations=5 --budget 50 -o items.jsonl --workers workers.csv
counts=$all
run "agreement" agree ../votes.csv --gold ../gold.csv -o agreement.csv --workers workers.csv --items items.csv --classes-table classes.csv \
    --pairs pairs.csv --json summary.json
run "agreement of many classes" agree ../many.csv -o agreement.jsonl --workers workers.csv --pairs pairs.csv --resamples 100 --json summary.json
run "eval" eval ../views/mace.csv ../views/softmax.csv --gold ../gold.csv --human ../views/standard.csv --resamples 50 --ordinal -o table.csv \
    --items items.csv --classes-table classes.csv --json summary.json
run "report" report --votes ../votes.csv --gold ../gold.csv --pred ../labels.csv --human-labels softmax --resamples 20 -o report.html --json summary.json

# Files of many rounds of blocks, which many threads write by mapping them; that stops at a full disk, too.
"$DISSENT" synth --items 150000 --workers 50 --votes-per-item 3 --seed 6 -o long.csv -q
for threads in 1 16; do "$DISSENT" labels long.csv --method majority --threads $threads -o long$threads.csv -q; done
cmp long1.csv long16.csv || fail "long files: 16 threads give other bytes than 1"
code=0
(ulimit -f 4096 && "$DISSENT" labels long.csv --method majority --threads 16 -o labels.csv -q 2>/dev/null) || code=$?
[ $code = 4 ] || fail "a file that may not grow: exit code $code"
