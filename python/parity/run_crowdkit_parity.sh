#!/bin/sh
# crowdkit_parity.py with the module in BUILD: run_crowdkit_parity.sh BUILD. crowd-kit goes into a virtual environment under build/.
# Exit 77 (skipped) if crowd-kit or the module is not available.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
# shellcheck source=python/tests/venv.sh
. "$here/../tests/venv.sh"
need_module "$build"
venv=$here/../../build/venv-crowdkit
make_venv "$venv" "$here/requirements.txt"
PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1 exec "$venv/bin/python" "$here/crowdkit_parity.py"
