#!/bin/sh
# Tokenizers from someone else: steps that make long texts, tokens that take long to find, damaged files.
set -eu
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
PYTHONPATH="$DISSENT_SOURCE/tests/attacks" python3 "$DISSENT_SOURCE/tests/attacks/hostile_tokenizers.py"
