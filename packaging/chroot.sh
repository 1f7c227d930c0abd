# Bare Debian chroots under build/deb, for the scripts of this folder, which source this file.
# shellcheck shell=bash disable=SC2016,SC2034 # $ in single quotes is for apt-get and for the shell in the chroot
# The base is a tar file that is reused; delete build/deb to start again.
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

top=$PWD/build/deb
mkdir -p "$top/ccache"

# inside FOLDER COMMAND: the command in a chroot, with nothing of this machine's environment.
inside() {
    unshare --mount --pid --fork --kill-child sh -c '
        mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/dev/shm" && mkdir -p "$1/ccache" && mount --bind "$3/ccache" "$1/ccache" || exit 125
        exec env -i PATH="$4/usr/sbin:/usr/bin:/sbin:/bin" HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive CCACHE_DIR=/ccache \
            CCACHE_NOHASHDIR=1 PIP_CERT=/etc/ssl/certs/ca-certificates.crt chroot "$1" sh -ec "$2"' sh "$top/$1" "$2" "$top" "${DISSENT_DEB_CCACHE:+/usr/lib/ccache:}"
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

# The example of README.md, where it must not find a compiler.
readme='for compiler in cc gcc clang; do if command -v $compiler; then exit 1; fi; done; cd /source; debian/tests/readme'

# fresh FOLDER: a chroot with the base, and what the example of README.md needs in /source.
fresh() {
    rm -rf "${top:?}/$1"
    mkdir -p "$top/$1"
    tar xf "$top/base.tar" -C "$top/$1"
    cp /etc/resolv.conf "$top/$1/etc/resolv.conf"
    cp /etc/ssl/certs/ca-certificates.crt "$top/$1/etc/ssl/certs/ca-certificates.crt"
    mkdir -p "$top/$1/source" "$top/$1/packages"
    cp -R debian examples README.md "$top/$1/source"
}

if [ ! -e "$top/base.tar" ]; then
    debootstrap --variant=minbase --include=ca-certificates "$release" "$top/base.new" "$mirror" > "$top/debootstrap.log"
    tar cf "$top/base.tar.new" -C "$top/base.new" . && mv "$top/base.tar.new" "$top/base.tar"
    rm -rf "$top/base.new"
fi
