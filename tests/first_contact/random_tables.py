#!/usr/bin/env python3
"""Random tables under names that dissent does not accept without a question: one row per vote, or one row per item and a
column per worker.

Each table has columns in random order, other columns (texts, times, durations, comments), ids of several kinds and one
of three designs: the same number of votes per item, a random number, or all workers on all items. Some have no header.
dissent must suggest commands, and the first one must read the items, workers and classes that the table was made with.
Where the names of the columns say nothing, any of the suggested commands may be the right one, and a tenth may fail.

usage: random_tables.py DISSENT [TABLES [SEED]]
"""

import csv
import json
import random
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

KNOWN = [
    ("Aufgabe", "Bewerter", "Urteil"), ("tâche", "annotateur", "étiquette"), ("tarea", "anotador", "etiqueta"),
    ("elemento", "annotatore", "etichetta"), ("zadanie", "oceniający", "ocena"), ("görev", "etiketleyen", "etiket"),
    ("taak", "beoordelaar", "antwoord"), ("Задание", "Разметчик", "Ответ"), ("任务", "标注者", "标签"), ("課題", "評価者", "評価"),
    ("my tweet", "crowd member", "stance"), ("radiograph_image", "radiologist", "finding"), ("hit no", "turker no", "ans"),
]  # fmt: skip
UNKNOWN = [("A", "B", "C"), ("var1", "var2", "var3"), ("kazi", "mkadiriaji", "lebo"), ("lot", "agent", "kod")]
CLASSES = [["yes", "no"], ["pos", "neg", "neu"], ["0", "1"], ["1", "2", "3", "4", "5"], ["a", "b", "c", "d", "e", "f", "g"]]
WORDS = "the quick brown fox jumps over a lazy dog while rain falls on green hills near old town".split()

ITEM_IDS = [
    str,
    lambda i: f"doc-{i}",
    lambda i: f"images/{i:05}.png",
    lambda i: f"{random.Random(i).getrandbits(128):032x}",
    lambda i: f"{WORDS[i % 18]} {WORDS[i * 7 % 18]} number {i}",
]
WORKER_IDS = [lambda w: str(100 + w), lambda w: f"W{w:03}", lambda w: f"w{w}@example.org", lambda w: f"{WORDS[w % 18]}{w}"]

OTHERS = {
    "content": lambda draw, i, row: " ".join(WORDS[(i * j + 3) % 18] for j in range(8)) + f" {i}",
    "created": lambda draw, i, row: f"2024-03-{1 + row % 28:02}T{row % 24:02}:{row % 60:02}:{row * 7 % 60:02}Z",
    "nr": lambda draw, i, row: str(row),
    "seconds": lambda draw, i, row: f"{draw.uniform(1, 60):.2f}",
    "remark": lambda draw, i, row: draw.choice(["", "", "ok", "hard one"]),
    "round": lambda draw, i, row: f"b{i // 10}",
}

WIDE_OTHERS = {name: OTHERS[name] for name in ("content", "created", "seconds", "remark")} | {
    "split": lambda draw, i, row: draw.choice(["train", "test"]),
    "agreed": lambda draw, i, row: draw.choice(["0.33", "0.67", "1"]),
}
WORKER_COLUMNS = [
    [f"ann{k}" for k in range(1, 9)],
    [f"Rater {k}" for k in range(1, 9)],
    [f"label_{k}" for k in range(1, 9)],
    "Anna Bob Cem Dan Eva Flo Gus Hal".split(),
    "gpt-4 claude llama mistral ann bob x y".split(),
]


def write_table(draw, path, rows, header=True):
    columns = list(rows[0])
    draw.shuffle(columns)
    if draw.random() < 0.3:
        draw.shuffle(rows)
    with open(path, "w", newline="") as f:
        out = csv.writer(f, delimiter=draw.choice(",;\t"))
        if header:
            out.writerow(columns)
        out.writerows([row[name] for name in columns] for row in rows)


