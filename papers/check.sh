#!/bin/sh
# The checks of papers/: every script of papers/tests, with the tool that DISSENT names [build/dissent] and the data sets in the folder that
# DISSENT_DATA names [../shared/data]. Exit code 1 if a check failed; a check that cannot run here prints "skipped: reason".
set -eu
DISSENT_SOURCE=$(cd "$(dirname "$0")/.." && pwd)
DISSENT=${DISSENT:-$DISSENT_SOURCE/build/dissent}
export DISSENT DISSENT_SOURCE
failed=0
for test in "$DISSENT_SOURCE"/papers/tests/*.sh; do
    name=papers/tests/$(basename "$test")
    status=0
    sh "$test" || status=$?
    case $status in
    0) echo "$name: pass" ;;
    77) echo "$name: skip" ;;
    *) echo "$name: fail" && failed=1 ;;
    esac
done
exit $failed
