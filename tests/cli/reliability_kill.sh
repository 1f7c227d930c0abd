#!/bin/sh
# kill -9 at any time: every output is the old file or the new one, whole. What may be left is a temporary file
# NAME.PID.N.tmp, which nothing reads.
set -eu
# shellcheck source=tests/cli/support/scratch.sh
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"

"$DISSENT" synth --items 20000 --seed 1 -o votes.csv -q
mkdir new
"$DISSENT" labels votes.csv --method ibcc:iterations=3 -o new/labels.csv --workers new/workers.csv -q
old=0
for i in $(seq 1 30); do
    echo old >labels.csv
    echo old >workers.csv
    "$DISSENT" labels votes.csv --method ibcc:iterations=3 -o labels.csv --workers workers.csv -q &
    pid=$!
    # from the start to past the end, in uneven steps; the later ones hit the writing
    sleep "$(awk -v i="$i" 'BEGIN { printf "%.3f", (i * 37 % 31) * .004 }')"
    kill -9 $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
    for f in labels.csv workers.csv; do
        if [ "$(head -c 4 $f)" = old ]; then
            old=$((old + 1))
        else
            cmp -s $f new/$f || fail "$f is neither the old nor the new file"
        fi
    done
    rm -f ./*.tmp
done
echo "60 outputs after 30 kills: $old old, $((60 - old)) new, all whole"

# A report is one file.
"$DISSENT" report --votes votes.csv --method standard --method ibcc:iterations=3 --resamples 5 -o new/report.html -q
old=0
for i in $(seq 1 10); do
    echo old >report.html
    "$DISSENT" report --votes votes.csv --method standard --method ibcc:iterations=3 --resamples 5 -o report.html -q &
    pid=$!
    sleep "$(awk -v i="$i" 'BEGIN { printf "%.3f", (i * 7 % 10) * .12 }')"
    kill -9 $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
    if [ "$(head -c 4 report.html)" = old ]; then
        old=$((old + 1))
    else
        cmp -s report.html new/report.html || fail "report.html is neither the old nor the new file"
    fi
    rm -f ./*.tmp
done
echo "10 reports after 10 kills: $old old, $((10 - old)) new, all whole"
