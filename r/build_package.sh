#!/bin/sh
# r/build_package.sh BUILD: the source package BUILD/r/dissent_VERSION.tar.gz, with the C sources that the R functions need.
#
# The sources are those that the linker takes from BUILD/libdissent.a for the glue in r/src. The package then contains the files,
# every header that they include, and a rule per file in src/Makevars.in. Nothing of it is committed. Optional libraries are not used.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
package=$build/r/dissent
version=$(sed -n 's/^#define DIS_VERSION "\(.*\)"$/\1/p' include/dissent/version.h)
rm -rf "$package"
mkdir -p "$package/src/dissent"
cp -R r/DESCRIPTION r/NAMESPACE r/R r/man r/vignettes r/tests r/configure r/cleanup LICENSE "$package"
rm "$package/LICENSE" # DESCRIPTION names the licence
cp r/src/*.c r/src/*.h "$package/src"
sed -i "/^Title:/a Version: $version" "$package/DESCRIPTION"

# shellcheck disable=SC2046 # flags are words
cc -fPIC -shared -w -Iinclude $(R CMD config --cppflags) r/src/*.c "$build/libdissent.a" -Wl,-Map="$build/r/map" -o "$build/r/probe.so"
sed -n 's/^[^ ]*libdissent\.a(\([A-Za-z0-9_]*\)\.c\.o).*/\1/p' "$build/r/map" | sort -u >"$build/r/members"
[ -s "$build/r/members" ] || { echo "the map of the linker names no files" >&2; exit 1; }
find src -name '*.c' ! -path '*/cuda/*' ! -path '*/mpi/*' >"$build/r/all_sources"
while read -r member; do
    grep "/$member\.c$" "$build/r/all_sources" || { echo "no source of $member" >&2; exit 1; }
done <"$build/r/members" >"$build/r/members_sources"
# Files of src/core/os: two for every system with POSIX, and those that configure selects.
{ grep -v '^src/core/os/' "$build/r/members_sources"; echo src/core/os/posix.c; echo src/core/os/thread.c; } | sort -u >"$build/r/sources"
systems="linux macos generic posix_generic"
while read -r source; do
    for isa in baseline avx512; do # some headers are for one instruction set
        cc -MM -Iinclude -Isrc -D_GNU_SOURCE -DDIS_BUILDING -DDIS_FAULT_SOURCE -DDIS_ISA=$isa "-DDIS_ISA_$isa" "$source"
    done
done <"$build/r/members_sources" | tr ' \\' '\n\n' | grep '\.h$' | sort -u >"$build/r/headers"
find include/dissent -name '*.h' >>"$build/r/headers"
{ cat "$build/r/sources" "$build/r/headers"; for system in $systems; do echo "src/core/os/$system.c"; done; } | sort -u | tar cf - -T - | tar xf - -C "$package/src/dissent"

# rule OBJECT SOURCE DEFINES FLAGS
objects=""
kernels=""
{
    cat r/src/Makevars.in
    rule() { printf '\ndissent/%s: dissent/%s\n\t$(CC) $(ALL_CPPFLAGS) %s $(ALL_CFLAGS) %s -c dissent/%s -o dissent/%s\n' "$1" "$2" "$3" "$4" "$2" "$1"; }
    while read -r source; do
        name=${source%.c}
        case $source in
        *_kernel.c)
            rule "$name.o" "$source" "-DDIS_ISA=baseline -DDIS_ISA_baseline" "@CONTRACT@"
            for isa in avx2 avx512; do
                rule "${name}_$isa.o" "$source" "-DDIS_ISA=$isa -DDIS_ISA_$isa" "@CONTRACT@ @$isa@"
                kernels="$kernels dissent/${name}_$isa.o"
            done
            ;;
        *) rule "$name.o" "$source" "" "@NO_CONTRACT@" ;;
        esac
        objects="$objects dissent/$name.o"
    done <"$build/r/sources"
    for system in $systems; do rule "src/core/os/$system.o" "src/core/os/$system.c" "" "@NO_CONTRACT@"; done
    printf '\nLIBRARY_OBJECTS =%s @SYSTEM@ @KERNELS@\n' "$objects"
} >"$package/src/Makevars.in"
printf '%s\n' "$kernels" >"$package/src/kernels"
# The vignette needs knitr, rmarkdown and pandoc; without them the package has its source only.
vignettes=--no-build-vignettes
if [ "${DISSENT_R_VIGNETTES:-1}" = 1 ] && command -v pandoc >/dev/null && Rscript -e 'library(knitr); library(rmarkdown)' >/dev/null 2>&1; then
    vignettes=--compact-vignettes=no
fi
(cd "$build/r" && R CMD build --no-manual $vignettes dissent >build.log 2>&1) || { tail -n 20 "$build/r/build.log" >&2; exit 1; }
ls "$build/r/dissent_$version.tar.gz"
