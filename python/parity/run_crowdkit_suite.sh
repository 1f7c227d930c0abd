#!/bin/sh
# crowd-kit's own tests of its aggregators with the imports swapped to dissent: run_crowdkit_suite.sh BUILD. The tests are not in
# the package on PyPI: they come from DISSENT_CROWDKIT (a checkout of Toloka/crowd-kit) or from git. Exit 77 (skipped) if neither
# is available.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
# shellcheck source=python/tests/venv.sh
. "$here/../tests/venv.sh"
need_module "$build"
venv=$here/../../build/venv-crowdkit
make_venv "$venv" "$here/requirements.txt"
source=${DISSENT_CROWDKIT:-$build/crowd-kit}
if [ ! -d "$source/tests/aggregation" ]; then
    command -v git >/dev/null || skip "the tests of crowd-kit need git, or DISSENT_CROWDKIT=FOLDER"
    GIT_TERMINAL_PROMPT=0 git clone -q --depth 1 https://github.com/Toloka/crowd-kit "$source" 2>/dev/null ||
        skip "the tests of crowd-kit cannot be downloaded; pass a checkout as DISSENT_CROWDKIT=FOLDER"
fi
PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1 exec "$venv/bin/python" "$here/crowdkit_suite.py" "$source" "$build/crowdkit-suite"
