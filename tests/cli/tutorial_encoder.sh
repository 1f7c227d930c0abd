#!/bin/sh
# The tutorial that fine-tunes an encoder, from top to bottom in an empty folder. With the encoder that tools/fetch_encoders.sh
# has fetched to $DISSENT_ENCODERS/minilm or ../shared/encoders/minilm, outputs must match (about a minute). Without it, a small
# encoder with random weights takes its place, and numbers may differ.
set -eu
# shellcheck source=tests/cli/support/documents.sh
. "${DISSENT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/cli/support/documents.sh"
encoders=${DISSENT_ENCODERS:-$source/../shared/encoders}
if ! command -v python3 >/dev/null; then
    echo "python3 is not installed: skipped"
    exit 77
fi
mkdir "$scratch/files"
any=
if [ -e "$encoders/minilm/config.json" ]; then
    ln -s "$(cd "$encoders" && pwd)/minilm" "$scratch/files/minilm"
else
    any=--any-numbers
    dissent synth --theme reviews --classes 3 --model ambiguous --items 300 --seed 1 --text "$scratch/texts.csv" -q -o /dev/null
    tr -cs '[:alnum:]' '\n' <"$scratch/texts.csv" | tr '[:upper:]' '[:lower:]' | sort -u >"$scratch/words"
    python3 "$source/tests/support/make_encoder.py" "$scratch/files/minilm" "$scratch/words"
fi
DISSENT_TUTORIAL_FILES=$scratch/files python3 "$source/tools/docs/run_tutorials.py" --check ${any:+"$any"} --tool "$DISSENT" \
    "$source/docs/tutorials/train-on-soft-labels.md"
