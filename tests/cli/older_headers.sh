#!/bin/sh
# A program compiled against headers whose structs of options and views lack their last field gets its defaults and views
# without a byte written behind them, and is served by calls that take its options.
set -eu
library=$(dirname "$DISSENT")/libdissent.so
[ -f "$library" ] || { echo "skipped: no shared library"; exit 77; }
[ -z "${DISSENT_SANITIZE:-}" ] || { echo "skipped: the library needs the sanitizer's run-time library first"; exit 77; }
for tool in python3 "${CC:-cc}"; do command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }; done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
printf 'task,worker,label\na,x,yes\na,y,no\nb,x,yes\nb,y,yes\nc,x,no\nc,y,no\n' >"$folder/votes.csv"
python3 "$DISSENT_SOURCE/tests/compatibility/older_headers.py" "$DISSENT_SOURCE/include" "$folder"
"${CC:-cc}" -std=c11 -Wall -Wextra -Werror -I"$folder/include" "$folder/older.c" "$library" -Wl,-rpath,"$(dirname "$library")" -o "$folder/older"
"$folder/older" "$folder/votes.csv"