def make_wide(draw, path, name):
    """Writes a table with a column per worker; returns how many items and workers it has, and its classes."""
    n_items = draw.choice([12, 30, 80, 200])
    workers = draw.choice(WORKER_COLUMNS)[: draw.choice([3, 4, 5, 8])]
    classes, item = draw.choice(CLASSES), draw.choice(ITEM_IDS)
    missing, word = draw.choice([0, 0, 0.1, 0.3]), draw.choice(["", "NA", "nan"])
    others = draw.sample(list(WIDE_OTHERS), draw.choice([0, 0, 1, 2]))
    rows, found = [], [set(), set()]
    for i in range(n_items):
        truth = draw.choice(classes)
        row = {name: item(i)}
        for k, w in enumerate(workers):
            row[w] = truth if draw.random() < 0.7 else draw.choice(classes)
            if k and draw.random() < missing:
                row[w] = word
            else:
                found[0].add(w)
                found[1].add(row[w])
        rows.append(row | {other: WIDE_OTHERS[other](draw, i, len(rows)) for other in others})
    write_table(draw, path, rows)
    return n_items, len(found[0]), sorted(found[1])


def make_table(draw, path, names, header=True):
    """Writes a table with a row per vote; returns how many items and workers it has, and its classes."""
    n_items = draw.choice([30, 80, 200])
    n_workers = draw.choice([3, 5, 12, 25])
    classes, item, worker = draw.choice(CLASSES), draw.choice(ITEM_IDS), draw.choice(WORKER_IDS)
    design = draw.choice(["even", "free", "full"] if n_workers <= 12 else ["even", "free"])
    votes = draw.choice([2, 3, 5])
    others = draw.sample(list(OTHERS), draw.choice([0, 0, 1, 2, 3]))
    rows = []
    for i in range(n_items):
        truth = draw.choice(classes)
        n = {"even": min(n_workers, votes), "free": draw.randint(1, min(n_workers, 6)), "full": n_workers}[design]
        for w in draw.sample(range(n_workers), n):
            label = truth if draw.random() < 0.7 else draw.choice(classes)
            cells = {names[0]: item(i), names[1]: worker(w), names[2]: label}
            rows.append(cells | {name: OTHERS[name](draw, i, len(rows)) for name in others})
    write_table(draw, path, rows, header)
    found = [{row[name] for row in rows} for name in names]
    return len(found[0]), len(found[1]), sorted(found[2])


def run(command, folder):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)


def check(draw, tool, folder, names, header):
    """Which of the suggested commands reads the table: 0 is the first one, None none of them. With the message."""
    path = folder / "votes.csv"
    if header and draw.random() < 0.3:
        truth = make_wide(draw, path, names[0])
    else:
        truth = make_table(draw, path, names, header)
    answer = run([tool, "labels", "votes.csv", "-q", "-o", "labels.csv", "--json", "summary.json", "--method", "majority"], folder)
    if answer.returncode != 3:
        return None, f"exit {answer.returncode}: {answer.stderr}"
    commands = [line for line in answer.stderr.splitlines() if line.startswith("  dissent labels")]
    for i, command in enumerate(commands):
        if run([tool, *shlex.split(command)[1:]], folder).returncode == 0:
            summary = json.loads((folder / "summary.json").read_text())
            if (summary["items"], summary["workers"], sorted(summary["classes"])) == truth:
                return i, answer.stderr
    return None, answer.stderr


def main(tool, tables="120", seed="1"):
    draw = random.Random(int(seed))
    tool = str(Path(tool).resolve())
    n, wrong = {True: 0, False: 0}, {True: 0, False: 0}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(int(tables)):
            known, header = draw.random() < 0.6, draw.random() < 0.8
            known = known and header
            found, message = check(draw, tool, Path(folder), draw.choice(KNOWN if known else UNKNOWN), header)
            n[known] += 1
            if found is None or (known and found > 0):
                wrong[known] += 1
                print(f"suggestion {found}: {message}")
    print(f"known names: {wrong[True]} of {n[True]} wrong; unknown names: {wrong[False]} of {n[False]} wrong")
    return int(wrong[True] > 0 or wrong[False] > 0.1 * n[False])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
