# For scripts, read by `.`: virtual environments of tests, and `skip`, which ends a test with a reason and exit code 77.
# shellcheck shell=sh
skip() {
    echo "skipped: $*"
    exit 77
}

# make_venv FOLDER REQUIREMENTS: a virtual environment with the packages of a file, made once and again if the file changes.
make_venv() {
    wanted=$(cat "$2")
    [ "$(cat "$1/wanted" 2> /dev/null)" != "$wanted" ] || return 0
    rm -rf "$1"
    mkdir -p "$(dirname "$1")"
    python3 -m venv "$1" > /dev/null 2>&1 || skip "python3 -m venv does not work here"
    "$1/bin/pip" install -q --disable-pip-version-check -r "$2" > "$1/pip.log" 2>&1 ||
        skip "pip could not install the packages of $(basename "$(dirname "$2")")/$(basename "$2"): $(tail -n 1 "$1/pip.log")"
    echo "$wanted" > "$1/wanted"
}

# need_module BUILD: the Python module of a build folder.
need_module() {
    [ -e "$1/python/dissent/_core.abi3.so" ] || skip "the Python module was not built (no headers of Python 3.11 or later)"
}
