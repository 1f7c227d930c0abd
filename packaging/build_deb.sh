#!/bin/bash
# The Debian packages, built in a bare chroot and tested in another one without compilers.
#
#     packaging/build_deb.sh [OUTPUT]       packages in OUTPUT [build/dist]; needs root, debootstrap and a package mirror
#
# Chroots are under build/deb. The base is a tar file that is reused; delete build/deb to start again.
# DISSENT_DEB_CCACHE=1 uses a compiler cache in build/deb/ccache. DISSENT_DEB_OPTIONS are further DEB_BUILD_OPTIONS, for example noopt.
# Steps: dpkg-buildpackage; lintian without errors; the example of README.md where no compiler is installed; autopkgtest, which
# installs the compiler that the test of the library needs; removal.
# shellcheck disable=SC2016 # $ in single quotes is for apt-get and for the shell in the chroot
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
    echo "skipped: $*"
    exit 77
}
[ "$(id -u)" = 0 ] || skip "chroots need root"
command -v debootstrap > /dev/null || skip "debootstrap is not installed"
unshare --mount --pid --fork true 2> /dev/null || skip "this machine does not allow mount namespaces"
release=bookworm
mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 2> /dev/null | sort -u | awk -v r="$release" '$2 == r { print $1; exit }')
[ -n "$mirror" ] || skip "apt has no mirror for $release; run apt-get update"

output=$(realpath -m "${1:-build/dist}")
top=$PWD/build/deb
mkdir -p "$top/ccache" "$output"

# inside FOLDER COMMAND: the command in a chroot, with nothing of this machine's environment.
inside() {
    unshare --mount --pid --fork --kill-child sh -c '
        mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/dev/shm" && mkdir -p "$1/ccache" && mount --bind "$3/ccache" "$1/ccache" || exit 125
        exec env -i PATH="$4/usr/sbin:/usr/bin:/sbin:/bin" HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive CCACHE_DIR=/ccache \
            CCACHE_NOHASHDIR=1 chroot "$1" sh -ec "$2"' sh "$top/$1" "$2" "$top" "${DISSENT_DEB_CCACHE:+/usr/lib/ccache:}"
}

# step NAME FOLDER COMMAND: prints the outcome; the output is in a log.
step() {
    local begin=$SECONDS
    if ! inside "$2" "$3" > "$top/$1.log" 2>&1; then
        tail -n 30 "$top/$1.log"
        echo "$1: failed, see build/deb/$1.log"
        exit 1
    fi
    echo "$1: ok ($((SECONDS - begin)) s)"
}

fresh() { # FOLDER
    rm -rf "${top:?}/$1"
    mkdir -p "$top/$1"
    tar xf "$top/base.tar" -C "$top/$1"
    cp /etc/resolv.conf "$top/$1/etc/resolv.conf"
    cp /etc/ssl/certs/ca-certificates.crt "$top/$1/etc/ssl/certs/ca-certificates.crt"
}

if [ ! -e "$top/base.tar" ]; then
    debootstrap --variant=minbase --include=ca-certificates "$release" "$top/base.new" "$mirror" > "$top/debootstrap.log"
    tar cf "$top/base.tar.new" -C "$top/base.new" . && mv "$top/base.tar.new" "$top/base.tar"
    rm -rf "$top/base.new"
fi

version=$(sed -n 's/^dissent (\([^)]*\)).*/\1/p' debian/changelog | head -n 1)
fresh build
mkdir -p "$top/build/src/dissent"
git ls-files -co --exclude-standard | while read -r file; do [ ! -e "$file" ] || echo "$file"; done |
    tar cf - -T - | tar xf - -C "$top/build/src/dissent"
tar czf "$top/build/src/dissent_${version%-*}.orig.tar.gz" -C "$top/build/src" --exclude=dissent/debian dissent
step dependencies build "apt-get update -qq; apt-get install -y -qq --no-install-recommends build-essential lintian ${DISSENT_DEB_CCACHE:+ccache}
    cd /src/dissent; apt-get build-dep -y -qq --no-install-recommends ."
step dpkg-buildpackage build "cd /src/dissent; DEB_BUILD_OPTIONS='noautodbgsym parallel=$(nproc) ${DISSENT_DEB_OPTIONS:-}' dpkg-buildpackage -us -uc"
step lintian build "cd /src; lintian --allow-root --fail-on error *.changes"
cp "$top"/build/src/*.deb "$output"

fresh installed
mkdir -p "$top/installed/debs" "$top/installed/source"
cp "$output"/*"_${version}_"*.deb "$top/installed/debs"
cp -R debian examples README.md "$top/installed/source"
step install installed "apt-get update -qq; apt-get install -y -qq --no-install-recommends /debs/*.deb python3-pandas"
step readme-without-compiler installed 'for compiler in cc gcc clang; do if command -v $compiler; then exit 1; fi; done
    test -s /usr/share/man/man1/dissent.1.gz; cd /source; debian/tests/readme'
step autopkgtest installed "apt-get install -y -qq --no-install-recommends autopkgtest; autopkgtest -B /source -- null"
step removal installed "apt-get purge -y -qq dissent libdissent0 libdissent-dev python3-dissent dissent-doc; ! ls /usr/bin/dissent"
rm -rf "$top/build" "$top/installed"
ls "$output"/*"_${version}_"*.deb
