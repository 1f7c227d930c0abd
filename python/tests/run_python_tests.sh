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
skip() {
    echo "skipped: $*"
    exit 77
}

ls "$build"/python/dissent/_core.abi3.so > /dev/null 2>&1 || skip "the Python module was not built (no headers of Python 3.11 or later)"
venv=${DISSENT_VENV:-$root/build/venv}
wanted=$(cat "$here/requirements.txt")
if [ "$(cat "$venv/wanted" 2> /dev/null)" != "$wanted" ]; then
    rm -rf "$venv"
    mkdir -p "$(dirname "$venv")"
    python3 -m venv "$venv" > /dev/null 2>&1 || skip "python3 -m venv does not work here"
    "$venv/bin/pip" install -q --disable-pip-version-check -r "$here/requirements.txt" > "$venv/pip.log" 2>&1 ||
        skip "pip could not install what the tests need: $(tail -n 1 "$venv/pip.log")"
    echo "$wanted" > "$venv/wanted"
fi
case $sanitizers in
'') ;;
*address*)
    LD_PRELOAD=$(cc -print-file-name=libasan.so)
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:${ASAN_OPTIONS:-}
    export LD_PRELOAD ASAN_OPTIONS
    # types, examples and documents: the same in every build
    set -- --ignore="$here/test_types.py" --ignore="$here/test_examples.py" --ignore="$here/test_docs.py" "$@"
    ;;
*) skip "the module was built for another sanitizer: $sanitizers" ;;
esac
PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1 exec "$venv/bin/python" -m pytest -q -p no:cacheprovider "$here" "$@"
