#!/bin/sh
# Measuring on ranks: eval, compare and review hold all data on each of them and share resamples, permutations and draws
# out. Standard output and files are those of one process; what goes wrong on all of them is told once.
set -eu
# shellcheck source=tests/cli/support/ranks.sh
. "$DISSENT_SOURCE/tests/cli/support/ranks.sh"

"$DISSENT" synth --items 9000 --workers 40 --seed 3 --gold gold.csv -o votes.csv -q
"$DISSENT" labels votes.csv --method dawid-skene:iterations=4 -q -o a.csv
"$DISSENT" labels votes.csv --method standard -q -o b.csv
awk -F, 'BEGIN { print "worker,side" } NR > 1 && !seen[$2]++ { print $2 "," (n++ % 2 ? "left" : "right") }' votes.csv >people.csv
same_output "eval" "1 2 3 4" eval a.csv --gold gold.csv --human b.csv --resamples 40
"$DISSENT" eval a.csv --gold gold.csv --human b.csv --resamples 40 --threads 1 -q --items one-items.csv --bins one-bins.csv
ranks 2 "$DISSENT" eval a.csv --gold gold.csv --human b.csv --resamples 40 -q --items items.csv --bins bins.csv >/dev/null
cmp one-items.csv items.csv && cmp one-bins.csv bins.csv || fail "eval: other tables"
same_output "eval with votes and groups" 3 eval a.csv b.csv --gold gold.csv --votes votes.csv --human-labels softmax \
    --worker-table people.csv --group side --resamples 20 --permutations 30
same_output "eval of perspectives" 2 eval --perspectives votes --votes votes.csv --annotators votes.csv --resamples 20
same_output "compare" "2 3" compare --a a.csv --b b.csv --gold gold.csv --human b.csv --resamples 200
head -3001 votes.csv >few.csv
same_output "review" "2 3" review few.csv --gold gold.csv --budget 50
same_output "numbers" 2 review few.csv --scale numeric
same_output "labels that are numbers" 3 labels few.csv --scale numeric
same_output "agreement of numbers" 2 agree few.csv --scale numeric --resamples 20

refused "another command" "views does not support MPI" "$DISSENT" views a.csv b.csv
refused "scores of a shared task" "perspectives does not support MPI" "$DISSENT" eval --perspectives MP --official no.json --soft no.csv
code=0
ranks 3 "$DISSENT" eval a.csv --gold nothing.csv 2>message || code=$?
[ $code = 4 ] && [ "$(grep -c "nothing.csv" message)" = 1 ] || fail "a missing file: exit code $code, $(cat message)"
# a file that one rank alone does not find: it says so, and the others end
code=0
# shellcheck disable=SC2016 # for the inner shell
ranks 2 sh -c '[ "$OMPI_COMM_WORLD_RANK" != 1 ] || cd /; exec "$@"' sh "$DISSENT" compare --a a.csv --b b.csv --gold gold.csv 2>message || code=$?
[ $code = 4 ] && grep -q "rank 1: cannot open" message || fail "a file missing on one rank: exit code $code, $(cat message)"
echo "eval, compare and review on 1 to 4 ranks give the bytes of one process"
