#!/bin/sh
# What people do with a GPU, file to file: the same bytes twice, the processor's numbers within bounds, and exit codes with nothing
# written. DEVICE=cpu tries the script itself where there is none.
set -eu
device=${DEVICE:-cuda}
[ "$device" = cpu ] || "$DISSENT" list devices cuda:0 >/dev/null 2>&1 || {
    echo "skipped: no CUDA device: $("$DISSENT" list devices cuda | tail -1)"
    exit 77
}
# shellcheck source=tests/cli/support/scratch.sh
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"
# near A B BOUND: the probabilities of two tables are that close, and a tenth of it in the mean. Not their labels: these turn where
# two classes are nearly equal.
near() {
    paste -d, "$1" "$2" | awk -F, -v bound="$3" -v names="$1 and $2" '
        NR == 1 { n = NF / 2; for (i = 1; i <= n; i++) if ($i ~ /^p:/) column[i] = 1; next }
        { for (i in column) { d = $i - $(i + n); d = d < 0 ? -d : d; if (d > worst) worst = d; sum += d; count++ } }
        END {
            mean = count ? sum / count : 0
            printf "%s: %d probabilities, at most %.2g apart, %.2g in the mean\n", names, count, worst, mean
            exit !(count && worst <= bound && mean <= bound / 10)
        }' || fail "$1 and $2 are more than $3 apart, or a tenth of it in the mean"
}
refused() { # CODE WORDS COMMAND...
    code=$1 words=$2
    shift 2
    status=0
    "$DISSENT" "$@" -q 2>err || status=$?
    [ $status = "$code" ] || fail "exit $status instead of $code: $* ($(cat err))"
    grep -q "$words" err || fail "no word of '$words': $(cat err)"
}

"$DISSENT" synth --items 2000 --seed 1 --gold gold.csv --features features.npy -o votes.csv -q
cut -d, -f1 gold.csv | tail -n +2 >ids
for method in dawid-skene ebcc mace; do
    "$DISSENT" labels votes.csv --method $method -o here.csv -q
    for i in one two; do "$DISSENT" labels votes.csv --method $method --device "$device" -o $i.csv -q; done
    cmp one.csv two.csv || fail "$method: other bytes the second time"
    near one.csv here.csv 1e-10
done
"$DISSENT" labels votes.csv --method softmax -o labels.csv -q

# Training: with a clipped norm where one layer has nearly all parameters, with votes, in both precisions.
data="--items features.npy --ids ids --labels labels.csv --seed 3 -q"
for optimizer in sgd:clip=.01,momentum=.9 adamw:clip=.01,epsilon=.001; do
    # shellcheck disable=SC2086 # options are words
    for run in "here cpu float32" "there $device float32" "rough $device bf16"; do
        set -- $run
        [ "$2 $3" != "cpu bf16" ] || continue
        rm -rf "$1"
        "$DISSENT" train $data --model mlp:hidden=1024,dropout=0 --epochs 2 --rate .02 --optimizer $optimizer --device "$2" \
            --precision "$3" -o "$1"
        "$DISSENT" predict "$1" --items features.npy --ids ids --device "$2" --precision "$3" -o "$1.csv" -q
    done
    near there.csv here.csv 1e-4
    [ "$device" = cpu ] || near rough.csv here.csv .1
done
for objective in crowd:mw annot-mix:alpha=.2; do
    for i in one two; do
        rm -rf $i
        # shellcheck disable=SC2086 # options are words
        "$DISSENT" train $data --votes votes.csv --objective $objective --model mlp:hidden=32 --epochs 2 --device "$device" -o $i
        "$DISSENT" predict $i --items features.npy --ids ids --device "$device" -o $i.csv -q
    done
    cmp one.csv two.csv || fail "$objective: other bytes the second time"
done

# Texts.
encoder=$DISSENT_SOURCE/tests/parity/fixtures/encoders/bert_vocabulary
awk -F, 'NR == 1 { print "task,text"; next } { print $1 ",the item " $1 " is of class " $2 }' gold.csv | head -301 >texts.csv
head -301 labels.csv >few.csv
for i in one two; do
    rm -rf $i
    "$DISSENT" embed --encoder "$encoder" --items texts.csv --device "$device" -o $i.npy -q
    "$DISSENT" train --items texts.csv --labels few.csv --model encoder --encoder "$encoder" --epochs 2 --device "$device" -o $i -q
    "$DISSENT" predict $i --items texts.csv --device "$device" -o $i.csv -q
done
cmp one.npy two.npy || fail "embed: other bytes the second time"
cmp one.csv two.csv || fail "encoder: other bytes the second time"
"$DISSENT" predict one --items texts.csv --device cpu --precision float32 -o here.csv -q
near one.csv here.csv .03

# Experiments: several runs side by side, and one at a time.
cat >plan.yaml <<Y
name: user
data:
  a: {items: {file: features.npy, kind: features, tasks: ids}, votes: votes.csv, gold: gold.csv, human: softmax, split: {by: hold-out, size: 400}}
labels: {softmax: softmax}
seeds: 3
defaults: {model: "mlp:hidden=32", epochs: 2}
cells:
  - {name: "{objective}", labels: softmax, objective: [kl, gold+kl, "crowd:mw"]}
measure: {test: [accuracy, cross_entropy]}
Y
for jobs in 1 4; do
    "$DISSENT" experiment run plan.yaml --store $jobs --device "$device" --jobs $jobs -q
    "$DISSENT" experiment table plan.yaml --store $jobs --device "$device" -o $jobs.csv -q
done
cmp 1.csv 4.csv || fail "experiment: other tables one run at a time"

# What is refused, with nothing written.
# shellcheck disable=SC2086 # options are words
{
    [ "$device" = cpu ] || refused 2 "there is no device cuda:15" train $data --model mlp --device cuda:15 -o no
    refused 2 abacus train $data --model mlp --device abacus -o no
    DISSENT_CUDA=/nowhere/lib.so refused 4 "cannot open" train $data --model mlp --device cuda -o no
    awk 'BEGIN { print "task,worker,label"; for (i = 1; i <= 2000; i++) print i ",a," i "\n" i ",b," i + 2000 "\n" i ",c," i + 4000 }' >many.csv
    seq 2000 >many_ids
    [ "$device" = cpu ] || refused 5 "a crowd layer of more than 4915 classes; --device cpu" train --items features.npy --ids many_ids \
        --votes many.csv --allow-many-classes --objective crowd:vw --model mlp --epochs 1 --device cuda -o no
    [ "$device" = cpu ] || refused 5 "of the memory of device cuda" train $data --model mlp:hidden=65536/65536/65536/65536 --device cuda -o no
}
[ ! -e no ] || [ "$(ls no)" = lock ] || fail "something was written: $(ls no)"
