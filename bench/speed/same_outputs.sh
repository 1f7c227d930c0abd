#!/usr/bin/env bash
# The outputs of two builds of the tool, compared byte by byte.
#
#     bench/speed/same_outputs.sh BEFORE AFTER [VOTES...]
#
# BEFORE, AFTER: dissent programs; VOTES: files of votes with the columns task, worker and label. Without any, one crowd is synthesised
# by AFTER. Compares the labels of every method that both programs have, of the default recipe and of the recipe papers, the
# agreement table, the review, and the files of one small model of each kind. Prints one line per output, and fails if one differs.
# Texts of the report and of messages are not compared: they change with the wording. Nor are the version of a model and its
# checkpoint, which has the version too. Both programs use AVX2 kernels unless DISSENT_ISA says otherwise.
set -euo pipefail
export DISSENT_ISA=${DISSENT_ISA:-avx2}
[ $# -ge 2 ] || { echo "usage: bench/speed/same_outputs.sh BEFORE AFTER [VOTES...]" >&2; exit 2; }
before=$(realpath "$1") after=$(realpath "$2"); shift 2
crowds=(); for file in "$@"; do crowds+=("$(realpath "$file")"); done
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$after" synth --items 400 --workers 30 --classes 4 --votes-per-item 5 --gold gold.csv --text texts.csv --features x.npy -q -o votes.csv
"$after" labels votes.csv --method standard -q -o soft.csv
cut -d, -f1 gold.csv | tail -n +2 >ids.txt
awk -F, 'NR == 1 { print "task,sentence,token"; next } { printf "%s,s%d,%s\n", $1, int((NR - 2) / 10), substr("abcdefghij", 1 + NR % 7, 3) NR % 50 }' gold.csv >tokens.csv
awk -F, 'NR == 1 { print "task,word,stem"; next } { w = substr("kaltenburgisch", 1 + NR % 5, 4 + NR % 6); printf "%s,%s,%s\n", $1, w, substr(w, 1, 4) }' gold.csv >words.csv
[ ${#crowds[@]} -gt 0 ] || crowds=("$folder/votes.csv")

failed=0 same=0
compare() { # NAME ARGUMENTS...: the output file or folder is "out"
    local name=$1 tool n=0; shift
    for tool in "$before" "$after"; do
        n=$((n + 1))
        rm -rf out "out.$n"
        if ! "$tool" "$@" >"messages.$n" 2>&1; then rm -rf out; fi
        [ ! -d out ] || { rm -f out/checkpoint.safetensors out/lock; sed -i '/"version":/d' out/model.json; }
        [ ! -e out ] || mv out "out.$n"
    done
    if [ ! -e out.1 ] && [ ! -e out.2 ]; then
        echo "neither   $name: $(tail -1 messages.2)"
    elif [ -e out.1 ] && [ -e out.2 ] && diff -rq out.1 out.2 >difference; then
        same=$((same + 1))
    else
        echo "DIFFERENT $name: $(tail -1 "messages.1") | $(tail -1 "messages.2") | $(head -1 difference 2>/dev/null)"
        failed=1
    fi
}

"$before" list methods | awk 'NF > 1 { print $1 }' | sort >methods.1
"$after" list methods | awk 'NF > 1 { print $1 }' | sort >methods.2
for crowd in "${crowds[@]}"; do
    name=$(basename "$(dirname "$crowd")")/$(basename "$crowd")
    while read -r method; do
        compare "$name labels $method" labels "$crowd" --method "$method" --duplicates first --format csv -o out
    done < <(comm -12 methods.1 methods.2)
    compare "$name labels default" labels "$crowd" --duplicates first --format csv -o out
    compare "$name labels papers" labels "$crowd" --method papers --duplicates first --format csv -o out
    compare "$name agree" agree "$crowd" --duplicates first --format csv -o out
done
train=(train --labels soft.csv --gold gold.csv --objective kl --epochs 2 --batch 32 --rate .01 --seed 3 -q -o out)
compare "model mlp" "${train[@]}" --items x.npy --ids ids.txt --model mlp:hidden=32
compare "model text" "${train[@]}" --items texts.csv --model text:width=16,hidden=16
compare "model tagger" "${train[@]}" --items tokens.csv --text token --sentence sentence --model tagger:word=16,character=8,hidden=16,layers=1,feed=32
compare "model stem-cnn" "${train[@]}" --items words.csv --text word --text stem --model stem-cnn:width=16,feed=32
echo "$same outputs have the same bytes"
exit $failed
