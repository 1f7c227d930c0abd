#!/bin/sh
# Runs every shell block of README.md, in order, in one fresh folder: what README shows must work. Blocks marked ```sh are run
# with the tool first in the path, and lines that begin with ./run, make or cmake are left out (they build what is being tested).
# The table of methods must name every method of `dissent list methods`, and no other.
set -eu
source=${DISSENT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
DISSENT=${DISSENT:-$source/build/dissent}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
PATH=$(dirname "$DISSENT"):$PATH
export PATH

awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on && !/^(\.\/run|make|cmake|git|cc) / { print }' "$source/README.md" >"$scratch/blocks.sh"
[ -s "$scratch/blocks.sh" ] || { echo "README.md has no shell blocks"; exit 1; }
mkdir "$scratch/work"
(cd "$scratch/work" && sh -eu "$scratch/blocks.sh") >"$scratch/out" 2>"$scratch/err" </dev/null || {
    echo "a block of README.md failed:"
    cat "$scratch/out" "$scratch/err"
    exit 1
}

dissent list methods | cut -d' ' -f1 | sort >"$scratch/methods"
sed -n 's/^| `\([a-z-]*\)` |.*/\1/p' "$source/README.md" | sort >"$scratch/table"
dissent list combiners | cut -d' ' -f1 | sort >"$scratch/combiners"
sort "$scratch/methods" "$scratch/combiners" | diff - "$scratch/table" || { echo "README's tables of methods and combinations are not those of the tool"; exit 1; }

# The C program that README shows is the one that is built as a test.
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on { print }' "$source/README.md" >"$scratch/labels.c"
diff "$source/examples/labels.c" "$scratch/labels.c" || { echo "README's C program is not examples/labels.c"; exit 1; }
echo "README holds"
