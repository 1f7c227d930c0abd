#!/bin/sh
# compute-sanitizer over the tests of the CUDA column, in processes side by side, each with some of the cases:
#
#     cmake --preset cuda -DDIS_CUDA_SEEN=ON && cmake --build build-cuda
#     cmake -S . -B build-plain -DDIS_CUDA=ON -DDIS_CUDA_PLAIN=ON -DDIS_CUDA_SEEN=ON && cmake --build build-plain --target dissent_cuda
#     tests/devices/cuda_sanitizers.sh build-cuda build-plain/libdissent-cuda.so [PROCESSES [FOLDER]]
#
# memcheck runs with cuBLASLt and cuDNN, whose own kernels are left out. racecheck and initcheck run with kernels of our own in their
# place (DIS_CUDA_PLAIN): what is asked is whether ours are right, and initcheck does not see what copies by tensor maps write (a known
# limitation in its release notes), so that whatever reads it would be reported; each case runs once, the large ones in training.
# racecheck looks at the plain products that stand in for the libraries' in the first process of layers alone: they take most of the
# time, and are the same in every net. Of each tool the long processes come first. A line per process as it ends; at the end how many nets and kernels
# each tool saw, and the kernels that no tool saw. FOLDER (by default a new one) keeps the logs.
# LIMIT: seconds for a process, 600 by default. TOOLS: "memcheck racecheck initcheck". END: nothing is begun after so many seconds
# since 1970, and what runs is ended then. ONLY: a pattern of grep for lines of the list, such as "racecheck test_cuda many".
set -eu
one() { # TOOL PROGRAM ARGUMENT...
    tool=$1
    program=$2
    shift 2
    name=$tool.$program.$(echo "$*" | tr ' /' '._')
    begin=$(date +%s)
    limit=${LIMIT:-600}
    if [ -n "${END:-}" ]; then
        [ $((END - begin)) -ge "$limit" ] || limit=$((END - begin))
        [ "$limit" -gt 0 ] || { echo "$tool $program $*: not begun" | tee -a "$FOLDER/ended"; return; }
    fi
    how="--tool $tool --error-exitcode 99 --show-backtrace no --print-limit 20"
    left_out=
    case $name in
    memcheck.*) left_out="nvjet cutlass xmma cublas cudnn" ;;
    racecheck.test_cuda.layers.0_*) ;;
    racecheck.test_cuda.layers.*) left_out=dis__cuda_product_args ;;
    racecheck.*) left_out=plain_kernel ;;
    esac
    [ "$tool" != racecheck ] || how="$how --racecheck-num-workers 1" # as many as there are processors run side by side
    for kernel in $left_out; do how="$how --kernel-name-exclude kernel_substring=$kernel"; done
    [ "$tool" = memcheck ] || export DISSENT_CUDA="$PLAIN"
    status=0
    # shellcheck disable=SC2086 # options are words
    DISSENT_SMALL=1 DISSENT_SEEN="$FOLDER/seen.$name" timeout "$limit" compute-sanitizer $how \
        "$BUILD/tests/$program" "$@" >"$FOLDER/$name.log" 2>&1 || status=$?
    echo "$tool $program $*: exit $status, $(($(date +%s) - begin)) s, $(grep -a SUMMARY "$FOLDER/$name.log" | tail -1 | tr -d =)" |
        tee -a "$FOLDER/ended"
}
# What TOOL saw: nets that ran to their end, kernels that were launched in processes that ended.
saw() { # TOOL
    nets=$(cat "$FOLDER/$1".test_cuda.*.log 2>/dev/null | grep -a "opened in" | grep -c "on cuda" || true)
    kernels=$(cat "$FOLDER/seen.$1".* 2>/dev/null | sed -n 's/^1 //p' | sort -u | grep -c . || true)
    all=$(cat "$FOLDER"/seen.* 2>/dev/null | cut -d' ' -f2 | sort -u | grep -c . || true)
    echo "$1: $(grep -c "^$1 .*exit 0," "$FOLDER/ended" || true) of $(grep -c "^$1 " "$FOLDER/list" || true) processes without findings," \
        "$nets nets, $kernels of $all kernels"
}
if [ "$1" = one ]; then
    shift
    one "$@"
    exit 0
fi
command -v compute-sanitizer >/dev/null || { echo "skipped: compute-sanitizer was not found"; exit 77; }
export BUILD="$1" PLAIN="$2"
n=${3:-$(nproc)}
export FOLDER="${4:-$(mktemp -d)}"
mkdir -p "$FOLDER"
: >"$FOLDER/ended"
tools=${TOOLS:-memcheck racecheck initcheck}
parts() { # TOOL TEST PARTS HOW [NUMBER...]
    tool=$1 name=$2 of=$3 how=$4
    shift 4
    [ $# != 0 ] || set -- $(seq 0 $((of - 1)))
    for i in "$@"; do echo "$tool test_cuda $name $i/$of $how"; done
}
for tool in $tools; do
    much=once
    [ "$tool" != memcheck ] || much=brief
    parts "$tool" layers 20 $much 2 7 4 11 3 9 17 1 8 14 16 18 5 10 13 15 6 0 12 19
    if [ "$tool" = memcheck ]; then
        parts "$tool" many 11 $much
    else # of sizes that take the same ways one runs: 12, 14, 15, 17 and some from 28 on have nothing
        parts "$tool" many 33 $much 30 27 26 25 23 6 3 9 0 21 22 20 18 7 13 5 4 24 19 11 10 8 2 16 1
    fi
    for i in 2 0 1 3 4 5 6 7; do echo "$tool test_em_cuda $i/8"; done
    parts "$tool" steps 51 once 0 11 17 5 45 22 39 34 28 # what the optimiser runs, and what only recorded steps have
    echo "$tool test_cuda by_index 0/1 once"
    echo "$tool test_cuda optimizers 0/1 once"
    echo "$tool test_bootstrap_cuda"
done | grep -e "${ONLY:-.}" >"$FOLDER/list"
xargs -P "$n" -L 1 sh "$0" one <"$FOLDER/list"
for tool in $tools; do saw "$tool"; done
cat "$FOLDER"/seen.* 2>/dev/null | sed -n 's/^1 //p' | sort -u >"$FOLDER/launched"
cat "$FOLDER"/seen.* 2>/dev/null | cut -d' ' -f2 | sort -u | grep -vxFf "$FOLDER/launched" >"$FOLDER/not_launched" || true
bad=$(grep -vc "exit 0," "$FOLDER/ended" || true)
echo "$(grep -c . "$FOLDER/ended") of $(grep -c . "$FOLDER/list") processes, $bad with findings or cut off; $(grep -c . "$FOLDER/not_launched" || true)" \
    "kernels were never launched ($FOLDER/not_launched); logs: $FOLDER"
[ "$bad" = 0 ]
