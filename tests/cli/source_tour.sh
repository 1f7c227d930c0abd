#!/bin/sh
# docs/development/source-tour.md: each row of its tables names a file that exists and a function that this file defines.
set -eu
cd "$DISSENT_SOURCE"
page=docs/development/source-tour.md
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
sed -nE 's/^\| `([^`]+)` \| `([^`]+)` \|.*/\1 \2/p' "$page" >"$rows"
failed=0
count=0
while read -r file function; do
    count=$((count + 1))
    if [ ! -f "$file" ]; then
        echo "$page: there is no $file"
        failed=1
    # A definition begins at the first column and is no declaration; kernels are written DIS_KERNEL(name).
    elif ! grep -nE "^[a-z_].*\b$(echo "$function" | sed 's/[()]/\\&/g')\(" "$file" | grep -v ';$' | grep -q .; then
        echo "$page: $file does not define $function"
        failed=1
    fi
done <"$rows"
for command in 'dissent labels' 'dissent train' 'dissent experiment run' 'A training step on a GPU'; do
    grep -qxF "## $command" "$page" || { echo "$page has no section '$command'"; failed=1; }
done
# The path of `labels` stays short enough to be read: a step that needs one more file is a reason to join two.
labels=$(sed -n '/^## dissent labels/,/^## dissent train/p' "$page" | grep -c '^| `')
[ "$labels" -le 30 ] || { echo "$page: $labels files for dissent labels; at most 30"; failed=1; }
[ "$count" -ge 60 ] || { echo "$page: only $count rows were found"; failed=1; }
echo "$count rows"
exit $failed
