#!/bin/sh
# The tutorials, the FAQ and the cookbook run from top to bottom in an empty folder and print what they show. The tutorial on
# encoders is run by tutorial_encoder.sh.
set -eu
# shellcheck source=tests/cli/support/documents.sh
. "${DISSENT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/cli/support/documents.sh"
# Python blocks run in the environment of the Python tests, if it has been made.
venv=$(dirname "$DISSENT")/venv/bin/python
[ -n "${DISSENT_PYTHON:-}" ] || [ ! -x "$venv" ] || export DISSENT_PYTHON="$venv"
if ! command -v python3 >/dev/null; then
    echo "python3 is not installed: skipped"
    exit 77
fi
set --
for page in "$source"/docs/tutorials/*.md "$source"/docs/faq.md "$source"/docs/cookbook.md; do
    [ "${page##*/}" = train-on-soft-labels.md ] || set -- "$@" "$page"
done
[ $# -ge 5 ] || { echo "only $# pages"; exit 1; }
python3 "$source/tools/docs/run_tutorials.py" --check --tool "$DISSENT" "$@"
