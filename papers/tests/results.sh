#!/bin/sh
# The results page, its comparisons and its figures are those that the kept runs give, and a changed number is found.
set -eu
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
exec python3 "$DISSENT_SOURCE/papers/tests/check_results.py"
