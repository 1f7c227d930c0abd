#!/bin/sh
# Inputs without end, on the command line and in files that others have written.
set -eu
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
PYTHONPATH="$DISSENT_SOURCE/tests/attacks" python3 "$DISSENT_SOURCE/tests/attacks/endless_inputs.py"
