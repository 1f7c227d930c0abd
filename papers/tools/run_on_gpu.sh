#!/bin/sh
# Runs the large experiments on a GPU within a number of seconds, in order of what they tell, and packs their results.
#   GROUP      files                                              data besides those of the others
#   encoders   large-multi-view-rte, -mre, -toxicity, -pos        rte_snow, snli, mre_crowdtruth, causal_claims, ...
#              encoder-chaosnli, encoder-popquorn, why-rte        chaosnli, popquorn
#   tags       large-pos-soft-loss, large-mtl-pos-test,           pos_gimpel, glove_twitter_25d_subset, nltk
#              multi-view-pos, large-mtl-pos, why-inverse-kl,     glove_6B_50d_subset
#              why-mtl-pos
#   images     cifar10h                                           cifar10h
#   stems      large-mtl-stemming, why-stemming-silver            stemming
# A group whose data or encoder is not there is passed over with a word. Each file is run seed by seed, so that all
# conditions have the same seeds whenever time runs out; a run in flight is lost, the rest is kept.
# usage: papers/tools/run_on_gpu.sh SECONDS FOLDER [GROUP...]
#   FOLDER     gets results.tar.gz in pieces of 15 MB, and times.txt; here: cat FOLDER/results.tar.gz.* | tar xz, then
#              dissent experiment merge large.results --store ALL; papers/tools/kept_runs.py . keeps the numbers
# DISSENT: the tool; DISSENT_DATA: the data; DISSENT_ENCODERS: folders of encoders; DEVICE: cuda (or cpu, to try this);
# JOBS: runs side by side; SEEDS: how many at most.
set -u
if [ $# -lt 2 ]; then
    sed -n '2,18s/^# //p' "$0" >&2
    exit 2
fi
end=$(($(date +%s) + $1))
out=$2
shift 2
[ $# -gt 0 ] || set -- encoders tags images stems
source=$(cd "$(dirname "$0")/../.." && pwd)
dissent=${DISSENT:-$source/build/dissent}
data=${DISSENT_DATA:-$source/../shared/data}
device=${DEVICE:-cuda}
jobs=${JOBS:-8}
seeds=${SEEDS:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
: >"$out/times.txt"

left() { echo $((end - $(date +%s))); }

# pack: what there is now, in pieces; label sets are made again where they are needed.
pack() {
    [ -d "$work/large.results" ] || return 0
    rm -f "$out"/results.tar.gz.*
    tar -C "$work" --exclude=cache --exclude=owners -cz large.results | split -b 15M - "$out/results.tar.gz."
}

# part SECONDS FILE SEED [FILTER...]: at most so long, and not beyond the end.
part() {
    most=$1 file=$2 seed=$3
    shift 3
    now=$(left)
    [ "$now" -gt 15 ] || return 0
    [ "$most" -lt $((now - 10)) ] || most=$((now - 10))
    begun=$(date +%s)
    timeout -s INT "$most" "$dissent" experiment run "$source/papers/experiments/$file.yaml" --data "$data" --store "$work/large.results" \
        --device "$device" --jobs "$jobs" --filter "seed=$seed" "$@" >"$work/said" 2>&1
    code=$?
    echo "$file seed $seed $*: $(($(date +%s) - begun)) s, exit $code: $(tail -1 "$work/said")" | tee -a "$out/times.txt"
}

there() {
    for f in "$@"; do
        [ -e "$data/$f" ] || [ -e "${DISSENT_ENCODERS:-/nowhere}/$f" ] || {
            echo "passed over: no $f" | tee -a "$out/times.txt"
            return 1
        }
    done
}

# Seeds are the outer loop: one of everything first.
seed=0
while [ $seed -lt "$seeds" ] && [ "$(left)" -gt 15 ]; do
    for group; do
        case $group in
        tags)
            there pos_gimpel glove_twitter_25d_subset || continue
            part 60 large-pos-soft-loss "$seed"
            part 60 large-mtl-pos-test "$seed"
            there nltk && part 90 multi-view-pos "$seed"
            part 120 large-mtl-pos "$seed"
            part 60 why-inverse-kl "$seed"
            there glove_6B_50d_subset && part 60 why-mtl-pos "$seed"
            ;;
        stems)
            there stemming || continue
            part 120 large-mtl-stemming "$seed"
            part 60 why-stemming-silver "$seed"
            ;;
        images)
            there cifar10h || continue
            part 120 cifar10h "$seed"
            ;;
        encoders)
            if there mpnet; then
                part 120 large-multi-view-rte "$seed"
                part 60 large-multi-view-mre "$seed"
                part 60 large-multi-view-toxicity "$seed"
                part 120 large-multi-view-pos "$seed"
                there chaosnli && part 60 encoder-chaosnli "$seed" --filter encoder=mpnet
                there popquorn && part 60 encoder-popquorn "$seed" --filter encoder=mpnet
                part 60 why-rte "$seed"
            else
                there minilm && part 90 large-multi-view-rte-minilm "$seed"
            fi
            ;;
        *)
            echo "no group \"$group\"; there are tags, stems, images and encoders" >&2
            exit 2
            ;;
        esac
        pack
    done
    seed=$((seed + 1))
done
pack
ls -l "$out"
