#!/bin/sh
# Stores from someone else: damaged bytes, views, triggers, links and names that lead outside.
set -eu
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
"$DISSENT" --version --verbose | grep -q "SQLite: absent\|libyaml: absent" && echo "skipped: no SQLite or libyaml" && exit 77
PYTHONPATH="$DISSENT_SOURCE/tests/attacks" python3 "$DISSENT_SOURCE/tests/attacks/store_corruption.py"
