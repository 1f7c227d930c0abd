# For scripts, read by `.`: goes to a folder of its own, which is removed in the end; `fail` ends the test with a reason.
# shellcheck shell=sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT # a trap alone would let the script go on, in a folder that is gone
trap 'exit 143' TERM
cd "$scratch" || exit 1
fail() {
    echo "$*"
    exit 1
}
