#!/bin/sh
# A run of an experiment gives the numbers that the commands give by hand; and the example of docs/guides/experiments.md runs.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

"$DISSENT" --version --verbose | grep -q 'libyaml: present' || {
    echo "skipped: built without libyaml"
    exit 77
}
"$DISSENT" --version --verbose | grep -qi 'sqlite: absent' && {
    echo "skipped: built without SQLite"
    exit 77
}

"$DISSENT" synth --items 120 --workers 12 --classes 3 --votes-per-item 4 --seed 5 --gold gold.csv --text plain.csv -o votes.csv --quiet
# A column that says where items belong; texts of synth have neither quotes nor commas.
awk -F, 'NR == 1 { print "task,text,part"; next } { print $1 "," $2 "," (NR % 5 == 0 ? "test" : NR % 5 == 1 ? "dev" : "train") }' plain.csv >items.csv
classes=$(cut -d, -f3 votes.csv | tail -n +2 | sort -u | tr '\n' ',' | sed 's/,$//')

cat >e.yaml <<'YAML'
name: by hand
data:
  d:
    items: items.csv
    votes: votes.csv
    gold: gold.csv
    split: {by: column, column: part, train: train, dev: dev, test: test}
    human: softmax
labels:
  both: {methods: [dawid-skene, standard], combine: average}
defaults: {labels: both, model: "text:width=8,hidden=8", epochs: 3, batch: 16, rate: .01}
seeds: [3]
measure:
  test: [accuracy, macro_f1, cross_entropy, kl, entropy_correlation, calibrated_log_likelihood]
cells:
  - {objective: [soft-ce, gold+kl, gold, silver]}
YAML
"$DISSENT" experiment run e.yaml --store store --quiet
"$DISSENT" experiment table e.yaml --store store --format csv -o table.csv --quiet

# compare CELL METRIC...: the value in m.csv stands in the row of the table.
compare() {
    cell=$1
    shift
    for metric; do
        by_hand=$(awk -F, -v m="$metric" 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i } $column["metric"] == m { print $column["value"] }' m.csv)
        ours=$(awk -v c="$cell" -v m="$metric" 'index($0, c ",test," m ",") { sub(".*,test," m ",", ""); print }' table.csv)
        test -n "$by_hand" && echo "$ours" | grep -qF ",$by_hand," || {
            echo "$cell, $metric: by hand $by_hand; experiment $ours"
            exit 1
        }
    done
}

"$DISSENT" labels votes.csv --method dawid-skene --method standard --combine average -o both.csv --quiet
"$DISSENT" labels votes.csv --method softmax -o softmax.csv --quiet
for objective in soft-ce gold+kl gold silver; do
    case $objective in
    gold) labels="" ;;
    *) labels="--labels both.csv" ;;
    esac
    # shellcheck disable=SC2086
    "$DISSENT" train --items items.csv --where part=train --dev-where part=dev --dev-gold gold.csv --dev-labels softmax.csv \
        --gold gold.csv $labels --objective $objective --model text:width=8,hidden=8 --epochs 3 --batch 16 --rate .01 --seed 3 \
        --classes "$classes" --lenient --quiet -o "model-$objective"
    "$DISSENT" predict "model-$objective" --items items.csv --where part=test -o p.csv --quiet
    "$DISSENT" eval p.csv --gold gold.csv --human softmax.csv --lenient --resamples 0 --quiet --format csv -o m.csv
    compare $objective accuracy macro_f1 cross_entropy kl entropy_correlation calibrated_log_likelihood
done

# Bands of items by how divided people are, put together again, are all items: n times the value adds up to the table's.
"$DISSENT" experiment report e.yaml --store store -o report.html --quiet
# bands TITLE METRIC
bands() {
    sed -n "/<h3>$1</,/<\/figure>/s/.*charset=utf-8,\([^\"]*\)\".*/\1/p" report.html | sed 's/%0D%0A/\n/g' >bands.csv
    test "$(grep -c '^gold,' bands.csv)" -ge 2
    for cell in soft-ce gold; do
        awk -F, -v cell=$cell -v metric="$2" '
            FNR == NR && $1 == cell { n += $3; sum += $3 * $4 }
            FNR != NR && index($0, cell "," "test," metric ",") { sub(".*,test," metric ",[^,]*,[^,]*,[^,]*,[^,]*,", ""); split($0, of, ","); d = sum / n - of[1]; found = n == 24 }
            END { if (!found || d < -1e-4 || d > 1e-4) { print cell, metric, n, sum / n, of[1]; exit 1 } }' bands.csv table.csv
    done
}
bands "Which condition is correct where people disagree?" accuracy
bands "Which condition is close to people where they disagree?" cross_entropy

