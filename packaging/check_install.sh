#!/bin/bash
# A release as its users see it: in a fresh chroot without compilers, pip installs the wheel, and the example of README.md runs;
# then apt-get installs the Debian packages, and it runs again.
#
#     packaging/check_install.sh [FOLDER]       packages of FOLDER [build/dist]; needs root, debootstrap, a mirror and PyPI
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=packaging/chroot.sh
. packaging/chroot.sh
dist=${1:-build/dist}
wheel=("$dist"/dissent_labels-*manylinux*_x86_64.whl)
debs=("$dist"/*.deb)
[ -e "${wheel[0]}" ] || skip "$dist has no wheel for x86-64"
[ -e "${debs[0]}" ] || skip "$dist has no Debian packages"

fresh user
cp "${wheel[0]}" "${debs[@]}" "$top/user/packages"
step install-wheel user "apt-get update -qq; apt-get install -y -qq --no-install-recommends python3-venv
    python3 -m venv /venv; /venv/bin/pip install -q /packages/*.whl pandas"
step readme-with-wheel user "PATH=/venv/bin:\$PATH; $readme; command -v dissent | grep /venv/bin/dissent"
step install-debs user "rm -r /venv; apt-get install -y -qq --no-install-recommends /packages/*.deb python3-pandas"
step readme-with-debs user "$readme; command -v dissent | grep /usr/bin/dissent"
rm -rf "${top:?}/user"
