# For scripts that run what documents show, read by `.`: the tool first in the path, and $scratch, a folder that is removed in
# the end.
# shellcheck shell=sh
source=${DISSENT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
DISSENT=${DISSENT:-$source/build/dissent}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT # a trap alone would let the script go on, in a folder that is gone
trap 'exit 143' TERM
PATH=$(dirname "$DISSENT"):$PATH
export PATH
# plain FILE: without what differs: times from run to run, the last digits from one instruction set to the next.
plain() {
    sed -E -e 's/, [0-9]+\.[0-9]+ s$/, T s/; s/\([0-9]+\.[0-9]+ s\)$/(T s)/; s/( (yes|no|-) +)[0-9]+\.[0-9]{3}$/\1T/' -e 's/([0-9]\.[0-9]{6})[0-9]+/\1/g' "$1"
}
