#!/bin/sh
# Makes runs of papers/experiments that need a GPU, and keeps their lines.
# usage: papers/tools/run_on_gpu.sh SECONDS FOLDER [STEP...]
#   SECONDS   time limit; a step is skipped if less than half of its expected time is left
#   FOLDER    gets runs.tar.gz (papers/runs with the new lines), store.tar.gz (results.sqlite of the runs) and times.txt
#   STEP      names of the table below [cifar toxicity pos, whose lines are incomplete]
# DISSENT: the tool; DISSENT_DATA: the data sets; DISSENT_ENCODERS: folder of the encoders; DEVICE: cuda, or cpu to try the script;
# JOBS: parallel runs [12]; SEEDS: seeds of the steps rte, mre, toxicity and pos [0..19]; COMMIT: of the tool, for the lines.
# The expected seconds are those of one H200 with all seeds. A run that the time limit interrupts is lost; the others are
# kept, and another call continues.
#
# step        expected  runs  what
# cifar            420    30  CIFAR-10H: the runs whose lines are read from a chart
# why              260   200  POS in five folds: single changes of the released network
# table-3          120   300  released networks of M7 and M8, with their predictions
# cifar-first      210    30  paper's recipe of CIFAR-10H, all metrics, 10 seeds: S18
# popquorn          60    10  POPQUORN with MPNet: E10
# chaosnli         150    60  ChaosNLI with MPNet, 10 seeds: E1 to E3
# rte              360   360  RTE with log-loss without calibration
# toxicity        1000   520  toxicity with log-loss
# pos             1400   520  POS with log-loss
# mre              330   360  MRE without class weights
set -u
if [ $# -lt 2 ]; then
    sed -n '2,24s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
end=$(($(date +%s) + $1))
out=$2
shift 2
[ $# -gt 0 ] || set -- cifar toxicity pos
source=$(cd "$(dirname "$0")/../.." && pwd)
dissent=${DISSENT:-$source/build/dissent}
data=${DISSENT_DATA:-$source/../shared/data}
device=${DEVICE:-cuda}
jobs=${JOBS:-12}
seeds=${SEEDS:-0..19}
store=${STORE:-$out/stores/gpu.results}
mkdir -p "$out" "$(dirname "$store")"

# run NAME EXPECTED JOBS FILE [FILTER...]
run() {
    name=$1 expected=$2 parallel=$3 file=$4
    shift 4
    left=$((end - $(date +%s) - 15))
    if [ "$left" -lt $((expected / 2)) ]; then
        echo "$name: skipped, $left s left of $expected s" | tee -a "$out/times.txt"
        return 0
    fi
    begun=$(date +%s)
    timeout -s INT "$left" "$dissent" experiment run "$source/papers/experiments/$file.yaml" --data "$data" --store "$store" \
        --device "$device" --jobs "$parallel" "$@" >"$out/log.txt" 2>&1
    code=$?
    echo "$name: $(($(date +%s) - begun)) s of $expected s, exit $code: $(tail -n 1 "$out/log.txt")" | tee -a "$out/times.txt"
}

for step; do
    case $step in
    cifar)
        run cifar-softmax 80 4 cifar10h --filter "soft, softmax" --filter model=resnet --filter seed=0..9
        run cifar-later 340 4 cifar10h --filter "later recipe" --filter seed=0..4
        ;;
    why) run why 260 "$jobs" why-mtl-pos-released ;;
    table-3)
        run table-3-pos 60 "$jobs" large-mtl-pos-released --filter objective=gold --filter objective=gold+ce
        run table-3-stemming 60 "$jobs" large-mtl-stemming-released --filter objective=gold --filter objective=gold+inverse-kl
        ;;
    popquorn) run popquorn 60 "$jobs" encoder-popquorn --filter encoder=mpnet ;;
    chaosnli) run chaosnli 150 "$jobs" encoder-chaosnli --filter encoder=mpnet --filter seed=0..9 ;;
    cifar-first)
        for cell in "soft, standard" majority gold; do
            run "cifar-first, $cell" 70 "$jobs" cifar10h --filter "$cell" --filter model=resnet --filter seed=0..9
        done
        ;;
    rte) run rte 360 "$jobs" large-multi-view-rte --filter "seed=$seeds" ;;
    toxicity) run toxicity 1000 "$jobs" large-multi-view-toxicity --filter "seed=$seeds" ;;
    pos) run pos 1400 "$jobs" large-multi-view-pos --filter "seed=$seeds" ;;
    mre) run mre 330 "$jobs" large-multi-view-mre --filter "seed=$seeds" ;;
    *)
        echo "no step \"$step\"" >&2
        exit 2
        ;;
    esac
done
name=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)
python3 "$source/papers/tools/kept_runs.py" "$(dirname "$store")" "${COMMIT:-unknown}" "${name:-CPU}" || echo "lines not kept; use store.tar.gz"
tar -C "$source/papers" -czf "$out/runs.tar.gz" runs
tar -C "$(dirname "$store")" --exclude=predictions --exclude=cache --exclude=owners --exclude=truth -czf "$out/store.tar.gz" .
ls -l "$out"
