#!/bin/sh
# Faults on the way from votes to labels.
set -eu
# shellcheck source=tests/cli/support/fault_walk.sh
. "$DISSENT_SOURCE/tests/cli/support/fault_walk.sh"

views="views/standard.csv views/softmax.csv views/ibcc.csv views/mace.csv"
walk "labels.csv workers.csv state.safetensors $views" labels ../votes.csv --method standard --method softmax --method ibcc --method mace --gold ../gold.csv -o labels.csv --workers workers.csv \
    --save-state state.safetensors --save-views views --threads 1 -q
walk "labels.jsonl summary.json" labels ../votes.csv.gz --method ibcc --method glad --method one-coin --combine hybrid:weights=auto \
    -o labels.jsonl --json summary.json --threads 2 -q --min-votes 2
walk "labels.npy labels.tasks.txt labels.classes.txt" labels --input counts ../counts.csv -o labels.npy --threads 1 -q
walk "both.tsv" combine ../one.csv ../two.csv --combine temperature -o both.tsv --threads 1 -q
walk "votes.csv gold.csv text.csv features.npy" synth --items 20 --workers 5 --votes-per-item 3 --model spammer -o votes.csv --gold gold.csv \
    --text text.csv --features features.npy --threads 1 -q
