#!/bin/sh
# Archives are unpacked as they are read: the labels, notes and errors of the plain file, in little memory and without a
# temporary file for the text. Rows end anywhere in a piece, quotes hold newlines, bad rows lie where pieces meet.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
cd "$scratch"
fail() {
    echo "$*"
    exit 1
}
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
        for threads in 1 3; do
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

# damaged: said, and nothing written
gzip -1 -c plain.csv | head -c 700000 >cut.csv.gz
code=0
"$DISSENT" labels cut.csv.gz -o cut.csv 2>message || code=$?
[ $code = 3 ] && grep -q "ends too early" message && [ ! -e cut.csv ] || fail "a cut archive: $code $(cat message)"

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
