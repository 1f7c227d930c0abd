#!/bin/sh
# ./run release: all packages of this version in build/dist, and SHA256SUMS. A part that cannot be built here prints
# "skipped: reason" and the others are built; a part that fails ends the release with exit code 1.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^#define DIS_VERSION "\(.*\)"$/\1/p' include/dissent/version.h)
dist=build/dist
logs=build/release
rm -rf "$dist"
mkdir -p "$dist" "$logs"

skip() {
    echo "skipped: $*"
    exit 77
}

part_sdist() {
    python3 -c 'import ensurepip, venv' 2>/dev/null || skip "python3 -m venv does not work here"
    [ -x build/venv-release/bin/python ] || python3 -m venv build/venv-release
    build/venv-release/bin/pip install -q --disable-pip-version-check build || skip "pip cannot install the package build"
    build/venv-release/bin/python -m build -q --sdist --outdir "$dist" .
}

# has COMMAND: whether ./run knows it.
has() {
    ./run help | grep -q "^  $1 "
}

part_wheels() {
    has wheels || skip "./run wheels is not available"
    ./run wheels
    cp build/wheels/dist/dissent_labels-"$version"-*.whl "$dist"
}

part_cuda() {
    has wheels || skip "./run wheels is not available"
    command -v nvcc >/dev/null || skip "nvcc is not installed"
    ./run wheels cuda
    cp build/wheels/dist/dissent_labels_cuda-"$version"-*.whl "$dist"
}

part_deb() {
    packaging/build_deb.sh "$dist"
}

part_r() {
    command -v R >/dev/null || skip "R is not installed"
    ./run r
    cp "build/r/dissent_$version.tar.gz" "$dist/dissent-r_$version.tar.gz"
}

part_web() {
    has web || skip "./run web is not available"
    ./run web
    cp build/web/*.html "$dist"
}

part_site() {
    command -v doxygen >/dev/null || skip "doxygen is not installed"
    ./run docs
    tar czf "$dist/dissent-site-$version.tar.gz" -C build site
}

# The wheel and the Debian packages in a fresh chroot.
part_install() {
    packaging/check_install.sh "$dist"
}

code=0
for part in sdist wheels cuda deb r web site install; do
    result=0
    (set +e; (set -e; "part_$part") >"$logs/$part.log" 2>&1; echo $? >"$logs/$part.code")
    result=$(cat "$logs/$part.code")
    case $result in
    0) outcome=$([ "$part" = install ] && echo passed || echo built) ;;
    77) outcome="skipped: $(sed -n 's/^skipped: //p' "$logs/$part.log" | tail -n 1)" ;;
    *) outcome="failed: $logs/$part.log" && code=1 ;;
    esac
    echo "$part: $outcome"
done
(cd "$dist" && find . -type f ! -name SHA256SUMS | sed 's|^\./||' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
cat "$dist/SHA256SUMS"
exit $code
