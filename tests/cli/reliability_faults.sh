#!/bin/sh
# Every allocation and every system call of each command fails once, and every read and write comes up short
# once. Expected: exit 5 or 4 with one sentence (0 for a short count), every output the old or the new file, whole, no temporary
# file. Files of one run are put in place one after the other as they are done: a late failure may leave the first ones new.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
cd "$scratch"
mkdir new now
fail() {
    echo "$*"
    exit 1
}

cat >votes.csv <<'TEXT'
task,worker,label
a,w1,x
a,w2,x
a,w3,y
b,w1,y
b,w2,y
b,w3,y
c,w1,x
c,w2,y
c,w3,z
d,w3,z
TEXT
printf 'task,label\nd,z\n' >gold.csv
printf 'task,label\na,x\nb,y\nc,z\nd,z\n' >gold4.csv
printf 'task,x,y\na,3,1\nb,0,2\n' >counts.csv
"$DISSENT" labels votes.csv --method standard -q -o one.csv
"$DISSENT" labels votes.csv --method softmax -q -o two.csv
gzip -k votes.csv 2>/dev/null || cp votes.csv votes.csv.gz

# walk "OUTPUT..." COMMAND...: the command writes these files in the folder it runs in.
walk() {
    outputs=$1
    shift
    rm -rf new now
    mkdir new now
    (cd new && "$DISSENT" "$@" 2>/dev/null >stdout) || fail "$*: fails without any fault"
    for kind in alloc:5 io:4 short:0; do
        n=0
        while :; do
            n=$((n + 1))
            [ $n -le 2000 ] || fail "$* ${kind%:*}: more than 2000 sites"
            for f in $outputs; do
                mkdir -p "now/$(dirname "$f")"
                echo old >"now/$f"
            done
            status=0
            (cd now && DISSENT_FAULT=${kind%:*}:$n "$DISSENT_FAULTY" "$@" >stdout 2>../err) || status=$?
            left=$(find now -name '*.tmp')
            [ -z "$left" ] || fail "$* ${kind%:*}:$n: left $left"
            if grep -q '^fault not reached$' err; then
                [ $status = 0 ] || fail "$* ${kind%:*}:$n: exit $status without a fault: $(cat err)"
                break
            fi
            [ $status = "${kind#*:}" ] || fail "$* ${kind%:*}:$n: exit $status: $(cat err)"
            if [ $status != 0 ]; then
                [ "$(grep -c '^dissent: ' err)" = 1 ] || fail "$* ${kind%:*}:$n: said $(cat err)"
            fi
            for f in $outputs; do
                if [ "$(head -c 4 "now/$f")" = old ]; then
                    [ $status != 0 ] || fail "$* ${kind%:*}:$n: $f was not written"
                elif ! cmp -s "now/$f" "new/$f"; then
                    fail "$* ${kind%:*}:$n: $f is neither the old nor the new file"
                fi
            done
        done
        echo "$1 ${kind%:*}: $((n - 1)) sites"
    done
}

views="views/standard.csv views/softmax.csv views/dawid-skene.csv views/mace.csv"
walk "labels.csv workers.csv state.safetensors $views" labels ../votes.csv --gold ../gold.csv -o labels.csv --workers workers.csv \
    --save-state state.safetensors --save-views views --threads 1 -q
walk "labels.jsonl summary.json" labels ../votes.csv.gz --method ibcc --method glad --method one-coin --combine hybrid:weights=auto \
    -o labels.jsonl --json summary.json --threads 2 -q --min-votes 2
walk "labels.npy labels.tasks.txt labels.classes.txt" labels --input counts ../counts.csv -o labels.npy --threads 1 -q
walk "both.tsv" combine ../one.csv ../two.csv --combine temperature -o both.tsv --threads 1 -q
walk "votes.csv gold.csv text.csv features.npy" synth --items 20 --workers 5 --votes-per-item 3 --model spammer -o votes.csv --gold gold.csv \
    --text text.csv --features features.npy --threads 1 -q
walk "table.csv summary.json" compare --a ../one.csv ../two.csv --b ../two.csv --gold ../gold4.csv --human ../one.csv --bootstrap 20 -o table.csv \
    --json summary.json --threads 1 -q
walk "table.tsv" compare --hard --a ../gold4.csv --b ../gold4.csv --gold ../gold4.csv --human ../one.csv --bootstrap 0 -o table.tsv --threads 1 -q
walk "table.jsonl summary.json" views ../one.csv ../two.csv --bootstrap 20 -o table.jsonl --json summary.json --threads 2 -q
walk "report.html summary.json" report --votes ../votes.csv --gold ../gold.csv --labels ../one.csv --method standard --method one-coin:iterations=3 --pred ../two.csv --human-labels standard --lenient --bootstrap 5 -o report.html \
    --json summary.json --threads 1 -q
walk "items.csv all.jsonl workers.csv summary.json" review ../votes.csv --gold ../gold.csv --budget 4 -o items.csv --items all.jsonl \
    --workers workers.csv --json summary.json --threads 1 -q
walk "items.tsv" review --input counts ../counts.csv -o items.tsv --threads 2 -q
walk "agreement.csv pairs.csv summary.json" agree ../votes.csv --gold ../gold.csv -o agreement.csv --pairs pairs.csv --json summary.json \
    --bootstrap 20 --least-common 1 --threads 1 -q
walk "table.csv items.csv classes.csv confusion.csv bins.csv summary.json" eval ../one.csv ../two.csv --gold ../gold4.csv --votes ../votes.csv \
    --human-labels standard --bootstrap 5 -o table.csv --items items.csv --classes-table classes.csv --confusion confusion.csv --bins bins.csv \
    --json summary.json --threads 1 -q
