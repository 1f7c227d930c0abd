#!/bin/sh
# README, docs/index.md and docs/start: their commands and Python programs run from top to bottom, in one folder per page with
# a file votes.csv, and print what the page shows. The C program of README is that of examples/.
set -eu
# shellcheck source=tests/cli/support/documents.sh
. "${DISSENT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/cli/support/documents.sh"

awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on { print }' "$source/README.md" |
    diff "$source/examples/default_labels.c" - || { echo "the C program of README.md is not examples/default_labels.c"; exit 1; }

# Python blocks run in the environment of the Python tests, if it has been made.
venv=$(dirname "$DISSENT")/venv/bin/python
[ -n "${DISSENT_PYTHON:-}" ] || [ ! -x "$venv" ] || export DISSENT_PYTHON="$venv"
if ! command -v python3 >/dev/null; then
    echo "python3 is not installed: the commands of README.md and docs/start are not run"
    exit 77
fi
mkdir "$scratch/files"
dissent synth -q --items 300 --classes 2 -o "$scratch/files/votes.csv"
DISSENT_TUTORIAL_FILES=$scratch/files python3 "$source/tools/docs/run_tutorials.py" --check --tool "$DISSENT" \
    "$source/README.md" "$source/docs/index.md" "$source"/docs/start/*.md
echo "README and the first pages hold"
