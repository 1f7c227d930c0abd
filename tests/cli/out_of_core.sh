#!/bin/sh
# --memory is kept, with the bytes of a run that has all memory: every method and combination, every command that reads
# votes or labels, archives, shuffled rows; nothing is left behind by kill -9; a full disk is exit code 4.
set -eu
# shellcheck source=tests/cli/support/scratch.sh
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"
export TMPDIR="$PWD/temporary"
mkdir "$TMPDIR"

limit=32M
"$DISSENT" synth --items 120000 --workers 300 --classes 4 --votes-per-item 5 --seed 3 --gold gold.csv -o grouped.csv -q
"$DISSENT" synth --items 120000 --workers 300 --classes 4 --votes-per-item 5 --seed 3 --shuffle -o shuffled.csv -q
awk -F, -v OFS=, 'NR > 1 { $1 = "a-long-name-of-task-" $1 } 1' shuffled.csv >long.csv
mixed='NR > 1 { n = substr($1, 2); $1 = n substr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN", 1, n * 7 % 35) } 1'
awk -F, -v OFS=, "$mixed" shuffled.csv >mixed.csv # names of 1 to 40 bytes
awk -F, -v OFS=, "$mixed" grouped.csv >mixed_grouped.csv
awk -F, -v OFS=, 'NR > 1 { $1 = "a-long-name-of-task-" $1 } 1' grouped.csv >long_grouped.csv
gzip -1 <shuffled.csv >shuffled.csv.gz
head -3000 gold.csv >known.csv

# run NAME COMMAND...: the same bytes with little memory, which lies in files while it runs. Sanitizers make each run ten
# times as long, and look at what it does to memory: there, little memory alone, and every third run.
memories="0 $limit" n=0 kills="1 2 3 4 5 6"
[ -z "${DISSENT_SANITIZE:-}" ] || { memories=$limit kills="2 4"; }
run() {
    name=$1
    shift
    n=$((n + 1))
    [ -z "${DISSENT_SANITIZE:-}" ] || [ $((n % 3)) = 2 ] || return 0
    for memory in $memories; do
        mkdir "m$memory"
        (cd "m$memory" && "$DISSENT" "$@" --memory "$memory" -q <../grouped.csv) || fail "$name fails with --memory $memory"
    done
    diff -r "m${memories%% *}" m$limit >/dev/null || fail "$name: --memory $limit gives other bytes: $(diff -rq m0 m$limit)"
    rm -rf m0 m$limit
    [ -z "$(ls "$TMPDIR")" ] || fail "$name leaves something in $TMPDIR"
}
run "the default" labels ../grouped.csv --gold ../known.csv -o labels.csv --workers workers.csv --json summary.json
run "shuffled rows" labels ../shuffled.csv --method papers -o labels.csv --save-state state.safetensors
run "long names" labels ../long.csv --method ibcc:iterations=3 -o labels.csv
run "long names, grouped" labels ../long_grouped.csv --method ibcc:iterations=3 -o labels.csv --threads 1
run "names of 1 to 40 bytes" labels ../mixed.csv --method ibcc:iterations=3 -o labels.csv --threads 2
run "names of 1 to 40 bytes, one thread" labels ../mixed.csv --method majority -o labels.csv --threads 1
run "names of 1 to 40 bytes, grouped" labels ../mixed_grouped.csv --method majority -o labels.csv
run "sorted files one after the other" labels ../mixed_grouped.csv ../long_grouped.csv ../grouped.csv --method majority -o labels.csv
run "an archive" labels ../shuffled.csv.gz --method one-coin:iterations=3 -o labels.jsonl
run "standard input" labels - --method softmax -o labels.npy
run "methods" labels ../shuffled.csv --method ebcc:iterations=3 --method fast-dawid-skene --method bwa:iterations=3 \
    --method glad:iterations=3 --method wawa --method zero-based-skill --combine hybrid -o labels.csv --save-views views
