#!/bin/sh
# The order of dependencies: a folder of src includes only headers of folders that stand before it in the list below (and its own);
# the subfolders of a folder, at any depth and in cli and python/core too, do not include each other in a circle; the command line, the benchmarks (but bench/gpu/*.c, which time
# single steps) and the examples include public headers alone. docs/development/architecture.md states the same order. No folder
# has more than 25 source files, and every path that docs/development names exists. Only src/core/os, cli/os and plug-ins of Linux (folders
# cuda and mpi) test for an operating system or include headers that some systems lack.
set -eu
source=${DISSENT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$source"
order="core io stats votes tables text tokens items labels agreement evaluate compare review scaled judge study nn report encoder train experiment"
failed=0
circle=$(mktemp)
trap 'rm -f "$circle"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
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
        case " dissent tool $before " in *" $used "*) continue ;; esac
        grep -rnE "#include \"$used/" "src/$folder" | sed "s|\$|    ($folder may not include $used)|"
        failed=1
    done
done
own=$(ls -d cli/*/ | sed 's|cli/\(.*\)/|\1|' | paste -sd'|')
if grep -rnE '#include "[a-z_]+/' bench examples --include='*.[ch]' | grep -v '^bench/gpu/' | grep -vE '"(dissent|tool)/' ||
    grep -rnE '#include "[a-z_]+/' cli --include='*.[ch]' | grep -vE "\"(dissent|tool|$own)/"; then
    echo "only public headers may be included there"
    failed=1
fi
# Subfolders at any depth: tsort fails if they form a circle. Files directly in a folder may include any of its subfolders,
# and be included by them. Paths in includes begin below src, cli or python/core.
for root in src cli python/core; do
    # shellcheck disable=SC2044 # names without spaces
    for parent in $(find "$root" -type d ! -name __pycache__); do
        [ "$parent" = src ] && continue # the order above
        within=${parent#"$root"}
        within=${within#/}
        for sub in "$parent"/*/; do
            [ -d "$sub" ] || continue
            sub=$(basename "$sub")
            grep -rhoE "#include \"${within:+$within/}[a-z_0-9]+/" "$parent/$sub" | sed -E "s|.*[\"/]([a-z_0-9]+)/|\1 $sub|" |
                while read -r used by; do [ "$used" = "$by" ] || [ ! -d "$parent/$used" ] || echo "$used $by"; done
        done | sort -u | tsort >/dev/null 2>"$circle" || { echo "subfolders of $parent include each other: $(tr '\n' ' ' <"$circle")"; failed=1; }
    done
done
max_files=25
# shellcheck disable=SC2044 # names without spaces
for folder in $(find src cli python/core tools bench -type d ! -name __pycache__); do
    n=$(find "$folder" -maxdepth 1 -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.py' -o -name '*.sh' \) | wc -l)
    [ "$n" -le "$max_files" ] || { echo "$folder has $n source files; at most $max_files are allowed: divide it by what belongs together"; failed=1; }
done
twice=$(find src cli include tests/unit python/core -name '*.[ch]' | sed 's|.*/||' | sort | uniq -d)
[ -z "$twice" ] || { echo "file names that are there more than once: $twice"; failed=1; }
if grep -rnE '(^|[^_a-z])(exit|abort) *\(' src cli python/core --include='*.c' --include='*.h' | grep -v '\.abort('; then
    echo "only main() ends the process; return a status"
    failed=1
fi
# What Windows lacks, and what takes paths there in another encoding than UTF-8.
if grep -rnE '(^|[^a-z_0-9"`>.])(stat|lstat|access|mkdir|unlink|rmdir|realpath|readlink|opendir|fdopendir|unlinkat|openat|fchmod|memmem|strsep|pthread_create) ?\([^)]' \
    src --include='*.[ch]' | grep -vE '^src/(core/os|([a-z_]+/)*(cuda|mpi))/|:[ 0-9]*[:/ ]\*|/\*.*(stat|access)\(' ||
    grep -rnE '(^|[^a-z_])(lstat|mkdir|realpath|readlink|fnmatch|open_memstream|fdopendir|memmem|strsep) ?\(' cli --include='*.[ch]' | grep -v '^cli/os/'; then
    echo "call a function of src/core/os/os.h or cli/os/process.h instead"
    failed=1
fi
if grep -rnE '^ *# *(if|elif|ifdef|ifndef).*(__linux__|__linux|__APPLE__|__MACH__|_WIN32|__CYGWIN__|__MINGW|__EMSCRIPTEN__|__wasi__|__unix__|__FreeBSD__|__ANDROID__)' \
    src cli python/core include --include='*.[ch]' | grep -vE '^(src/core|cli)/os/' ||
    grep -rnE '^ *# *include <(sys/(mman|random|file|syscall|resource|prctl)|ftw|dlfcn|sched|poll|windows|mach/.*)\.h>|\b(memrchr|strerror_r|getrandom|getentropy|madvise|mremap|fallocate|posix_memalign) ?\(' \
        src cli python/core --include='*.[ch]' | grep -vE '^(cli/os|src/(core/os|([a-z_]+/)*(cuda|mpi)))/'; then
    echo "only src/core/os asks for the operating system; add a function to src/core/os/os.h"
    failed=1
fi
# Results have the same bytes with every C library; charts and random numbers of synth may differ, and models are not compared.
if grep -rnE '(^|[^_a-z0-9>."`])(exp|log|log1p|expm1|pow)\(' src/agreement src/compare src/evaluate src/judge src/labels src/review src/scaled \
    src/stats src/study src/tables src/votes --include='*.[ch]' | sed 's|/\*.*||' | grep -E '[^_a-z0-9>."`](exp|log|log1p|expm1|pow)\(' |
    grep -vE '^[^:]*:[0-9]+: \*|/cuda/|/mpi/'; then
    echo "call a function of src/core/numbers/elementary.h instead"
    failed=1
fi
stated=$(sed -n 's/^Order of dependencies: `\(.*\)`.*/\1/p' docs/development/architecture.md | sed 's/ <- / /g')
[ "$stated" = "$(echo $order)" ] || { echo "docs/development/architecture.md states another order: $stated"; failed=1; }
for path in $(grep -ohE '(^|[ (`])(src|cli|include|python|tests|tools|bench)/[A-Za-z0-9_/.-]*[A-Za-z0-9_]' docs/development/*.md | sed 's/^[ (`]//' | sort -u); do
    case $path in *NAME* | *FOLDER*) continue ;; esac # the reader fills in the name
    [ -e "$path" ] || { echo "docs/development names $path, which does not exist"; failed=1; }
done
exit $failed
