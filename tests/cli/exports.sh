#!/bin/sh
# Runs the shell blocks of docs/reference/exports/*.md, each page in a folder with the files of examples/exports: what they show
# must work, and print what they say. Every preset must have a page that uses it, and every page a row in docs/reference/exports.md.
set -eu
# shellcheck source=tests/cli/support/documents.sh
. "${DISSENT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/cli/support/documents.sh"
for page in "$source"/docs/reference/exports/*.md; do
    name=$(basename "$page")
    rm -rf "$scratch/blocks" "$scratch/work"
    mkdir "$scratch/blocks"
    cp -r "$source/examples/exports" "$scratch/work"
    awk -v folder="$scratch/blocks" '
        /^```sh$/ { n++; file = sprintf("%s/%03d.sh", folder, n); next }
        /^```text$/ { file = sprintf("%s/%03d.text", folder, n); next }
        /^```/ { if (file) close(file); file = ""; next }
        file { print > file }' "$page"
    shown=0
    for block in "$scratch"/blocks/*.sh; do
        (cd "$scratch/work" && sh -eu "$block") >"$scratch/out" 2>&1 </dev/null || {
            echo "a block of $name failed:"
            cat "$block" "$scratch/out"
            exit 1
        }
        plain "${block%.sh}.text" >"$scratch/expected"
        plain "$scratch/out" | diff "$scratch/expected" - || {
            echo "$name shows something else than this block prints:"
            cat "$block"
            exit 1
        }
        shown=$((shown + 1))
    done
    [ "$shown" -ge 3 ] || { echo "$name has $shown blocks, not three"; exit 1; }
    grep -qF "](exports/$name)" "$source/docs/reference/exports.md" || { echo "docs/reference/exports.md has no link to $name"; exit 1; }
done
dissent list presets | sed -n 's/^\([a-z][a-z0-9-]*\) .*/\1/p' | while read -r preset; do
    grep -q -e "--preset $preset " "$source"/docs/reference/exports/*.md || { echo "no page shows --preset $preset"; exit 1; }
done

# Without the question, the message lists those of the file.
rm -rf "$scratch/work"
cp -r "$source/examples/exports" "$scratch/work"
cd "$scratch/work"
while read -r preset file expected; do
    # shellcheck disable=SC2086 # a pattern of files
    found=$(dissent convert $file --preset "$preset" -o none.csv 2>&1 | sed -n 's/.*; the names are: //p')
    [ "$found" = "$expected" ] || { echo "$preset: the message lists \"$found\", not \"$expected\""; exit 1; }
done <<'CASES'
argilla-flat argilla-flat.json sentiment
argilla argilla.json fluent, sentiment
inception inception/*/*.json sentiment
label-studio label-studio.json clarity, sentiment
label-studio-min label-studio-min.csv lead_time, sentiment, topics
mlflow mlflow.json correctness, expected_response
potato potato.csv belief, clarity, sentiment
potato potato.jsonl belief, clarity, sentiment
CASES
echo "pages of exports hold"
