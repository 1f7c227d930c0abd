#!/bin/sh
# r/check_package.sh BUILD: builds the R package, checks it (no errors, no warnings), and runs the examples of its guide. Compares
# labels with those of the command line, and agreement coefficients with those of psych, vcd and krippendorff. A comparison whose
# packages are missing is skipped.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
command -v Rscript >/dev/null || { echo "skipped: R is not installed"; exit 77; }
sh r/build_package.sh "$build"
version=$(sed -n 's/^#define DIS_VERSION "\(.*\)"$/\1/p' include/dissent/version.h)
options=--no-manual
[ -d "$build/r/dissent/inst/doc" ] || tar tf "$build/r/dissent_$version.tar.gz" | grep -q '^dissent/inst/doc/' || options="$options --ignore-vignettes"
# shellcheck disable=SC2086 # words
(cd "$build/r" && MAKEFLAGS="-j$(nproc)" _R_CHECK_FORCE_SUGGESTS_=false R CMD check $options "dissent_$version.tar.gz") >"$build/r/check.log" 2>&1 ||
    { tail -n 40 "$build/r/check.log"; exit 1; }
grep -E '(WARNING|NOTE)$|^Status' "$build/r/check.log"
grep -q '^Status: .*\(ERROR\|WARNING\)' "$build/r/check.log" && { cat "$build/r/check.log"; exit 1; }

# The examples of the guide, with the package that was checked.
awk '/^```r$/ { on = 1; next } /^```$/ { on = 0 } on { print }' docs/guides/r.md >"$build/r/guide.R"
(cd "$build/r" && R_LIBS=dissent.Rcheck Rscript guide.R >guide.log 2>&1) || { cat "$build/r/guide.log"; exit 1; }
echo "docs/guides/r.md: its examples run"

rm -rf "$build/r/parity"
mkdir -p "$build/r/parity"
result=0
R_LIBS="$PWD/$build/r/dissent.Rcheck" Rscript r/parity/parity.R "$build/r/parity" >"$build/r/parity/log" 2>&1 || result=$?
tail -n 1 "$build/r/parity/log"
[ "$result" = 0 ] || [ "$result" = 77 ] || exit "$result"
if [ -x "$build/dissent" ]; then
    R_LIBS="$PWD/$build/r/dissent.Rcheck" python3 r/parity/same_labels.py "$build/dissent" "$build/r/parity"
fi
[ -x "$build/r/venv/bin/python" ] || python3 -m venv "$build/r/venv" || { echo "krippendorff: skipped: no virtual environment"; exit 0; }
"$build/r/venv/bin/pip" install -q --disable-pip-version-check krippendorff || { echo "krippendorff: skipped: pip cannot install it"; exit 0; }
"$build/r/venv/bin/python" r/parity/parity.py "$build/r/parity"
