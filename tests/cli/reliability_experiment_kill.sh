#!/bin/sh
# An experiment killed a hundred times ends in the table, and in the predictions, of one that was left alone; so do two processes
# on one store, which do every run once; an interrupted one says so and goes on. What fails is noted, and tried again when asked to.
set -eu
# shellcheck source=tests/cli/support/scratch.sh
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"

"$DISSENT" synth --items 200 --workers 12 --votes-per-item 5 --seed 3 --gold gold.csv --features features.npy -o votes.csv -q
cut -d, -f1 gold.csv | tail -n +2 >ids
cat >small.yaml <<'TEXT'
name: small
data:
  crowd:
    items: {file: features.npy, kind: features, tasks: ids}
    votes: votes.csv
    gold: gold.csv
split: {by: folds, folds: 3}
dev: .2
human: standard
defaults: {model: "mlp:hidden=64", epochs: 12, baseline: hard}
cells:
  - {name: hard, labels: majority, objective: silver}
  - {name: soft, labels: softmax, objective: kl}
  - {name: views, labels: mace, objective: gold+kl}
seeds: 8
measure:
  test: [accuracy, macro_f1, cross_entropy]
TEXT
if ! "$DISSENT" experiment status small.yaml >there 2>err; then
    grep -q "this build has no" err || fail "status: $(cat err)"
    echo "skipped: $(cat err)"
    exit 77
fi

# All that matters of a store: its table, its predictions, its rows that carry no time.
result() {
    "$DISSENT" experiment table small.yaml --store "$1" --format csv -q
    "$DISSENT" experiment table small.yaml --store "$1" --format text -q
    (cd "$1" && find predictions truth -type f -o -type l | sort && cat predictions/*/*.npy predictions/*/*.txt | cksum)
}
run() {
    "$DISSENT" experiment run small.yaml "$@"
}

run --store whole -q
result whole >expected
[ "$(grep -c '^crowd,' expected)" = 9 ] || fail "the table has other rows: $(cat expected)"

# Killed at uneven times. An experiment that came to its end too early begins anew.
kills=0
rounds=0
i=0
while [ $kills -lt 100 ]; do
    i=$((i + 1))
    [ $i -lt 600 ] || fail "only $kills kills in $i tries"
    "$DISSENT" experiment run small.yaml --store killed -q &
    pid=$!
    sleep "0.0$((2 + i * 7 % 4))"
    kill -9 $pid 2>/dev/null || :
    status=0
    wait $pid 2>/dev/null || status=$?
    case $status in
    137) kills=$((kills + 1)) ;;
    0)
        rounds=$((rounds + 1))
        result killed | cmp - expected || fail "another result after a round of kills"
        rm -rf killed
        ;;
    *) fail "exit $status after a kill" ;;
    esac
done
run --store killed -q
result killed | cmp - expected || fail "another result after $kills kills"
[ -z "$(find killed -name '*.tmp')" ] || fail "temporary files were left: $(find killed -name '*.tmp')"
[ -z "$(ls killed/owners)" ] || fail "owners were left: $(ls killed/owners)"

# Two at once: every run is done by one of them.
run --store shared 2>one &
pid=$!
run --store shared 2>two || fail "the second process: $(cat two)"
wait $pid || fail "the first process: $(cat one)"
now() { sed -n 's/.*complete, \([0-9]*\) of them new.*/\1/p' "$1"; }
[ $(($(now one) + $(now two))) = 72 ] || fail "runs were done twice or not at all: $(cat one two)"
result shared | cmp - expected || fail "another result of two processes"

# Interrupted: 130, what is done is kept. Shells start background jobs with SIGINT ignored, unless they control jobs.
if command -v bash >/dev/null; then
    cat >interrupt.sh <<'TEXT'
"$DISSENT" experiment run small.yaml --store stopped &
pid=$!
sleep .2
kill -INT $pid
wait $pid
TEXT
    status=0
    bash -m interrupt.sh 2>err || status=$?
    if [ $status != 0 ]; then
        [ $status = 130 ] || fail "SIGINT: exit $status: $(cat err)"
        grep -q "the same command continues" err || fail "SIGINT says: $(cat err)"
        [ -z "$(find stopped -name '*.tmp')" ] || fail "SIGINT left temporary files"
    fi
    run --store stopped -q
    result stopped | cmp - expected || fail "another result after SIGINT"
fi

# Many parts of threads, one result.
run --store threads --jobs 7 -q
result threads | cmp - expected || fail "another result of 7 jobs"
echo "$kills kills in $rounds whole rounds and a last one"
