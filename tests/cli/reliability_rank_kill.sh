#!/bin/sh
# A rank that dies (kill -9) in labels or in training: the others are ended within 30 s, which is said, nothing half-made is
# left, and a repeated run gives the bytes of one that nobody has killed; training goes on from its last checkpoint.
set -eu
# shellcheck source=tests/cli/support/ranks.sh
. "$DISSENT_SOURCE/tests/cli/support/ranks.sh"

# killed NAME RANKS WHEN COMMAND...: rank 1 is killed once the shell command WHEN is done
killed() {
    name=$1
    many=$2
    when=$3
    shift 3
    start=$(date +%s)
    # shellcheck disable=SC2016 # for the inner shell
    ranks "$many" sh -c 'when=$1; shift
        if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then "$@" & pid=$!; eval "$when"; kill -9 $pid; wait $pid; else exec "$@"; fi' \
        sh "$when" "$@" 2>message && fail "$name: a dead rank is no failure"
    [ $(($(date +%s) - start)) -lt 45 ] || fail "$name: the others took more than 30 s to stop"
    grep -q "job has been aborted\|exited on signal\|exited with non-zero" message || fail "$name: nothing was said: $(cat message)"
}

"$DISSENT" synth --items 6000 --workers 100 --seed 5 --features features.npy --gold gold.csv -o votes.csv -q
killed "labels" 3 "sleep .8" "$DISSENT" labels votes.csv --method mace:iterations=100000000,tolerance=0 -o labels.csv -q
for left in labels*; do [ ! -e "$left" ] || fail "a rank that died leaves $left"; done
"$DISSENT" labels votes.csv --method mace:iterations=5 -o one.csv -q
ranks 3 "$DISSENT" labels votes.csv --method mace:iterations=5 -o labels.csv -q
cmp one.csv labels.csv || fail "labels: the repeated run gives other bytes"

cut -d, -f1 gold.csv | tail -n +2 >ids
run="--items features.npy --ids ids --labels labels.csv --model mlp:hidden=16 --dev .2 --epochs 10 --batch 64 --threads 1 --seed 5 -q"
# shellcheck disable=SC2086 # options are words
ranks 2 "$DISSENT" train $run -o whole
# shellcheck disable=SC2086,SC2016 # words; for the inner shell
killed "train" 2 'until [ -e killed/checkpoint.safetensors ]; do sleep .01; done' "$DISSENT" train $run -o killed
[ -e killed/checkpoint.safetensors ] || fail "train: no checkpoint is left"
# shellcheck disable=SC2086
ranks 2 "$DISSENT" train $run --resume -o killed
cmp whole/weights-*.safetensors killed/weights-*.safetensors || fail "train: resumed, it gives other bytes"
echo "ranks that die end the others; runs are repeated and resumed"
