#!/usr/bin/env python3
"""Writes the files of papers/experiments/lewidi-2025-encoder.yaml from the official files of Le-Wi-Di 2025.

    papers/tools/prepare_lewidi_texts.py DATA OUT [DISSENT]

DATA has SET/orig/SET_train.json, SET_dev.json and SET_test.json of Paraphrase and VariErrNLI. Training and development
items become one file, `train`; their ids start with the name of their split. For each set and for train and test,
OUT/SET gets these files:

    plain.train.csv, plain.train.votes.csv    the texts alone
    all.train.csv                             the texts, then the explanations of all annotators (votes: those of plain)
    own.train.csv, own.train.votes.csv        one item per item and annotator (ITEM#ANNOTATOR): the texts, then the
                                              explanations of this annotator

VariErrNLI asks three questions per item. The second text of such an item starts with the question's name.
"""

import csv
import json
import pathlib
import subprocess
import sys


def read(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def write(path, columns, rows):
    with open(path, "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(columns)
        out.writerows(rows)


def explanations(path):
    """Item id: [(annotator, explanation)], in the order of the file. Annotators with several labels occur several times."""
    found = {}
    for item, row in json.loads(path.read_text(encoding="utf-8")).items():
        names = row["annotators"].split(",")
        texts = row["other_info"]["explanations"]
        if len(names) != len(texts):
            sys.exit(f"{path}: item {item} has {len(names)} annotators and {len(texts)} explanations")
        found[item] = [(name, " ".join(text.split())) for name, text in zip(names, texts)]
    return found


def second_text(row, texts):
    """The second text of an item with its question and the explanations."""
    head = f"{row['part']}: {row['text_2']}" if row.get("part") else row["text_2"]
    return " ".join([head, *(f"Explanation: {text}" for text in texts)])


def official_rows(tool, name, path, folder):
    """Votes and texts of an official file."""
    votes, texts = folder / "votes.csv", folder / "texts.csv"
    command = [tool, "eval", "--perspectives", name, "--official", path, "--quiet"]
    subprocess.run([*command, "--save-votes", votes, "--save-texts", texts], check=True)
    rows = read(votes), read(texts)
    votes.unlink()
    texts.unlink()
    return rows


def prepare(name, part, splits, data, folder, tool):
    plain, everyone, own, votes, own_votes = [], [], [], [], []
    for split in splits:
        path = data / name / "orig" / f"{name}_{split}.json"
        why = explanations(path)
        official_votes, texts = official_rows(tool, name, path, folder)
        prefix = "" if split == "test" else f"{split}_"
        rows = {row["task"]: row for row in texts}
        given = {task: why[task.split(":")[0]] for task in rows}
        for task, row in rows.items():
            plain.append((prefix + task, row["text"], second_text(row, [])))
            everyone.append((prefix + task, row["text"], second_text(row, [x for _, x in given[task]])))
        for vote in official_votes:
            task, worker = vote["task"], vote["worker"]
            row, item = rows[task], f"{prefix}{task}#{worker}"
            votes.append((prefix + task, worker, vote["label"]))
            own.append((item, row["text"], second_text(row, [x for w, x in given[task] if w == worker])))
            own_votes.append((item, worker, vote["label"]))
    for kind, table in (("plain", plain), ("all", everyone), ("own", own)):
        write(folder / f"{kind}.{part}.csv", ["task", "text", "text_2"], table)
    for kind, table in (("plain", votes), ("own", own_votes)):
        write(folder / f"{kind}.{part}.votes.csv", ["task", "worker", "label"], table)


def main(data, out, tool="dissent"):
    for name in ("Paraphrase", "VariErrNLI"):
        folder = pathlib.Path(out) / name
        folder.mkdir(parents=True, exist_ok=True)
        for part, splits in (("train", ("train", "dev")), ("test", ("test",))):
            prepare(name, part, splits, pathlib.Path(data), folder, tool)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
