#!/bin/sh
# The tutorial that fine-tunes an encoder: from top to bottom, with the encoder that tools/fetch_encoders.sh has fetched to
# $DISSENT_ENCODERS/minilm or ../shared/encoders/minilm. Skipped where it is missing. Takes about a minute.
set -eu
# shellcheck source=tests/cli/support/documents.sh
. "${DISSENT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/cli/support/documents.sh"
encoders=${DISSENT_ENCODERS:-$source/../shared/encoders}
if [ ! -e "$encoders/minilm/config.json" ]; then
    echo "no encoder in $encoders/minilm (tools/fetch_encoders.sh FOLDER minilm; DISSENT_ENCODERS=FOLDER): skipped"
    exit 77
fi
if ! command -v python3 >/dev/null; then
    echo "python3 is not installed: skipped"
    exit 77
fi
mkdir "$scratch/files"
ln -s "$(cd "$encoders" && pwd)/minilm" "$scratch/files/minilm"
DISSENT_TUTORIAL_FILES=$scratch/files python3 "$source/tools/docs/run_tutorials.py" --check --tool "$DISSENT" \
    "$source/docs/tutorials/train-on-soft-labels.md"
