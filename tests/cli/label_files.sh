#!/bin/sh
# The label files that the tool writes, as Python reads them: CSV, TSV, JSONL and npy hold the same tasks, labels and numbers,
# and any of them can be combined with the others.
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf 'task,worker,label\n"a,1",ann,yes\n"a,1",bob,no\n"say ""hi""",ann,"no, never"\n" b ",bob,no\nü,cy,yes\nü,ann,no\nü,bob,yes\n' >votes.csv
for format in csv tsv jsonl npy; do
    "$DISSENT" labels votes.csv --method softmax --quiet -o labels.$format
done
python3 - <<'PYTHON'
import csv, json, math, struct
rows = list(csv.reader(open("labels.csv", newline="", encoding="utf-8")))
assert rows == list(csv.reader(open("labels.tsv", newline="", encoding="utf-8"), delimiter="\t"))
classes = ["no", "no, never", "yes"]
assert rows[0] == ["task", "label", "entropy"] + ["p:" + c for c in classes], rows[0]
lines = [json.loads(line) for line in open("labels.jsonl", encoding="utf-8")]
npy = open("labels.npy", "rb").read()
assert npy[:8] == b"\x93NUMPY\1\0" and b"'shape': (4, 3)" in npy[:128]
p = struct.unpack("<12d", npy[128:])
assert open("labels.tasks.txt", encoding="utf-8").read() == 'a,1\nsay "hi"\n b \nü\n'
assert open("labels.classes.txt", encoding="utf-8").read() == "no\nno, never\nyes\n"
assert [r[0] for r in rows[1:]] == ["a,1", 'say "hi"', " b ", "ü"]
for i, row in enumerate(rows[1:]):
    numbers = [float(x) for x in row[3:]]
    assert numbers == list(p[3 * i : 3 * i + 3]) == list(lines[i]["p"].values()), row
    assert list(lines[i]["p"]) == classes and lines[i]["task"] == row[0] and lines[i]["label"] == row[1]
    assert row[1] == classes[numbers.index(max(numbers))]
    assert abs(float(row[2]) + sum(x * math.log(x) for x in numbers)) < 1e-15
    assert all(len(x) <= len(repr(float(x))) for x in row[2:])
PYTHON
"$DISSENT" combine labels.csv labels.npy labels.jsonl labels.tsv --combine average --quiet -o all.csv
cmp labels.csv all.csv
