#!/bin/sh
# The files under papers/experiments/ are fine as they stand, and the quickest of them runs.
set -eu
data=${DISSENT_DATA:-$DISSENT_SOURCE/../shared/data}
[ -d "$data/labelme" ] || { echo "skipped: no data sets in $data"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$DISSENT" experiment status "$DISSENT_SOURCE/papers/experiments/labelme.yaml" --data "$data" --store "$work/none" -q >"$work/out" 2>"$work/error" || {
    grep -q "this build has no" "$work/error" && { echo "skipped: $(cat "$work/error")"; exit 77; }
    cat "$work/error"
    exit 1
}
n=0
for file in "$DISSENT_SOURCE"/papers/experiments/*.yaml; do
    "$DISSENT" experiment status "$file" --data "$data" --store "$work/none" -q >"$work/out" 2>"$work/error" || {
        # pretrained encoders are not everywhere, nor are files that a script makes of the data
        grep -q "encoder: no folder" "$work/error" || { grep -q "no file" "$work/error" && grep -q '^#.* writes the files' "$file"; } || {
            cat "$work/error"
            exit 1
        }
    }
    n=$((n + 1))
done
"$DISSENT" experiment run "$DISSENT_SOURCE/papers/experiments/labelme.yaml" --data "$data" --store "$work/store" --filter seed=0 -q
rows=$("$DISSENT" experiment table "$DISSENT_SOURCE/papers/experiments/labelme.yaml" --data "$data" --store "$work/store" --format csv -q |
    grep -c ',images,accuracy,30,1,')
[ "$rows" = 8 ] || { echo "$rows rows with one run, not 8"; exit 1; }
echo "$n files"
