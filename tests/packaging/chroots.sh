#!/bin/bash
# Set-up on machines that are not a developer's: bare chroots in which git is installed and little else.
#
#     tests/packaging/chroots.sh [VARIANT ...]        all variants without an argument; needs root, debootstrap and a package mirror
#
# The mirror and the release are those of this machine's apt configuration. Everything is under build/chroots: the bases as tar files,
# which are reused, a log per variant, downloads and a compiler cache that all variants share. Mounts end with the process, because
# each step has a mount and process namespace of its own. DISSENT_CHROOT_TESTS is the regular expression of the tests that the variant
# `bare` runs with ./run test ("." is all of them); DISSENT_CHROOT_MAKE=0 leaves out the full `make` of the other variants, and
# DISSENT_CHROOT_BUILD=0 configures only: minutes instead of an hour.
# shellcheck disable=SC2016 # $ in single quotes is for the shell in the chroot
set -euo pipefail
cd "$(dirname "$0")/../.."

skip() {
    echo "skipped: $*"
    exit 77
}
[ "$(id -u)" = 0 ] || skip "chroots need root"
command -v debootstrap > /dev/null || skip "debootstrap is not installed"
unshare --mount --pid --fork true 2> /dev/null || skip "this machine does not allow mount namespaces"
mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 2> /dev/null | sort -u |
    awk -v release="$(. /etc/os-release && echo "$VERSION_CODENAME")" '$2 == release { print $1; exit }')
[ -n "$mirror" ] || skip "apt has no mirror for this release; run apt-get update"
release=$(. /etc/os-release && echo "$VERSION_CODENAME")

top=$PWD/build/chroots
tests=${DISSENT_CHROOT_TESTS:-^(test_csv|test_votes|cli_install|cli_readme|cli_ranks|python|case_help.*)$}
build=${DISSENT_CHROOT_BUILD:-1}
full_make=${DISSENT_CHROOT_MAKE:-$build}
mkdir -p "$top/apt" "$top/ccache"
failed=()

# inside VARIANT COMMAND: the command in /src of the chroot, with nothing of this machine's environment.
inside() {
    unshare --mount --pid --fork --kill-child sh -c '
        mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/dev/shm" && mount --bind "$2/apt" "$1/var/cache/apt/archives" &&
            mount --bind "$2/ccache" "$1/ccache" || exit 125
        exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
            CCACHE_DIR=/ccache CMAKE_C_COMPILER_LAUNCHER=ccache PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore \
            PIP_CERT=/etc/ssl/certs/ca-certificates.crt PIP_DEFAULT_TIMEOUT=180 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
            chroot "$1" sh -c "cd /src && $3"' sh "$top/$1" "$top" "$2"
}

# unpack BASE VARIANT: a fresh chroot with the sources of this tree in /src.
unpack() {
    rm -rf "${top:?}/$2"
    mkdir -p "$top/$2"
    tar xf "$top/$1.tar" -C "$top/$2"
    rm -rf "$top/$2/src"
    mkdir -p "$top/$2/src" "$top/$2/ccache"
    git ls-files -co --exclude-standard | while read -r file; do [ ! -e "$file" ] || echo "$file"; done |
        tar cf - -T - | tar xf - -C "$top/$2/src"
    cp /etc/resolv.conf "$top/$2/etc/resolv.conf"
    cp /etc/ssl/certs/ca-certificates.crt "$top/$2/etc/ssl/certs/ca-certificates.crt"
}

# Two bases: `bare` has git (and ccache, which brings no compiler), `tools` also what builds and tests need, without MPI and CUDA.
make_bases() {
    if [ ! -e "$top/bare.tar" ]; then
        echo "debootstrap $release" >&2
        rm -rf "$top/bare.new"
        debootstrap --variant=minbase --include=git,ca-certificates,ccache "$release" "$top/bare.new" "$mirror" > "$top/debootstrap.log"
        tar cf "$top/bare.tar.new" -C "$top/bare.new" . && mv "$top/bare.tar.new" "$top/bare.tar"
        rm -rf "$top/bare.new"
    fi
    if [ ! -e "$top/tools.tar" ]; then
        unpack bare tools
        inside tools 'apt-get update -qq && apt-get install -y -qq --no-install-recommends gcc libc6-dev cmake make ninja-build pkg-config \
            zlib1g-dev libzstd-dev libyaml-dev libsqlite3-dev libcmocka-dev python3-dev python3-venv > /dev/null' > "$top/tools.log" 2>&1 ||
            { tail -n 5 "$top/tools.log"; exit 1; }
        tar cf "$top/tools.tar.new" -C "$top/tools" . && mv "$top/tools.tar.new" "$top/tools.tar"
        rm -rf "${top:?}/tools"
    fi
}

