#!/bin/sh
# ./run demo: all its commands succeed, with the tool of this build.
set -eu
[ -z "${DISSENT_SANITIZE:-}" ] || { echo "skipped: the same commands run in other tests under the sanitizers"; exit 77; }
build=$(cd "$(dirname "$DISSENT")" && pwd)
out=$(mktemp)
trap 'rm -f "$out"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
sh "$DISSENT_SOURCE/tools/demo.sh" "$build" >"$out" 2>&1 || {
    tail -n 20 "$out"
    exit 1
}
for file in crowd.html report.html soft.csv; do
    [ -s "$build/demo/$file" ] || { echo "the demo did not write $file"; exit 1; }
done