# Cells of a data set lie together in the table, in whatever order the file has them.
cat >two.yaml <<'YAML'
name: two
data:
  a: {votes: votes.csv, gold: gold.csv}
  b: {votes: votes.csv, gold: gold.csv}
measure: {test: [accuracy]}
cells:
  - {name: "{data}, {labels}", data: [a, b], labels: standard}
  - {name: "{data}, {labels}", data: [a, b], labels: softmax}
YAML
"$DISSENT" experiment run two.yaml --store store --quiet
test "$("$DISSENT" experiment table two.yaml --store store --format csv --quiet | cut -d, -f1 | tail -n +2 | tr -d '\n')" = aabb

# A number that the file varies is an axis: a line of as many points as there are values, each the table's mean.
cat >votes.yaml <<'YAML'
name: by votes
data:
  a: {votes: votes.csv, gold: gold.csv}
measure: {test: [accuracy]}
seeds: 2
defaults: {votes_per_item: [1, 2, 3]}
cells:
  - {name: "{labels}, {votes_per_item}", labels: [majority, dawid-skene]}
YAML
"$DISSENT" experiment run votes.yaml --store store --quiet
"$DISSENT" experiment report votes.yaml --store store -o votes.html --quiet
"$DISSENT" experiment table votes.yaml --store store --format csv -o by-votes.csv --quiet
sed -n '/<h3>How does accuracy.* depend on votes per item?</,/<\/figure>/s/.*charset=utf-8,\([^"]*\)".*/\1/p' votes.html | sed 's/%0D%0A/\n/g' >line.csv
test "$(sed -e 1d -e '/^$/d' line.csv | cut -d, -f1,2 | tr '\n' ' ')" = "majority,1 majority,2 majority,3 dawid-skene,1 dawid-skene,2 dawid-skene,3 "
awk -F, 'FNR == NR { if (FNR > 1) of[$1 ", " $2] = $3; next }
    FNR > 1 { name = $2 "," $3; gsub(/"/, "", name); d = $10 - of[name]; n++; if (d < -1e-4 || d > 1e-4) { print name, $10, of[name]; bad = 1 } }
    END { exit bad || n != 6 }' line.csv by-votes.csv

# Tokens: whole sentences are read, and the labels say which tokens count.
awk -F, 'NR == 1 { print "task,token,sentence,part"; next } { print $1 ",w" $2 NR % 4 "," int((NR - 2) / 10) "," (NR % 5 == 0 ? "test" : NR % 5 == 1 ? "dev" : "train") }' gold.csv >tokens.csv
for part in train dev test; do
    awk -F, -v part=$part 'NR == FNR { of[$1] = $4; next } FNR == 1 || of[$1] == part' tokens.csv gold.csv >"gold-$part.csv"
done
sed -e 's/items: items.csv/items: {file: tokens.csv, kind: tokens}/' -e 's/text:width=8,hidden=8/tagger:word=6,character=4,hidden=4,layers=1,feed=8/' \
    -e 's/, cross_entropy.*]/, calibrated_log_likelihood]/' -e 's/objective: \[.*\]/objective: gold/' e.yaml >tokens.yaml
"$DISSENT" experiment run tokens.yaml --store store --quiet
"$DISSENT" experiment table tokens.yaml --store store --format csv -o table.csv --quiet
"$DISSENT" train --items tokens.csv --dev-items tokens.csv --dev-gold gold-dev.csv --gold gold-train.csv --objective gold \
    --model tagger:word=6,character=4,hidden=4,layers=1,feed=8 --epochs 3 --batch 16 --rate .01 --seed 3 --classes "$classes" --lenient --quiet -o model-tokens
"$DISSENT" predict model-tokens --items tokens.csv -o all.csv --quiet
awk -F, 'NR == FNR { of[$1] = 1; next } FNR == 1 || of[$1]' gold-test.csv all.csv >p.csv
"$DISSENT" eval p.csv --gold gold.csv --item-groups tokens.csv --lenient --resamples 0 --quiet --format csv -o m.csv
compare gold accuracy macro_f1 calibrated_log_likelihood

# The example of the manual, on a crowd of forty.
mkdir example
cd example
sed -n '/<!-- example -->/,/^```$/p' "$DISSENT_SOURCE/docs/guides/experiments.md" | sed '1,2d;$d' >small.yaml
grep -q '^name: small' small.yaml
"$DISSENT" synth --items 40 --workers 6 --classes 2 --votes-per-item 4 --seed 1 --gold gold.csv --text items.csv -o votes.csv --quiet
"$DISSENT" experiment run small.yaml --quiet
test "$("$DISSENT" experiment table small.yaml --format csv --quiet | grep -c ',test,accuracy,')" = 4
