#!/bin/bash
# The Debian packages, built in a bare chroot and tested in another one without compilers.
#
#     packaging/build_deb.sh [OUTPUT]       packages in OUTPUT [build/dist]; needs root, debootstrap and a package mirror
#
# DISSENT_DEB_CCACHE=1 uses a compiler cache in build/deb/ccache. DISSENT_DEB_OPTIONS are further DEB_BUILD_OPTIONS, for example noopt.
# Steps: dpkg-buildpackage; lintian without errors; the example of README.md where no compiler is installed; autopkgtest, which
# installs the compiler that the test of the library needs; removal.
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=packaging/chroot.sh
. packaging/chroot.sh
output=$(realpath -m "${1:-build/dist}")
mkdir -p "$output"

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
cp "$output"/*"_${version}_"*.deb "$top/installed/packages"
step install installed "apt-get update -qq; apt-get install -y -qq --no-install-recommends /packages/*.deb python3-pandas"
step readme-without-compiler installed "test -s /usr/share/man/man1/dissent.1.gz; $readme"
step autopkgtest installed "apt-get install -y -qq --no-install-recommends autopkgtest; autopkgtest -B /source -- null"
step removal installed "apt-get purge -y -qq dissent libdissent0 libdissent-dev python3-dissent dissent-doc; ! ls /usr/bin/dissent"
rm -rf "$top/build" "$top/installed"
ls "$output"/*"_${version}_"*.deb
