#!/bin/sh
# The order of dependencies: a folder of src includes only headers of folders that stand before it in the list below (and its own);
# the command line, the benchmarks (but bench/gpu/*.c, which time single steps) and the examples include public headers alone. docs/development/architecture.md states the same order.
set -eu
source=${DISSENT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$source"
order="core io stats votes tables text tokens items labels agreement evaluate compare review scaled nn report encoder train experiment"
failed=0
for folder in src/*/; do
    folder=${folder#src/}
    folder=${folder%/}
    case " $(echo $order) " in *" $folder "*) ;; *) echo "src/$folder is not in the order of dependencies"; failed=1 ;; esac
done
before=
for folder in $order; do
    before="$before $folder"
    [ -d "src/$folder" ] || { echo "the order of dependencies has $folder, which is no folder of src"; failed=1; continue; }
    for used in $(grep -rhoE '#include "[a-z_0-9]+/' "src/$folder" | sed -E 's/.*"([a-z_0-9]+)\/.*/\1/' | sort -u); do
        case " dissent $before " in *" $used "*) continue ;; esac
        grep -rnE "#include \"$used/" "src/$folder" | sed "s|\$|    ($folder may not include $used)|"
        failed=1
    done
done
if grep -rnE '#include "[a-z_]+/' cli bench examples --include='*.[ch]' | grep -v '^bench/gpu/' | grep -v '"dissent/'; then
    echo "only public headers may be included there"
    failed=1
fi
twice=$(find src cli include tests/unit python/core -name '*.[ch]' | sed 's|.*/||' | sort | uniq -d)
[ -z "$twice" ] || { echo "file names that are there more than once: $twice"; failed=1; }
stated=$(sed -n 's/^Order of dependencies: `\(.*\)`.*/\1/p' docs/development/architecture.md | sed 's/ <- / /g')
[ "$stated" = "$(echo $order)" ] || { echo "docs/development/architecture.md states another order: $stated"; failed=1; }
exit $failed
