#!/bin/sh
# ./run demo: support tickets whose true classes are known, labelled by all methods for several classes and all combinations
# and scored against the truth; then two models trained on another crowd, on majority labels and on soft labels; and a page about each.
# usage: tools/demo.sh [BUILD_FOLDER]
set -eu
build=$(cd "${1:-build}" && pwd)
dissent=$build/dissent
score=$build/examples/example_score
folder=$build/demo
rm -rf "$folder"
mkdir -p "$folder"

# Support tickets, three votes each. Some tickets fit two classes, and some annotators do not read. So people share
# mistakes as they do in practice, and the share of correct labels that votes alone let one expect is close to the truth.
set -- --theme tickets --model ambiguous --items 2000 --workers 30 --classes 4 --votes-per-item 3 --accuracy .97 --spammers .1 --seed 7
echo "\$ dissent synth $* --gold gold.csv --text texts.csv -o votes.csv"
"$dissent" synth "$@" --gold "$folder/gold.csv" --text "$folder/texts.csv" -o "$folder/votes.csv"
echo
echo "\$ dissent labels votes.csv -o labels.csv"
"$dissent" labels "$folder/votes.csv" -o "$folder/labels.csv"
echo
echo "\$ dissent review votes.csv: the expected share of correct labels, from the votes alone"
"$dissent" review "$folder/votes.csv" -o "$folder/review.csv"
echo

set -- "$folder/gold.csv"
for method in $("$dissent" list methods | grep '^[a-z]' | cut -d' ' -f1); do
    case $method in crowdlab | kos) continue ;; esac # crowdlab needs predictions of a model, kos has two classes
    "$dissent" labels "$folder/votes.csv" --quiet --method "$method" -o "$folder/$method.csv"
    set -- "$@" "$method=$folder/$method.csv"
done
for combiner in $("$dissent" list combiners | grep '^[a-z]' | cut -d' ' -f1); do
    "$dissent" labels "$folder/votes.csv" --quiet --method papers --combine "$combiner" -o "$folder/combined-$combiner.csv"
    set -- "$@" "$combiner of the papers' four views=$folder/combined-$combiner.csv"
done
set -- "$@" "the default=$folder/labels.csv"
echo "every method and combination against the truth (NLL: mean of -log p at the true class; lower is better)"
"$score" "$@"
echo

echo "\$ dissent eval majority.csv mace.csv glad.csv --gold gold.csv --votes votes.csv --human-labels standard"
(cd "$folder" && "$dissent" eval majority.csv mace.csv glad.csv --gold gold.csv --votes votes.csv --human-labels standard \
    --resamples 200 --format text --quiet)
echo
echo "\$ dissent report --votes votes.csv --gold checked.csv --texts texts.csv --text text -o crowd.html"
head -201 "$folder/gold.csv" > "$folder/checked.csv" # 200 tickets, as if checked by hand
(cd "$folder" && "$dissent" report --votes votes.csv --gold checked.csv --texts texts.csv --text text \
    --title "Support tickets" --quiet -o crowd.html)
echo

echo "Now models. People disagree on some texts more than on others. A model is trained on two thirds of them, once on majority"
echo "labels and once on the shares of the votes, and predicts the rest."
set -- --theme reviews --model ambiguous --items 4000 --workers 80 --classes 3 --votes-per-item 3 --accuracy .97 --spammers .1 --seed 7
echo "\$ dissent synth $* --text texts.csv --gold truth.csv -o opinions.csv"
cd "$folder"
"$dissent" synth "$@" --text texts.csv --gold truth.csv -o opinions.csv
"$dissent" labels opinions.csv --method standard --quiet -o people.csv
awk 'NR == 1 || NR % 3' texts.csv > learn.csv
awk 'NR == 1 || NR % 3 == 0' texts.csv > unseen.csv
for way in hard=silver soft=soft-ce; do
    name=${way%%=*}
    echo "\$ dissent train --items learn.csv --labels people.csv --objective ${way#*=} --dev .1 --keep accuracy -o $name"
    "$dissent" train --items learn.csv --labels people.csv --objective "${way#*=}" --dev .1 --keep accuracy -o "$name"
    "$dissent" predict "$name" --items unseen.csv --quiet -o "$name.csv"
done
echo
echo "\$ dissent eval hard.csv soft.csv --gold truth.csv --human people.csv: similar accuracy, closer to people"
"$dissent" eval hard.csv soft.csv --gold truth.csv --human people.csv --lenient --resamples 200 --format text --quiet \
    --metric accuracy --metric kl --metric cross_entropy --metric entropy_correlation
awk -F, 'NR == FNR { seen[$1] = 1; next } $1 in seen' unseen.csv opinions.csv > votes-unseen.csv
awk -F, 'NR == FNR { seen[$1] = 1; next } $1 in seen' unseen.csv truth.csv > gold-unseen.csv
"$dissent" report --votes votes-unseen.csv --gold gold-unseen.csv --pred hard=hard.csv --pred soft=soft.csv --human-labels standard \
    --model hard=hard --model soft=soft \
    --title "Two models and the people who taught them" --quiet -o report.html
echo
echo "support tickets:      file://$folder/crowd.html"
echo "two models:           file://$folder/report.html"
echo "all other files:      $folder"
