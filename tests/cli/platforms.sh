#!/bin/sh
# The table of docs/reference/platforms.md has one row per target of tools/wheels/targets.py, in the same order.
set -eu
source=${DISSENT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$source"
expected=$(sed -n 's/^    Target("[^"]*", "[^"]*", "\([^"]*\)".*/\1/p' tools/wheels/targets.py)
stated=$(sed -n '/wheels: begin/,/wheels: end/s/^| [^|]* | `\([^`]*\)` | \(tested\|built\|planned\) |.*/\1/p' docs/reference/platforms.md)
[ -n "$expected" ] || { echo "tools/wheels/targets.py lists no targets"; exit 1; }
[ "$expected" = "$stated" ] || { printf 'docs/reference/platforms.md lists other platforms than tools/wheels/targets.py; run ./run wheels\n%s\n' "$stated"; exit 1; }
