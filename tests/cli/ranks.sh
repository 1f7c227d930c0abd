#!/bin/sh
# Ranks: mpirun -n 1 to 4 gives the bytes of one process; what cannot be shared out is refused in one sentence; without
# the plug-in nothing is done N times.
set -eu
# shellcheck source=tests/cli/support/ranks.sh
. "$DISSENT_SOURCE/tests/cli/support/ranks.sh"

"$DISSENT" synth --items 20000 --workers 50 --seed 3 -o grouped.csv -q
"$DISSENT" synth --items 20000 --workers 50 --seed 3 --shuffle -o shuffled.csv -q
"$DISSENT" synth --items 30 --workers 5 --seed 4 -o small.csv -q # too small to share: one rank owns it all
# ids with quotes, commas and newlines, over several files, cut anywhere
awk -F, 'NR == 1 { print; next } { printf "\"%s, \"\"the\nitem\"\"\",%s,%s\n", $1, $2, $3 }' shuffled.csv >quoted.csv
head -40001 grouped.csv >part1.csv
{
    head -1 grouped.csv
    tail -n +40002 grouped.csv
} >part2.csv
gzip -k part2.csv

# same NAME RANKS ARGUMENTS...: the same bytes as in one process.
same() {
    name=$1
    counts=$2
    shift 2
    "$DISSENT" labels "$@" --threads 1 -q -o one.csv
    for n in $counts; do
        ranks "$n" "$DISSENT" labels "$@" --threads 2 -q -o ranks.csv || fail "$name fails on $n ranks"
        cmp one.csv ranks.csv || fail "$name: $n ranks give other bytes"
    done
}
same "the default" "1 2 3 4" shuffled.csv
same "papers" "2 4" grouped.csv --method papers
same "files" "3" part1.csv part2.csv.gz --method ibcc
same "quotes" "2 3" quoted.csv --method one-coin:iterations=5
same "small" "4" small.csv --method dawid-skene
printf 'task,worker,label\na,1,x\na,2,x\na,3,y\na,4,y\na,5,x\nb,1,x\n' >two.csv # an item that lies on three ranks
same "two items" "4" two.csv --method standard
same "methods" "3" grouped.csv --method fast-dawid-skene --method mace:method=em,prior=estimate,restarts=2 --method majority --combine average
same "weighted votes" "3" shuffled.csv --method wawa --method zero-based-skill --combine average
same "kinds of items" "3" grouped.csv --method ebcc:iterations=4,restarts=2,groups=3
same "next vote" "2 3" shuffled.csv --method smoothed
same "declared classes" "3" shuffled.csv --method dawid-skene:iterations=3 --method softmax --combine calibrated --classes 3,2,1,0,nobody

# standard output and other files, in order
"$DISSENT" labels grouped.csv --method papers -q --format jsonl >one.jsonl
ranks 3 "$DISSENT" labels grouped.csv --method papers -q --format jsonl --save-views views >ranks.jsonl
cmp one.jsonl ranks.jsonl || fail "standard output is in another order"
[ "$(wc -l <views/softmax.jsonl)" = 20000 ] || fail "a view is not whole"

# agreement: patterns and pairs of votes of all ranks, added up; with tables of items and workers each holds all votes
"$DISSENT" agree shuffled.csv --resamples 50 --classes-table one.csv --pairs one-pairs.csv --scale ordinal --json one.json -q -o one.tsv
for n in 2 3; do
    ranks $n "$DISSENT" agree shuffled.csv --resamples 50 --classes-table ranks.csv --pairs pairs.csv --scale ordinal --json ranks.json -q -o ranks.tsv
    cmp one.tsv ranks.tsv && cmp one.csv ranks.csv && cmp one-pairs.csv pairs.csv && cmp one.json ranks.json ||
        fail "agree: $n ranks give other bytes"
done
same_output "agree, few items and many pairs" 3 agree small.csv --min-common 1 --resamples 20
same_output "agree with tables" 2 agree small.csv --min-common 1 --resamples 20 --workers workers.csv --items items.csv

# training: the same bytes for a number of ranks, whatever the threads; near those of one process; what was killed goes on
"$DISSENT" synth --items 600 --workers 20 --gold gold.csv --text texts.csv --seed 6 -o train.csv -q
"$DISSENT" labels train.csv -o soft.csv -q
train() {
    n=$1
    shift
    ranks "$n" "$DISSENT" train --model text:width=8 --items texts.csv --labels soft.csv --gold gold.csv --dev .2 --epochs 3 --batch 32 -q "$@"
}
train 1 -o alone --curves alone.csv
train 2 -o two --threads 1 --curves two.csv
train 2 -o again --threads 2
train 3 -o three --threads 1
cmp two/weights-*.safetensors again/weights-*.safetensors || fail "training: 2 ranks give other bytes on 2 threads"
cmp -s two/weights-*.safetensors alone/weights-*.safetensors && fail "training: nothing was shared out"
awk -F, 'NR == FNR { loss[FNR] = $3; next } FNR > 1 && (d = $3 - loss[FNR]) * d > 1e-4 { exit 1 }' alone.csv two.csv ||
    fail "training: the losses of 2 ranks are not those of one process"
train 2 -o two --resume --threads 1 # done already: nothing changes
cmp two/weights-*.safetensors again/weights-*.safetensors || fail "training: resumed, it gives other bytes"