# build_step NAME COMMAND: a step that compiles.
build_step() {
    [ "$build" = 0 ] || step "$@"
}

# step NAME COMMAND: runs it in the chroot of $variant and prints the outcome; the log has all of its output.
variant=
step() {
    local begin=$SECONDS outcome=ok
    printf '\n== %s: %s\n' "$1" "$2" >> "$top/$variant.log"
    inside "$variant" "$2" >> "$top/$variant.log" 2>&1 || outcome="FAILED, see build/chroots/$variant.log"
    printf '%-20s %-56s %s (%d s)\n' "$variant" "$1" "$outcome" $((SECONDS - begin))
    if [ "$outcome" != ok ]; then
        failed+=("$variant: $1")
        tail -n 15 "$top/$variant.log" | sed 's/^/    /'
    fi
}

begin() { # BASE VARIANT
    variant=$2
    : > "$top/$variant.log"
    unpack "$1" "$2"
}

demo='./run demo && test -s build/demo/report.html'
# Not optimised: the question is whether it builds.
pip='python3 -m venv /tmp/venv && /tmp/venv/bin/pip install --config-settings=cmake.define.CMAKE_C_FLAGS_RELEASE=-O0 . && cd / && /tmp/venv/bin/dissent --version &&
    /tmp/venv/bin/python -c "import dissent; print(dissent.MajorityVote().fit_predict([(1, 2, 3)]).to_dict())"'
no_probe='! grep -iE "^(MPI_|CMAKE_CUDA|DIS_NVCC|DIS_CMOCKA|_?Python)" build/CMakeCache.txt'
skipped() { echo "cmake -DDIS_SUMMARY_HASH= build 2>&1 | tee /tmp/configured && grep -q '$1: skipped: ' /tmp/configured"; }
used() { echo "cmake -DDIS_SUMMARY_HASH= build 2>&1 | tee /tmp/configured && grep -q 'optional components:.* $1' /tmp/configured"; }
# demo_step [FIRST]: the demo after the command FIRST, or the configuration that it starts with.
demo_step() {
    if [ "$build" = 0 ]; then
        step "configure as ./run demo does" "${1:-:}; command -v cmake || apt-get update -qq && apt-get install -y -qq --no-install-recommends cmake gcc libc6-dev ninja-build make > /dev/null
            cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DDIS_TOOL_ONLY=ON"
    else
        step "./run demo" "${1:-:}; $demo"
    fi
}
make_all() { [ "$full_make" = 0 ] || step make "make"; }

variant_bare() {
    begin bare bare
    step "./run help" "./run help"
    step "./run demo without apt-get: message" "mv /usr/bin/apt-get /tmp/ && { ./run demo > /tmp/out 2>&1; code=\$?; mv /tmp/apt-get /usr/bin/; cat /tmp/out
        test \$code = 4 && grep -q 'apt-get is not available' /tmp/out; }"
    step "./run demo without root and sudo: message" "chmod -R a+rwX /src && { setpriv --reuid=65534 --clear-groups ./run demo > /tmp/out 2>&1; code=\$?; cat /tmp/out
        test \$code = 4 && grep -q 'sudo is not available' /tmp/out; }"
    step "./run demo without network: message" "mkdir -p /tmp/empty/partial && echo 'Dir::Cache::Archives \"/tmp/empty\";' > /etc/apt/apt.conf.d/99empty
        unshare --net ./run demo > /tmp/out 2>&1; code=\$?; rm /etc/apt/apt.conf.d/99empty; cat /tmp/out
        test \$code = 4 && grep -q 'is missing and could not be installed' /tmp/out"
    demo_step
    step "the demo has looked for no plug-in" "$no_probe"
    build_step "./run build finds MPI after the demo" "./run build && test -e build/libdissent-mpi.so && test -e build/tests/test_csv"
    build_step "./run test" "DISSENT_TESTS='$tests' ./run test"
    build_step "pip install ." "$pip"
    build_step "make install, make uninstall" "find /usr/local | sort > /tmp/before && make install && cd / && dissent --version && cd /src &&
        cc examples/labels.c \$(pkg-config --cflags --libs dissent) -o /tmp/labels && dissent synth -q --items 9 -o /tmp/votes.csv &&
        /tmp/labels /tmp/votes.csv > /dev/null && make uninstall && find /usr/local | sort | diff /tmp/before -"
}

variant_openmpi-bin() {
    begin tools openmpi-bin
    step "mpicc exists, mpi.h does not" "apt-get update -qq && apt-get install -y -qq --no-install-recommends openmpi-bin > /dev/null && command -v mpicc &&
        ! echo '#include <mpi.h>' | mpicc -x c -fsyntax-only -"
    demo_step
    make_all
    step "MPI is skipped with a reason" "cmake -DDIS_TOOL_ONLY=OFF build && $(skipped libdissent-mpi.so)"
    build_step "pip install ." "$pip"
    step "MPI is found after libopenmpi-dev is installed" "apt-get install -y -qq --no-install-recommends libopenmpi-dev > /dev/null && $(used libdissent-mpi.so) &&
        cmake --build build --target dissent_mpi && test -e build/libdissent-mpi.so"
}

