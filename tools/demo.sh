#!/bin/sh
# ./run demo: a crowd whose truth is known, labelled by every method and every combination, scored against the truth.
# usage: tools/demo.sh [BUILD_FOLDER]
set -eu
build=${1:-build}
dissent=$build/dissent
score=$build/examples/example_score
folder=$build/demo
rm -rf "$folder"
mkdir -p "$folder"

# Many items, few votes each, a quarter of the workers not looking: what majority voting is bad at.
set -- --model spammer --items 3000 --workers 60 --classes 4 --votes-per-item 5 --accuracy .68 --spammers .25 --seed 7
echo "\$ dissent synth $* --gold gold.csv -o votes.csv"
"$dissent" synth "$@" --gold "$folder/gold.csv" -o "$folder/votes.csv"
echo
echo "\$ dissent labels votes.csv -o labels.csv"
"$dissent" labels "$folder/votes.csv" -o "$folder/labels.csv"
echo

set -- "$folder/gold.csv"
for method in $("$dissent" list methods | cut -d' ' -f1); do
    "$dissent" labels "$folder/votes.csv" --quiet --method "$method" -o "$folder/$method.csv"
    set -- "$@" "$method=$folder/$method.csv"
done
views="--method standard --method softmax --method dawid-skene --method mace"
for combiner in $("$dissent" list combiners | cut -d' ' -f1); do
    # shellcheck disable=SC2086
    "$dissent" labels "$folder/votes.csv" --quiet $views --combine "$combiner" -o "$folder/combined-$combiner.csv"
    set -- "$@" "$combiner of the four default views=$folder/combined-$combiner.csv"
done
echo "every method and combination against the truth (NLL: mean of -log p at the true class; lower is better)"
"$score" "$@"
echo
echo "files: $folder"
