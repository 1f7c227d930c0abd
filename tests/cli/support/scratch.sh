# For scripts, read by `.`: goes to a folder of its own, which is removed in the end; `fail` ends the test with a reason.
# shellcheck shell=sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
cd "$scratch" || exit 1
fail() {
    echo "$*"
    exit 1
}