# votes: all of them on every rank
votes() {
    folder=$1
    shift
    "$@" "$DISSENT" train --model text:width=8,dropout=0 --items texts.csv --votes train.csv --gold gold.csv --objective crowd:mw --dev .2 --epochs 2 \
        --batch 32 -q --threads 1 -o "$folder" --curves "$folder.csv"
}
votes votes1 env
votes votes2 ranks 2
awk -F, 'NR == FNR { loss[FNR] = $3; next } FNR > 1 && (d = $3 - loss[FNR]) * d > 1e-4 { exit 1 }' votes1.csv votes2.csv ||
    fail "training on votes: the losses of 2 ranks are not those of one process"

# several models: each rank trains some of them as a whole, the files are those of one process
several() {
    "$@" "$DISSENT" train --model text:width=8 --items texts.csv --labels soft.csv --gold gold.csv --dev .2 --epochs 2 --batch 64 -q --threads 1 \
        --runs 3 --folds 3 --out-of-fold predictions.csv -o models --curves curves.csv --json models.json
}
several env
mkdir one && mv models predictions.csv curves.csv models.json one
several ranks 2
for file in predictions.csv curves.csv models.json; do cmp "one/$file" $file || fail "several models on ranks: another $file"; done
for seed in 0 1 2; do
    cmp one/models/seed-$seed/weights-*.safetensors models/seed-$seed/weights-*.safetensors || fail "several models on ranks: other weights"
done
rm -r one models

# what cannot be shared out is refused, exit code 2, said once
refused "no plug-in" "cannot be loaded" env DISSENT_MPI=/nowhere/libdissent-mpi.so "$DISSENT" labels grouped.csv -o refused.csv -q
# the first rank has the message, also when it is the last to fail
refused "late first rank" "cannot be loaded" sh -c '[ "$OMPI_COMM_WORLD_RANK" != 0 ] || sleep .5; exec "$@"' sh \
    env DISSENT_MPI=/nowhere/libdissent-mpi.so "$DISSENT" labels grouped.csv -o refused.csv -q
[ ! -e refused.csv ] || fail "something was written"

# bad data: the place, from whichever rank has it, the first one if there are several
awk -F, 'NR == 60000 || NR == 90000 { $0 = "a,b" } 1' grouped.csv >bad.csv
code=0
ranks 4 "$DISSENT" labels bad.csv --method ibcc -o refused.csv -q 2>message || code=$?
[ $code = 3 ] || fail "bad data: exit code $code"
grep -q "bad.csv:60000:" message || fail "bad data: $(cat message)"
grep -q "bad.csv:90000:" message && fail "bad data twice"

# a disk that is full for one rank: exit code 4, said once, nothing left behind
code=0
# shellcheck disable=SC2016 # for the inner shell
ranks 3 sh -c '[ "$OMPI_COMM_WORLD_RANK" != 1 ] || ulimit -f 400; exec "$@"' sh "$DISSENT" labels grouped.csv --method softmax -q -o full.csv \
    2>message || code=$?
[ $code = 4 ] && [ "$(grep -c "cannot write full.csv" message)" = 1 ] || fail "a full disk: exit code $code, $(cat message)"
for left in full*; do [ ! -e "$left" ] || fail "a full disk leaves $left"; done

# ranks that were started with other options, or that read other votes: all end before any work, with one sentence
cat >apart.sh <<'TEXT'
[ "$OMPI_COMM_WORLD_RANK" = 1 ] && shift
exec "$DISSENT" $1
TEXT
# apart CODE TEXT FIRST SECOND: command lines of rank 0 and rank 1
apart() {
    code=0
    ranks 2 sh apart.sh "$3" "$4" 2>message || code=$?
    [ $code = "$1" ] || fail "$3 and $4: exit code $code, not $1: $(cat message)"
    [ "$(grep -c "the ranks differ: $2" message)" = 1 ] || fail "$3 and $4: $(cat message)"
}
apart 2 "rank 0 has --method majority, rank 1 has --method dawid-skene; give all ranks the same options" \
    "labels small.csv --method majority -o apart.csv" "labels small.csv --method dawid-skene -o apart.csv"
apart 2 "rank 0 has no --gold, rank 1 has --gold gold.csv" "labels small.csv -o apart.csv" "labels small.csv -o apart.csv --gold gold.csv"
apart 2 "rank 0 has --seed 1, rank 1 has --seed 2" "agree small.csv --seed 1" "agree small.csv --seed 2"
apart 2 "rank 0 has --scale nominal, rank 1 has --scale ordinal" "agree small.csv" "agree small.csv --ordinal"
apart 2 "rank 0 runs dissent [0-9.]* labels, rank 1 dissent [0-9.]* agree" "labels small.csv -o apart.csv" "agree small.csv"
apart 3 "rank 0 reads small.csv, rank 1 reads two.csv with other contents; give all ranks the same files" \
    "labels small.csv -o apart.csv" "labels two.csv -o apart.csv"
apart 3 "rank 0 reads --gold gold.csv, rank 1 reads --gold texts.csv" "eval one.csv --gold gold.csv" "eval one.csv --gold texts.csv"
[ ! -e apart.csv ] || fail "ranks that differ have written labels"
ranks 2 sh apart.sh "labels small.csv -q -o apart.csv --threads 1" "labels ./small.csv -o apart.csv --threads 2" ||
    fail "another name of the same file, other threads: $?"
echo "1 to 4 ranks give the bytes of one process"
