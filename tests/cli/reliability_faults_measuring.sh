#!/bin/sh
# Faults in the commands that measure and show.
set -eu
# shellcheck source=tests/cli/support/fault_walk.sh
. "$DISSENT_SOURCE/tests/cli/support/fault_walk.sh"

walk "table.csv summary.json" compare --a ../one.csv ../two.csv --b ../two.csv --gold ../gold4.csv --human ../one.csv --resamples 20 -o table.csv \
    --json summary.json --threads 1 -q
walk "table.tsv" compare --hard --a ../gold4.csv --b ../gold4.csv --gold ../gold4.csv --human ../one.csv --resamples 0 -o table.tsv --threads 1 -q
walk "table.jsonl summary.json" views ../one.csv ../two.csv --resamples 20 -o table.jsonl --json summary.json --threads 2 -q
walk "report.html summary.json" report --votes ../votes.csv --gold ../gold.csv --labels ../one.csv --method standard --method one-coin:iterations=3 --pred ../two.csv --human-labels standard --lenient --resamples 5 -o report.html \
    --json summary.json --threads 1 -q
walk "items.csv all.jsonl workers.csv summary.json" review ../votes.csv --gold ../gold.csv --budget 4 -o items.csv --items all.jsonl \
    --workers workers.csv --json summary.json --threads 1 -q
walk "items.tsv" review --input counts ../counts.csv -o items.tsv --threads 2 -q
walk "agreement.csv pairs.csv summary.json" agree ../votes.csv --gold ../gold.csv -o agreement.csv --pairs pairs.csv --json summary.json \
    --resamples 20 --min-common 1 --threads 1 -q
walk "table.csv items.csv classes.csv confusion.csv bins.csv summary.json" eval ../one.csv ../two.csv --gold ../gold4.csv --votes ../votes.csv \
    --human-labels standard --resamples 5 -o table.csv --items items.csv --classes-table classes.csv --confusion confusion.csv --bins bins.csv \
    --json summary.json --threads 1 -q
