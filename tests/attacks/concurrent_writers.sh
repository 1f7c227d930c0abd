#!/bin/sh
# Processes that write the same files at the same time: numbers of workers are never lost or given twice, files that
# belong together come from one writer, a file is that of one writer and complete, nothing temporary stays.
# $DISSENT_ATTACK_SECONDS bounds the time (default 10), $DISSENT_ATTACK_SEED chooses the workers.
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
python3 "$DISSENT_SOURCE/tests/attacks/concurrent_writers.py"
