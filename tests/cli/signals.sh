#!/bin/sh
# Signals: asked to stop, the tool stops soon, says nothing, leaves no temporary file and the old output as it was; a reader that
# has seen enough ends it quietly.
set -eu
# shellcheck source=tests/cli/support/scratch.sh
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"

# Shells start background jobs with SIGINT ignored; TERM and HUP go the same way through the tool.
for signal in TERM:143 HUP:129; do
    echo old >votes.csv
    "$DISSENT" synth --items 4e9 -o votes.csv 2>err &
    pid=$!
    tries=0
    while ! ls votes.csv.*.tmp >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 500 ] || fail "no temporary file after 5 s"
        sleep .01
    done
    kill -"${signal%:*}" $pid
    status=0
    wait $pid || status=$?
    [ $status = "${signal#*:}" ] || fail "SIG${signal%:*}: exit $status"
    [ "$(cat votes.csv)" = old ] || fail "SIG${signal%:*}: the old file is gone"
    ls ./*.tmp >/dev/null 2>&1 && fail "SIG${signal%:*}: a temporary file was left"
    [ ! -s err ] || fail "SIG${signal%:*}: $(cat err)"
done

# SIGINT needs a child whose handler is not ignored from the start.
cat >interrupt.sh <<'TEXT'
"$DISSENT" synth --items 4e9 -o other.csv &
pid=$!
sleep .3
kill -INT $pid
wait $pid
TEXT
status=0
if command -v bash >/dev/null; then
    bash -m interrupt.sh 2>/dev/null || status=$?
    [ $status = 130 ] || fail "SIGINT: exit $status"
    ls other.csv* >/dev/null 2>&1 && fail "SIGINT: something was left: $(ls)"
fi

# Trainings in parallel, and the runs of an experiment: the code of the signal, no message, no temporary file, and what was
# trained so far stays for --resume.
"$DISSENT" synth --items 2000 --seed 1 --gold gold.csv --features features.npy -o crowd.csv -q
"$DISSENT" labels crowd.csv --method softmax -o labels.csv -q
cut -d, -f1 gold.csv | tail -n +2 >ids
cat >long.yaml <<'TEXT'
name: long
data:
  crowd:
    items: {file: features.npy, kind: features, tasks: ids}
    votes: crowd.csv
    gold: gold.csv
split: {by: folds, folds: 3}
cells:
  - {name: soft, labels: softmax, objective: kl, model: "mlp:hidden=256/256", epochs: 100000}
seeds: 4
measure:
  test: [accuracy]
TEXT
# stop_jobs SIGNAL CODE READY COMMAND...: the signal is sent when a file that fits READY is there
stop_jobs() {
    signal=$1 code=$2 ready=$3
    shift 3
    rm -rf model store
    "$@" >out 2>err &
    pid=$!
    tries=0
    while [ -z "$(find . -path "$ready" -print -quit)" ] && [ $tries -lt 500 ]; do
        tries=$((tries + 1))
        sleep .02
    done
    sleep .1
    kill -"$signal" $pid
    status=0
    wait $pid || status=$?
    [ $status = "$code" ] || fail "SIG$signal: exit $status, not $code: $* ($(cat err))"
    [ ! -s out ] && ! grep -v "runs complete, \|the same command continues" err || fail "SIG$signal: $*: $(cat out err)"
    [ -z "$(find . -name '*.tmp')" ] || fail "SIG$signal left $(find . -name '*.tmp'): $*"
    ! kill -0 $pid 2>/dev/null || fail "SIG$signal: a process is left: $*"
}
trained="train --items features.npy --labels labels.csv --ids ids --model mlp:hidden=256/256 --epochs 100000 -q -o model"
for pair in TERM:143 HUP:129; do
    for jobs in 1 2; do
        # shellcheck disable=SC2086 # words of a command
        stop_jobs ${pair%:*} ${pair#*:} './model*' "$DISSENT" $trained --runs 3 --jobs $jobs
        [ $jobs = 1 ] || [ -s model/seed-1/checkpoint.safetensors ] || fail "nothing to resume: $(find model)"
        [ -n "$("$DISSENT" experiment status long.yaml 2>&1 | grep 'this build has no')" ] ||
            stop_jobs ${pair%:*} ${pair#*:} './long.results/owners/*' "$DISSENT" experiment run long.yaml --jobs $jobs
    done
done

"$DISSENT" synth --items 1e6 2>err | head -1 >first
[ "$(cat first)" = task,worker,label ] || fail "the first line is $(cat first)"
grep -v votes err && fail "a closed pipe is no error: $(cat err)"
echo "signals hold"
