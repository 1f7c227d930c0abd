#!/bin/sh
# compute-sanitizer over the tests of the CUDA column, in processes side by side, each with some of the cases:
#
#     cmake --preset cuda && cmake --build build-cuda
#     cmake -S . -B build-plain -DDIS_CUDA=ON -DDIS_CUDA_PLAIN=ON && cmake --build build-plain --target dissent_cuda
#     tests/cuda_sanitizers.sh build-cuda build-plain/libdissent-cuda.so [PROCESSES [FOLDER]]
#
# memcheck runs with cuBLASLt and cuDNN. racecheck and initcheck run with kernels of our own in their place (DIS_CUDA_PLAIN): what is
# asked is whether ours are right, and initcheck does not see what cuBLASLt writes by bulk copies, so that whatever reads a product
# would be reported; each case runs once, in training. A line per process as it ends, and what was found at the end; FOLDER (by default a
# new one) keeps the logs.
# LIMIT: seconds for a process, 600 by default. TOOLS: "memcheck racecheck initcheck".
set -eu
one() { # TOOL PROGRAM ARGUMENT...
    tool=$1
    shift
    log=$FOLDER/$tool.$(echo "$*" | tr ' /' '._')
    begin=$(date +%s)
    status=0
    [ "$tool" = memcheck ] || export DISSENT_CUDA="$PLAIN"
    program=$1
    shift
    DISSENT_SMALL=1 timeout "${LIMIT:-600}" compute-sanitizer --tool "$tool" --error-exitcode 99 "$BUILD/tests/$program" "$@" >"$log" 2>&1 || status=$?
    echo "$tool $program $*: exit $status, $(($(date +%s) - begin)) s, $(grep -a SUMMARY "$log" | tail -1)" | tee -a "$FOLDER/ended"
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
for tool in ${TOOLS:-memcheck racecheck initcheck}; do
    much=once
    [ "$tool" != memcheck ] || much=brief
    for test in layers many; do
        i=0
        while [ $i -lt "$n" ]; do
            echo "$tool test_cuda $test $i/$n $much"
            i=$((i + 1))
        done
    done
    echo "$tool test_em_cuda"
done >"$FOLDER/list"
xargs -P "$n" -L 1 sh "$0" one <"$FOLDER/list"
bad=$(grep -vc "exit 0," "$FOLDER/ended" || true)
echo "$(grep -c . "$FOLDER/ended") of $(grep -c . "$FOLDER/list") processes, $bad with findings; logs: $FOLDER"
[ "$bad" = 0 ]
