#!/bin/sh
# Training on a GPU and kill -9: a run that is killed at any time, and resumed as often as it takes, ends with the same bytes as one
# that was left alone, in both precisions. A checkpoint of one device is not resumed on another.
# shellcheck disable=SC2086 # options are words
set -eu
"$DISSENT" list devices cuda:0 >/dev/null 2>&1 || { echo "skipped: no CUDA device: $("$DISSENT" list devices cuda | tail -1)"; exit 77; }
# shellcheck source=tests/cli/support/scratch.sh
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"
numbers() {
    set -- "$1"/weights-*.safetensors
    [ $# = 1 ] || fail "several files of numbers: $*"
    sha256sum <"$1"
}
"$DISSENT" synth --items 3000 --seed 1 --gold gold.csv --features features.npy -o votes.csv -q
"$DISSENT" labels votes.csv --method softmax -o labels.csv -q
cut -d, -f1 gold.csv | tail -n +2 >ids
data="--items features.npy --labels labels.csv --ids ids --model mlp:hidden=32 --dev .2 --epochs 400 --seed 5 -q --device cuda"
all=
for precision in bf16 float32; do
    run="$data --precision $precision"
    "$DISSENT" train $run -o whole.$precision
    begin=$(date +%s%N)
    "$DISSENT" train $run -o timed.$precision
    took=$(($(date +%s%N) - begin))
    [ "$(numbers timed.$precision)" = "$(numbers whole.$precision)" ] || fail "other numbers the second time in $precision"
    kills=0
    status=1
    share=.5
    for i in $(seq 1 12); do
        "$DISSENT" train $run --resume -o killed.$precision &
        pid=$!
        sleep "$(awk -v i="$i" -v t="$took" -v s="$share" 'BEGIN { printf "%.3f", t * 1e-9 * s * (1 + (i * 7 % 5) * .16 + i * .08) }')"
        kill -9 $pid 2>/dev/null || true
        status=0
        wait $pid 2>/dev/null || status=$?
        if [ $status = 0 ]; then
            [ $kills = 0 ] || break
            rm -rf killed.$precision # it was done before: once more, sooner
            share=$(awk -v s="$share" 'BEGIN { print s * .7 }')
            continue
        fi
        [ $status = 137 ] || fail "exit $status after a kill"
        kills=$((kills + 1))
    done
    [ $kills != 0 ] || fail "no run in $precision could be killed before its end"
    [ $status = 0 ] || "$DISSENT" train $run --resume -o killed.$precision
    [ "$(numbers killed.$precision)" = "$(numbers whole.$precision)" ] || fail "other numbers after $kills kills in $precision"
    cmp killed.$precision/model.json whole.$precision/model.json || fail "another model.json after $kills kills in $precision"
    all="$all $kills in $precision"
done
status=0
"$DISSENT" train $data --precision bf16 --resume -o killed.float32 2>err || status=$?
[ $status = 3 ] || fail "a checkpoint of float32 was resumed in bf16: exit $status: $(cat err)"
echo "killed$all: the same bytes"
