#!/bin/sh
# Tests of the Python package: run_python_tests.sh BUILD [SANITIZERS] [PYTEST ARGUMENTS]. BUILD/python holds the package; what the
# tests need goes into a virtual environment under build/, once. Exit 77 (skipped) where that cannot be had.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "$1" && pwd)
sanitizers=${2:-}
shift
[ $# -gt 0 ] && shift
# shellcheck source=python/tests/venv.sh
. "$here/venv.sh"

need_module "$build"
venv=${DISSENT_VENV:-$root/build/venv}
make_venv "$venv" "$here/requirements.txt"
case $sanitizers in
'') ;;
*address*)
    LD_PRELOAD=$(cc -print-file-name=libasan.so)
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:${ASAN_OPTIONS:-}
    export LD_PRELOAD ASAN_OPTIONS
    # Types, examples, documents and figures: the same in every build. The extensions of matplotlib end the process under
    # the address sanitizer.
    for name in types examples docs pages plot; do set -- --ignore="$here/test_$name.py" "$@"; done
    ;;
*) skip "the module was built for another sanitizer: $sanitizers" ;;
esac
PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1 exec "$venv/bin/python" -m pytest -q -p no:cacheprovider "$here" "$@"
