#!/bin/sh
# compute-sanitizer over the tests of the CUDA column, in processes side by side, each with some of the cases:
#
#     cmake --preset cuda -DDIS_CUDA_SEEN=ON && cmake --build build-cuda
#     cmake -S . -B build-plain -DDIS_CUDA=ON -DDIS_CUDA_PLAIN=ON -DDIS_CUDA_SEEN=ON && cmake --build build-plain --target dissent_cuda
#     tests/cuda_sanitizers.sh build-cuda build-plain/libdissent-cuda.so [PROCESSES [FOLDER]]
#
# memcheck runs with cuBLASLt and cuDNN. racecheck and initcheck run with kernels of our own in their place (DIS_CUDA_PLAIN): what is
# asked is whether ours are right, and initcheck does not see what cuBLASLt writes by bulk copies, so that whatever reads a product
# would be reported; each case runs once, in training. A line per process as it ends; at the end how many nets and kernels each tool
# saw, and the kernels that no tool saw. FOLDER (by default a new one) keeps the logs.
# LIMIT: seconds for a process, 600 by default. TOOLS: "memcheck racecheck initcheck". END: nothing is begun after so many seconds
# since 1970, and what runs is ended then.
set -eu
one() { # TOOL PROGRAM ARGUMENT...
    tool=$1
    shift
    name=$tool.$(echo "$*" | tr ' /' '._')
    begin=$(date +%s)
    limit=${LIMIT:-600}
    if [ -n "${END:-}" ]; then
        [ $((END - begin)) -ge "$limit" ] || limit=$((END - begin))
        [ "$limit" -gt 0 ] || { echo "$tool $*: not begun" | tee -a "$FOLDER/ended"; return; }
    fi
    status=0
    [ "$tool" = memcheck ] || export DISSENT_CUDA="$PLAIN"
    program=$1
    shift
    DISSENT_SMALL=1 DISSENT_SEEN="$FOLDER/seen.$name" timeout "$limit" compute-sanitizer --tool "$tool" --error-exitcode 99 \
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
parts() { # TOOL TEST PARTS HOW
    i=0
    while [ $i -lt "$3" ]; do
        echo "$1 test_cuda $2 $i/$3 $4"
        i=$((i + 1))
    done
}
for tool in $tools; do
    much=once
    [ "$tool" != memcheck ] || much=brief
    parts "$tool" layers "$n" $much
    parts "$tool" steps 17 once | sed -n '1p;6p;12p' # what the optimiser runs, and what only recorded steps have
    echo "$tool test_cuda by_index 0/1 once"
    echo "$tool test_cuda optimizers 0/1 once"
    echo "$tool test_em_cuda"
    echo "$tool test_bootstrap_cuda"
    parts "$tool" many 27 $much # half a minute each under racecheck: last
done >"$FOLDER/list"
xargs -P "$n" -L 1 sh "$0" one <"$FOLDER/list"
for tool in $tools; do saw "$tool"; done
cat "$FOLDER"/seen.* 2>/dev/null | sed -n 's/^1 //p' | sort -u >"$FOLDER/launched"
cat "$FOLDER"/seen.* 2>/dev/null | cut -d' ' -f2 | sort -u | grep -vxFf "$FOLDER/launched" >"$FOLDER/not_launched" || true
bad=$(grep -vc "exit 0," "$FOLDER/ended" || true)
echo "$(grep -c . "$FOLDER/ended") of $(grep -c . "$FOLDER/list") processes, $bad with findings or cut off; $(grep -c . "$FOLDER/not_launched" || true)" \
    "kernels were never launched ($FOLDER/not_launched); logs: $FOLDER"
[ "$bad" = 0 ]
