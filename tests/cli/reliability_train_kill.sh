#!/bin/sh
# Training and kill -9: a run that is killed at any time, and resumed as often as it takes, ends with the same bytes as one that was
# left alone. SIGINT leaves a checkpoint; two runs cannot share a folder; a damaged checkpoint, or another run's, is refused.
# shellcheck disable=SC2086 # options are words
set -eu
# shellcheck source=tests/cli/support/scratch.sh
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"
holder=
cleanup() {
    [ -z "$holder" ] || kill -9 "$holder" 2>/dev/null || true
    # shellcheck disable=SC2154 # of scratch.sh
    rm -rf "$scratch"
}
trap cleanup EXIT
# expect STATUS WORDS COMMAND...: it ends so, and says so.
expect() {
    wanted=$1
    words=$2
    shift 2
    status=0
    "$@" >out 2>err || status=$?
    [ $status = "$wanted" ] || fail "exit $status, not $wanted: $* : $(cat err)"
    grep -q "$words" err || fail "not \"$words\": $(cat err)"
}
numbers() {
    set -- "$1"/weights-*.safetensors
    [ $# = 1 ] || fail "several files of numbers: $*"
    sha256sum <"$1"
}
data="--items features.npy --labels labels.csv --ids ids"
run="$data --model mlp:hidden=32 --dev .2 --epochs 40 --seed 5 -q"
export data run
train() { # in the foreground only: behind & the shell itself would be what is killed
    "$DISSENT" train $run "$@"
}

"$DISSENT" synth --items 3000 --seed 1 --gold gold.csv --features features.npy -o votes.csv -q
"$DISSENT" labels votes.csv --method softmax -o labels.csv -q
cut -d, -f1 gold.csv | tail -n +2 >ids

train -o whole
begin=$(date +%s%N)
train -o timed
took=$(($(date +%s%N) - begin))

# Killed at uneven times within a run, five times at least; then ever later, so that it comes to an end, by a fifth each time: on a
# machine that has become busy since, a start alone may take longer than a run took. A run that was too quick for its kill begins
# anew, and what a run takes was less than it seemed.
kills=0
late=0
status=1
for i in $(seq 1 60); do
    "$DISSENT" train $run --resume -o killed &
    pid=$!
    sleep "$(awk -v i="$i" -v t="$took" -v late="$late" 'BEGIN { printf "%.3f", t * 1e-9 * (.15 + (i * 7 % 5) * .12) * 1.2 ^ late }')"
    kill -9 $pid 2>/dev/null || true
    status=0
    wait $pid 2>/dev/null || status=$?
    if [ $status = 0 ]; then
        [ $kills -lt 5 ] || break
        rm -rf killed
        took=$((took * 3 / 4))
        status=1
        continue
    fi
    [ $status = 137 ] || fail "exit $status after a kill"
    kills=$((kills + 1))
    [ $kills -lt 5 ] || late=$((late + 1))
done
[ $status = 0 ] || fail "not done after $kills kills"
[ "$(numbers killed)" = "$(numbers whole)" ] || fail "other numbers after $kills kills"
cmp killed/model.json whole/model.json || fail "another model.json after $kills kills"

# SIGINT: in the middle of an epoch too. Shells start background jobs with it ignored, unless they control jobs.
cat >interrupt.sh <<'TEXT'
"$DISSENT" train $run --resume -o stopped &
pid=$!
sleep "$1"
kill -INT $pid 2>/dev/null
wait $pid
TEXT
if command -v bash >/dev/null; then
    stops=0
    for part in .3 .5 .7; do
        status=0
        bash -m interrupt.sh "$(awk -v p=$part -v t="$took" 'BEGIN { printf "%.3f", t * 1e-9 * p }')" 2>err || status=$?
        case $status in
        0) ;; # done before the signal came
        130)
            stops=$((stops + 1))
            [ -f stopped/checkpoint.safetensors ] || [ ! -f stopped/best.safetensors ] || fail "SIGINT left no checkpoint"
            ls stopped/*.tmp >/dev/null 2>&1 && fail "SIGINT left a temporary file"
            ;;
        *) fail "SIGINT: exit $status: $(cat err)" ;;
        esac
    done
    train --resume -o stopped
    [ "$(numbers stopped)" = "$(numbers whole)" ] || fail "other numbers after $stops interrupts"

    # long epochs: the stop falls within the first, unless it comes before it on a busy machine, which leaves nothing to keep
    cat >early.sh <<'TEXT'
"$DISSENT" train $data --model mlp:hidden=512/512 --batch 8 --epochs 1000 -q -o early &
pid=$!
tries=0
while [ ! -f early/lock ] && [ $tries -lt 1000 ]; do
    sleep .02
    tries=$((tries + 1))
done
sleep "$1"
kill -INT $pid
wait $pid
TEXT
    for delay in .1 .5 2 5; do
        status=0
        rm -rf early
        bash -m early.sh $delay 2>err || status=$?
        [ $status = 130 ] || fail "an early SIGINT: exit $status: $(cat err)"
        [ ! -f early/checkpoint.safetensors ] || break
    done
    [ -f early/checkpoint.safetensors ] || fail "an early SIGINT left no checkpoint: $(ls early)"
fi

# One process per folder.
"$DISSENT" train $data --model mlp:hidden=256/256 --epochs 100000 -q -o busy &
holder=$!
tries=0
while [ ! -f busy/checkpoint.safetensors ]; do
    tries=$((tries + 1))
    [ $tries -lt 5000 ] || fail "no checkpoint after 100 s"
    sleep .02
done
expect 4 "another run is writing to busy" train -o busy
kill -9 "$holder"
wait "$holder" 2>/dev/null || true
holder=
# the lock went with it; what it left belongs to other settings
expect 3 "other settings" train --resume -o busy

# Another run's best epoch beside our checkpoint.
cp -r whole mixed
train -o other --rate .02
cp other/best.safetensors mixed/
expect 3 "other settings" train --resume -o mixed

# Damage: cut anywhere, one bit anywhere.
size=$(wc -c <whole/checkpoint.safetensors)
for file in checkpoint best; do
    for part in 0 7 40 300 60% 99%; do
        rm -rf damaged
        cp -r whole damaged
        case $part in
        *%) at=$((size * ${part%\%} / 100)) ;;
        *) at=$part ;;
        esac
        [ $at -lt "$(wc -c <whole/$file.safetensors)" ] || continue
        head -c $at whole/$file.safetensors >damaged/$file.safetensors
        expect 3 "$file.safetensors" train --resume -o damaged
        byte=$(od -An -tu1 -j$at -N1 whole/$file.safetensors | tr -d ' ')
        cp whole/$file.safetensors damaged/$file.safetensors
        # shellcheck disable=SC2059 # the byte is the format
        printf "\\$(printf %o $((byte ^ 4)))" | dd of=damaged/$file.safetensors bs=1 seek=$at conv=notrunc 2>/dev/null
        expect 3 "$file.safetensors" train --resume -o damaged
    done
done
# Seeds have 64 bits, also those that a double cannot hold.
run=$(echo "$run" | sed "s,--seed 5,--seed 9007199254740993,")
train -o large
"$DISSENT" model large >out
grep -q 9007199254740993 out || fail "the seed did not come back: $(cat out)"
echo "killed $kills times in runs of $((took / 1000000)) ms and stopped: the same bytes; damage and second runs are refused"
