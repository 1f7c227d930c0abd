#!/bin/sh
# compute-sanitizer over the tests of the CUDA column, in processes side by side, each with some of the cases:
#
#     cmake --preset cuda -DDIS_CUDA_SEEN=ON && cmake --build build-cuda
#     cmake -S . -B build-plain -DDIS_CUDA=ON -DDIS_CUDA_PLAIN=ON -DDIS_CUDA_SEEN=ON && cmake --build build-plain --target dissent_cuda
#     tests/cuda_sanitizers.sh build-cuda build-plain/libdissent-cuda.so [PROCESSES [FOLDER]]
#
# memcheck runs with cuBLASLt and cuDNN, whose own kernels are left out. racecheck and initcheck run with kernels of our own in their
# place (DIS_CUDA_PLAIN): what is asked is whether ours are right, and initcheck does not see what copies by tensor maps write (a known
# limitation in its release notes), so that whatever reads it would be reported; each case runs once, in training. racecheck looks at
# the plain products that stand in for the libraries' in every fifth process of layers alone: they take most of the time, and are the
# same in every net. Of each tool the long processes come first. A line per process as it ends; at the end how many nets and kernels
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
    racecheck.test_cuda.layers.0_* | racecheck.test_cuda.layers.*[05]_*) ;;
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
    echo "$tool test_em_cuda"
    parts "$tool" steps 51 once 0 5 11 17 22 28 34 39 45 # what the optimiser runs, and what only recorded steps have
    parts "$tool" layers 15 $much
    if [ "$tool" = memcheck ]; then
        parts "$tool" many 10 $much
    else # sizes that differ in a few rows run once: 12, 14, 15 and 17 have nothing
        parts "$tool" many 30 $much 29 28 27 3 9 18 20 21 25 26 13 16 5 11 4 10 6 23 0 24 7 8 22 19 2 1
    fi
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
