#!/bin/sh
# Archives are unpacked as they are read: the labels, notes and errors of the plain file, in little memory and without a
# temporary file for the text. Rows end anywhere in a piece, quotes hold newlines, bad rows lie where pieces meet.
set -eu
# shellcheck source=tests/cli/support/scratch.sh
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"
"$DISSENT" synth --items 60000 --workers 500 --votes-per-item 5 --seed 3 -o plain.csv -q
# texts of many lengths, with newlines, quotes and commas; labels longer than a word
awk -F, 'NR == 1 { print "note,task,worker,label"; next }
    { text = NR % 3 ? sprintf("say \"\"%s\"\",\nand %*s", NR * 7919 % 100003, NR % 61, "go on") : "short"
      printf "\"%s\",%s,%s,label number %s\n", text, $1, $2, $3 } NR == 120000 { exit }' plain.csv >quoted.csv
awk -F, 'NR > 1 { printf "{\"task\":\"%s\",\"worker\":\"%s\",\"label\":\"%s\"}\n", $1, $2, $3 } NR == 120000 { exit }' \
    plain.csv >lines.jsonl
# every so often a row that is none: with a quote that is never closed, and with too few fields
awk 'NR % 20011 == 0 { print "\"never closed," NR } NR % 17011 == 0 { print "too,few" } 1' quoted.csv >bad.csv
{ cat plain.csv; sed -n 200000p plain.csv; } >twice.csv
{ cat plain.csv; printf '\n\n\n'; } >blank.csv

times="iterations=\|items, seed\|, [0-9.]* s" # lines that tell how long something took
# same FILE ARGUMENTS...: exit code, messages and labels of the plain file.
same() {
    file=$1
    shift
    code=0
    "$DISSENT" labels "$file" --method dawid-skene:iterations=2 "$@" --threads 2 -o one.csv 2>message || code=$?
    [ $code != 0 ] || mv one.csv expected.csv
    for archive in gz zst; do
        case $archive in gz) gzip -1 -c "$file" >"$file.gz" ;; *) zstd -q -f "$file" -o "$file.zst" ;; esac
        for threads in ${threads_used:-1 3}; do
            got=0
            "$DISSENT" labels "$file.$archive" --method dawid-skene:iterations=2 "$@" --threads $threads -o two.csv 2>other || got=$?
            [ $got = $code ] || fail "$file.$archive: exit code $got instead of $code: $(cat other)"
            [ $code != 0 ] || cmp expected.csv two.csv || fail "$file.$archive on $threads threads: other labels"
            sed "s/\.$archive//g" other | grep -v "$times" | cut -c1-70 >m2 || true
            grep -v "$times" message | cut -c1-70 >m1 || true
            diff m1 m2 || fail "$file.$archive: other messages"
        done
        rm "$file.$archive"
    done
}
command -v zstd >/dev/null || { echo "no zstd here: skipped"; exit 77; }
same plain.csv
same quoted.csv
same lines.jsonl
same blank.csv
same bad.csv
same bad.csv --lenient
same twice.csv
[ "$(grep -c "already voted" message)" = 1 ] || fail "a vote that is there twice: $(cat message)"

# JSON through the mapper, from a list on one line, a list over lines, an object by name; a table that needs the mapper
digits='function digits(n) { return n ? sprintf("%.6f", rand()) digits(n - 1) : "" } '
awk -F, "$digits"'BEGIN { srand(1); printf "[" } NR > 1 { printf "%s{\"id\":\"item %s\",\"data\":{\"text\":\"%s%*s \\\"so\\\" [it] {is\"},\"annotations\":[{\"completed_by\":{\"email\":\"worker%s@example.org\"},\"updated_at\":\"2026-03-01T09:%02d:00Z\",\"result\":[{\"from_name\":\"mood\",\"type\":\"choices\",\"value\":{\"choices\":[\"label number %s\"]}}]}]}", (NR > 2 ? "," : ""), $1, digits(9), NR % 301, "text", $2, NR % 60, $3 }
    NR == 20000 { exit } END { print "]" }' plain.csv >one-line.json