run "weights without gold" labels ../grouped.csv --method standard --method ibcc:iterations=3 --combine centroid:weights=auto -o labels.csv
run "agree" agree ../shuffled.csv --gold ../gold.csv --resamples 20 -o agreement.csv --workers workers.csv --json summary.json
run "review" review ../grouped.csv --budget 900 -o items.csv --workers workers.csv
"$DISSENT" labels grouped.csv --method softmax -o softmax.csv -q
"$DISSENT" labels grouped.csv --method majority -o majority.csv -q
run "eval" eval ../softmax.csv ../majority.csv --gold ../gold.csv --resamples 20 -o table.csv --json summary.json
run "compare" compare --a ../softmax.csv --b ../majority.csv --gold ../gold.csv --resamples 20 -o table.csv --json summary.json
run "views" views ../softmax.csv ../majority.csv --resamples 20 -o table.csv

# As many classes as are possible, 100 MB of labels: in little memory. A matrix per worker is 34 GB, and refused.
awk 'BEGIN { print "task,worker,label"; for (i = 0; i < 65535; i++) print "t" i % 200 ",w" i % 7 "," i }' >classes.csv
run "65,535 classes" labels ../classes.csv --allow-many-classes --method majority --duplicates all -o labels.npy
code=0
"$DISSENT" labels classes.csv --allow-many-classes --method dawid-skene --duplicates all --memory $limit -o refused.csv -q 2>message || code=$?
case $code in 4 | 5) ;; *) fail "65,535 classes: exit code $code" ;; esac # the disk, or the memory, is too small
grep -q "GiB" message || fail "no figure: $(cat message)"
awk 'BEGIN { print "task,worker,label"; for (i = 0; i < 65536; i++) print "t" i % 200 ",w" i % 7 "," i }' >classes.csv
code=0
"$DISSENT" labels classes.csv --allow-many-classes --method majority -o refused.csv -q 2>message || code=$?
[ $code = 5 ] && grep -q "more than 65535 different labels" message || fail "65,536 classes: exit code $code, $(cat message)"

# Nothing is left behind, whenever it is killed.
for i in $kills; do
    "$DISSENT" labels shuffled.csv --method papers --memory $limit -o killed.csv -q &
    pid=$!
    sleep "$(awk -v i=$i 'BEGIN { printf "%.2f", i * i * .05 }')"
    kill -9 $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
    [ -z "$(ls "$TMPDIR")" ] || fail "kill -9 leaves something in $TMPDIR"
done
rm -f ./killed.csv*

# A disk that is full, or a folder that is not there: exit 4, and the old labels stay.
echo old >labels.csv
for votes in shuffled.csv long.csv mixed_grouped.csv; do
    code=0
    (ulimit -f 1000 && "$DISSENT" labels $votes --memory $limit -o labels.csv -q 2>message) || code=$?
    [ $code = 4 ] || fail "a file that may not grow: exit code $code"
    grep -q "temporary file in $TMPDIR" message || fail "no word of the folder: $(cat message)"
done
code=0
TMPDIR=/nowhere "$DISSENT" labels shuffled.csv --memory $limit -o labels.csv -q 2>message || code=$?
[ $code = 4 ] || fail "no folder: exit code $code"
grep -q "TMPDIR" message || fail "no advice: $(cat message)"
[ "$(cat labels.csv)" = old ] || fail "the old labels are gone"

# What the process takes, as the system counts it.
[ -z "${DISSENT_SANITIZE:-}" ] || exit 0
command -v python3 >/dev/null || { echo "no python3: memory was not measured"; exit 0; }
for votes in grouped.csv shuffled.csv long_grouped.csv long.csv mixed.csv; do
    most=$(python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' "$DISSENT" labels $votes --method papers --memory 60M -o labels.csv -q)
    echo "$votes: $most MiB with --memory 60M"
    [ "$most" -le 72 ] || fail "--memory 60M takes $most MiB"
done
# measures NAME ARGUMENTS...: the same for a command that measures.
measures() {
    name=$1
    shift
    most=$(python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' "$DISSENT" "$@" --memory 60M -q)
    echo "$name: $most MiB with --memory 60M"
    [ "$most" -le 72 ] || fail "$name: --memory 60M takes $most MiB"
}
measures agree agree shuffled.csv --resamples 20 -o agreement.csv
measures review review grouped.csv --budget 900 -o items.csv
measures eval eval softmax.csv --gold gold.csv --resamples 20 -o table.csv
measures compare compare --a softmax.csv --b majority.csv --gold gold.csv --resamples 20 -o table.csv
