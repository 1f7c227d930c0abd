#!/bin/sh
# Every file with a copy of the version has that of include/dissent/version.h, as the tool has.
set -eu
cd "$DISSENT_SOURCE"
version=$(sed -n 's/^#define DIS_VERSION "\(.*\)"$/\1/p' include/dissent/version.h)
[ -n "$version" ] || { echo "include/dissent/version.h: no version"; exit 1; }

# same FILE VERSION: fails unless the file has the version.
same() {
    [ "$2" = "$version" ] || { echo "$1 has version \"$2\", include/dissent/version.h has \"$version\""; exit 1; }
}
same "the tool" "$("$DISSENT" --version | sed 's/^dissent //')"
same CITATION.cff "$(sed -n 's/^version: //p' CITATION.cff)"
same CHANGELOG.md "$(sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)"
same README.md "$(sed -n 's/^Version \([0-9.]*\)[ ,.].*/\1/p' README.md | sed 's/\.$//')"
same debian/changelog "$(sed -n 's/^dissent (\([0-9.]*\)-.*/\1/p' debian/changelog | head -n 1)"
same packaging/conda "$(sed -n 's/.*set version = "\(.*\)".*/\1/p' packaging/conda/recipe/meta.yaml)"
same packaging/homebrew "$(sed -n 's/.*\/v\([0-9.]*\)\/.*/\1/p' packaging/homebrew/dissent.rb)"
echo "all files have version $version"