variant_libopenmpi-dev() {
    begin tools libopenmpi-dev
    step "install libopenmpi-dev" "apt-get update -qq && apt-get install -y -qq --no-install-recommends libopenmpi-dev openmpi-bin > /dev/null"
    demo_step
    step "the demo has looked for no plug-in" "$no_probe"
    make_all
    step "MPI is used" "cmake -DDIS_TOOL_ONLY=OFF build && $(used libdissent-mpi.so) && cmake --build build --target dissent_mpi"
    build_step "pip install ." "$pip"
    step "MPI is skipped after libopenmpi-dev is removed" "apt-get purge -y -qq libopenmpi-dev > /dev/null && $(skipped libdissent-mpi.so)"
}

# nvcc VARIANT TEXT: a script in place of nvcc.
broken_nvcc() {
    begin tools "$1"
    printf '#!/bin/sh\n%s\n' "$2" > "$top/$1/usr/local/bin/nvcc"
    chmod +x "$top/$1/usr/local/bin/nvcc"
    demo_step
    step "the demo has looked for no plug-in" "$no_probe"
    make_all
    step "CUDA is skipped with a reason" "cmake -DDIS_TOOL_ONLY=OFF build && $(skipped libdissent-cuda.so)"
    build_step "pip install ." "$pip"
}
variant_nvcc-fails() { broken_nvcc nvcc-fails 'exit 1'; }
variant_nvcc-cannot-compile() {
    broken_nvcc nvcc-cannot-compile 'case "$*" in *--version*) echo "Cuda compilation tools, release 12.4, V12.4.131" ;; *) echo "nvcc fatal: no host compiler" >&2; exit 1 ;; esac'
}

# Files for pkg-config that describe libraries of another architecture; then headers without a library, a library without headers.
variant_pkg-config() {
    begin tools pkg-config
    step "libraries of another architecture" 'mkdir -p /opt/other/lib/pkgconfig && cd /opt/other/lib && for pair in zlib=z libzstd=zstd yaml-0.1=yaml sqlite3=sqlite3 cmocka=cmocka; do
        name=${pair#*=}; cp -L /usr/lib/*-linux-*/lib$name.so . && printf "\363\000" | dd of=lib$name.so bs=1 seek=18 conv=notrunc 2>&1 &&
        printf "Name: x\nDescription: x\nVersion: 99\nLibs: -L/opt/other/lib -l%s\nCflags:\n" $name > pkgconfig/${pair%=*}.pc; done'
    export_pc='export PKG_CONFIG_PATH=/opt/other/lib/pkgconfig'
    demo_step "$export_pc"
    [ "$full_make" = 0 ] || step "make" "$export_pc; make"
    step "the system's libraries are used" "$export_pc; cmake -DDIS_TOOL_ONLY=OFF build && $(used 'zlib zstd yaml sqlite') && ! grep _LINKS:.*/opt/other build/CMakeCache.txt"
    build_step "pip install ." "$export_pc; $pip"
    step "header without library, library without header" "rm /usr/include/zlib.h && rm /usr/lib/*-linux-*/libzstd.so /usr/lib/*-linux-*/libzstd.a /usr/lib/*-linux-*/libyaml.* && $export_pc &&
        $(skipped zlib) && grep -q 'zstd: skipped' /tmp/configured && grep -q 'yaml: skipped' /tmp/configured"
    build_step "./run demo without zlib, zstd and libyaml" "$export_pc; make tool && sh tools/demo.sh && test -s build/demo/report.html"
    step "they are found after their packages are installed" "apt-get update -qq && apt-get install -y -qq --reinstall zlib1g-dev libzstd-dev libyaml-dev > /dev/null && $(used 'zlib zstd yaml sqlite')"
}

all=(bare openmpi-bin libopenmpi-dev nvcc-fails nvcc-cannot-compile pkg-config)
[ $# -gt 0 ] || set -- "${all[@]}"
for name; do
    case " ${all[*]} " in *" $name "*) ;; *) echo "chroots.sh: no variant \"$name\"; there are ${all[*]}" >&2 && exit 2 ;; esac
done
make_bases
for name; do
    "variant_$name"
    rm -rf "${top:?}/$name"
done
if [ ${#failed[@]} -gt 0 ]; then
    printf '%d steps failed\n' ${#failed[@]}
    exit 1
fi
echo "set-up works in: $*"
