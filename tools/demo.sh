#!/bin/sh
# ./run demo: a crowd whose truth is known, labelled by every method and every combination, scored against the truth; at the
# end one page that shows all of it.
# usage: tools/demo.sh [BUILD_FOLDER]
set -eu
build=$(cd "${1:-build}" && pwd)
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

echo "\$ dissent eval majority.csv mace.csv glad.csv --gold gold.csv --votes votes.csv --human-labels standard"
(cd "$folder" && "$dissent" eval majority.csv mace.csv glad.csv --gold gold.csv --votes votes.csv --human-labels standard \
    --bootstrap 200 --format text --quiet)
echo
echo "\$ dissent report --votes votes.csv --gold gold.csv --pred majority.csv --pred mace.csv --pred glad.csv --human-labels standard -o report.html"
(cd "$folder" && "$dissent" report --votes votes.csv --gold gold.csv --pred majority.csv --pred mace.csv --pred glad.csv \
    --human-labels standard --title "A crowd in which a quarter do not look" --quiet -o report.html)
echo
echo "the report:      file://$folder/report.html"
echo "all other files: $folder"
