#!/bin/sh
# Encoder and model folders from someone else: FIFOs, devices, huge sizes, names that lead outside, weights that overflow.
set -eu
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
PYTHONPATH="$DISSENT_SOURCE/tests/attacks" python3 "$DISSENT_SOURCE/tests/attacks/hostile_encoders.py"
