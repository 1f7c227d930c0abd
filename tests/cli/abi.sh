#!/bin/sh
# Exported symbols, struct layouts and constants are those of tests/abi.txt: a change of them is made on purpose, and said.
set -eu
library=$(dirname "$DISSENT")/libdissent.so
[ -f "$library" ] || { echo "skipped: no shared library"; exit 77; }
[ -z "${DISSENT_SANITIZE:-}" ] || { echo "skipped: a library with sanitizers exports more"; exit 77; }
[ "$(uname -s) $(getconf LONG_BIT)" = "Linux 64" ] || { echo "skipped: tests/abi.txt is of 64-bit Linux"; exit 77; }
for tool in nm python3 "${CC:-cc}"; do command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }; done
now=$(mktemp)
trap 'rm -f "$now"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
python3 "$DISSENT_SOURCE/tools/abi.py" "$library" >"$now"
diff -u "$DISSENT_SOURCE/tests/abi.txt" "$now" || {
    echo "The binary interface has changed. If that is meant: python3 tools/abi.py build/libdissent.so > tests/abi.txt, and a line in"
    echo "CHANGELOG.md that says what changed; with a removed or moved field, symbol or constant it says (breaking)."
    exit 1
}
# Each symbol has a version, and nothing but the library's own names is exported.
if grep '^symbol ' "$now" | grep -v '^symbol dis_[a-z0-9_]*@DISSENT_[0-9.]*$'; then
    echo "symbols without a version, or of another name"
    exit 1
fi
echo "$(grep -c '^symbol ' "$now") symbols, $(grep -c '^struct ' "$now") structs, $(grep -c '^constant ' "$now") constants are as stated"