sed 's/,{"id"/,\n{"id"/g' one-line.json >list.json
awk -F, "$digits"'BEGIN { srand(1); print "{" } NR > 1 { printf "%s\"%s\":{\"text\":\"%s%*s\",\"annotators\":\"A,B\",\"annotations\":\"%s,%s\"}\n", (NR > 2 ? "," : ""), NR, digits(9), NR % 301, "text", $3, NR % 3 } NR == 20000 { exit } END { print "}" }' \
    plain.csv >object.json
awk 'NR == 15000 { sub("mood", "mood\" \"") } 1' list.json >broken.json
awk 'NR == 15000 { sub("completed_by", "nobody") } NR == 15001 { sub("{", "{\"id\":1,") } 1' list.json >lacks.json
head -c 5000000 list.json >ends.json
awk 'NR == 15000 { again = $0 } NR == 18000 { sub("09:", "10:", again); sub("label number .", "label number 1", again); print again } 1' \
    list.json >again.json
threads_used=2
studio="--preset label-studio --label mood"
same one-line.json $studio
same list.json $studio
same object.json --preset lewidi-2023
same broken.json $studio
grep -q "^dissent: broken.json:15000:[0-9]*: " message || fail "no place: $(cat message)"
same lacks.json $studio
grep -q "^dissent: lacks.json:15000:[0-9]*: " message || fail "no place: $(cat message)"
same lacks.json $studio --lenient
same ends.json $studio
same again.json $studio
grep -q "^dissent: again.json:18000:[0-9]*: .*line 15000" message || fail "no places: $(cat message)"
same again.json $studio --duplicates last
same quoted.csv --task task --worker worker --label 'label[ ,2]'
same bad.csv --task task --worker worker --label 'label[ ,2]'
same bad.csv --task task --worker worker --label 'label[ ,2]' --lenient

# damaged: said, and nothing written
gzip -1 -c plain.csv | head -c 700000 >cut.csv.gz
code=0
"$DISSENT" labels cut.csv.gz -o cut.csv 2>message || code=$?
[ $code = 3 ] && grep -q "ends too early" message && [ ! -e cut.csv ] || fail "a cut archive: $code $(cat message)"

gzip -1 -c list.json | head -c 700000 >cut.json.gz
code=0
"$DISSENT" labels cut.json.gz $studio --lenient -o cut.csv 2>message || code=$?
[ $code = 3 ] && grep -q "ends too early" message && [ ! -e cut.csv ] || fail "a cut archive of JSON: $code $(cat message)"

# labels back, with the archive beside them
"$DISSENT" labels list.json $studio --method majority -o labels.csv -q
for end in "" .gz .zst; do
    case $end in .gz) gzip -1 -k list.json ;; .zst) zstd -q list.json ;; esac
    "$DISSENT" convert labels.csv --to label-studio --source list.json$end --control mood -o import.json 2>message ||
        fail "$(cat message)"
    [ -z "$end" ] && mv import.json expected.json || cmp expected.json import.json || fail "list.json$end: another import"
    rm -f list.json.gz list.json.zst
done

# memory, and no room for the text on the disk
[ -z "${DISSENT_SANITIZE:-}" ] || exit 0
command -v python3 >/dev/null || { echo "no python3: memory was not measured"; exit 0; }
cat plain.csv >large.csv
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do awk -F, -v i=$i -v OFS=, 'NR > 1 { $1 = i $1; print }' plain.csv >>large.csv; done
gzip -1 large.csv
most=$(python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' "$DISSENT" labels large.csv.gz --method majority --memory 64M --threads 2 -o labels.csv -q)
echo "an archive of $(gzip -l large.csv.gz | awk 'NR == 2 { printf "%d", $2 / 1048576 }') MiB: $most MiB with --memory 64M"
[ "$most" -le 77 ] || fail "--memory 64M takes $most MiB"
