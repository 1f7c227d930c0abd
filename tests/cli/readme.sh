#!/bin/sh
# Runs every shell block of README.md, in order, in one fresh folder: what README shows must work, and print what README says. Blocks marked ```sh are run
# with the tool first in the path, and lines that begin with ./run, make or cmake are left out (they build what is being tested).
# The table of methods must name every method of `dissent list methods`, and no other.
set -eu
source=${DISSENT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
DISSENT=${DISSENT:-$source/build/dissent}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
PATH=$(dirname "$DISSENT"):$PATH
export PATH

# One file per block, in order: NNN.sh what to run, NNN.text what README says it prints (both streams together).
mkdir "$scratch/blocks" "$scratch/work"
awk -v folder="$scratch/blocks" '
    /^```sh$/ { n++; file = sprintf("%s/%03d.sh", folder, n); next }
    /^```text$/ && !closed { file = sprintf("%s/%03d.text", folder, n); next }
    /^```/ { if (file) { close(file); closed = file ~ /text$/; file = "" } next }
    file { closed = 0; if (!/^(\.\/run|make|cmake|git|cc) /) print > file }' "$source/README.md"

# Times differ from run to run, the last digits from one instruction set to the next.
plain() {
    sed -E -e 's/, [0-9]+\.[0-9]+ s$/, T s/; s/( (yes|no|-) +)[0-9]+\.[0-9]{3}$/\1T/' -e 's/([0-9]\.[0-9]{6})[0-9]+/\1/g' "$1"
}

experiments=yes
! dissent --version --verbose | grep -Eqi '^(libyaml|sqlite): absent' || experiments=no

shown=0
for block in "$scratch"/blocks/*.sh; do
    [ $experiments = yes ] || ! grep -q '^dissent experiment' "$block" || { echo "a block about experiments is left out: this build has none"; continue; }
    (cd "$scratch/work" && sh -eu "$block") >"$scratch/out" 2>&1 </dev/null || {
        echo "a block of README.md failed:"
        cat "$block" "$scratch/out"
        exit 1
    }
    text=${block%.sh}.text
    [ -e "$text" ] || continue
    plain "$text" >"$scratch/expected"
    plain "$scratch/out" | diff "$scratch/expected" - || { echo "README.md shows something else than this block prints:" && cat "$block" && exit 1; }
    shown=$((shown + 1))
done
[ "$shown" -ge 5 ] || { echo "only $shown blocks of README.md show what they print"; exit 1; }

dissent list methods | sed -n 's/^\([a-z-][a-z-]*\) .*/\1/p' | sort >"$scratch/methods"
sed -n 's/^| `\([a-z-]*\)` |.*/\1/p' "$source/README.md" | sort >"$scratch/table"
dissent list combiners | sed -n 's/^\([a-z-][a-z-]*\) .*/\1/p' | sort >"$scratch/combiners"
dissent list recipes | sed -n 's/^\([a-z-][a-z-]*\) .*/\1/p' | sort >"$scratch/recipes"
sort "$scratch/methods" "$scratch/combiners" "$scratch/recipes" | diff - "$scratch/table" || { echo "README's tables of methods, combinations and recipes are not those of the tool"; exit 1; }

# The C program that README shows is the one that is built as a test.
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on { print }' "$source/README.md" >"$scratch/labels.c"
diff "$source/examples/labels.c" "$scratch/labels.c" || { echo "README's C program is not examples/labels.c"; exit 1; }
echo "README holds"
