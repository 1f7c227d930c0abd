#!/usr/bin/env python3
"""How well labels foretell votes that they were not made from, on crowds with ordered classes (data not included).

    bench/ordinal_votes.py DISSENT DATA [FOLDS]

Votes are dealt into five folds (a worker's second vote on an item is left out); labels are made from four of them, by
`dissent labels` as it is and with `--scale ordinal`, and each vote of the fifth is foretold by the label of its item:
log-loss in nats with probabilities of at least 1e-12, and the ranked probability score. docs/kinds.md has the table."""

import csv
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

SETS = {
    "POPQUORN, offensiveness 1 to 5": "popquorn/annotations.csv",
    "Le-Wi-Di 2025 CSC, sarcasm 1 to 6": "lewidi2025/CSC/annotations.csv",
    "Le-Wi-Di 2025 Paraphrase, -5 to 5": "lewidi2025/Paraphrase/annotations.csv",
    "ConvAbuse, severity -3 to 1": "lewidi2023/ConvAbuse/annotations_severity.csv",
    "s4 relevance, 0 to 2": "benchmarks/s4_Relevance/annotations.csv",
}
LEFT_OUT = {"benchmarks/s4_Relevance/annotations.csv": "3"}  # no grade: votes for it do not lie between the others
WAYS = {"nominal": [], "standard": ["--method", "standard"], "ordinal": ["--scale", "ordinal"]}


def read(folder, path):
    votes = {}
    with open(folder / path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["label"] != LEFT_OUT.get(path):
                votes.setdefault((row["task"], row["worker"]), row["label"])
    classes = sorted(set(votes.values()), key=float)
    return [(task, worker, label) for (task, worker), label in votes.items()], classes


def labels(dissent, votes, classes, options, folder):
    path = Path(folder) / "votes.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("task", "worker", "label"), *votes])
    out = subprocess.run([dissent, "labels", str(path), "--quiet", "--classes", ",".join(classes), *options], check=True, capture_output=True, text=True)
    rows = csv.DictReader(out.stdout.splitlines())
    return {row["task"]: [float(row[f"p:{c}"]) for c in classes] for row in rows}


def main():
    dissent, data, folds = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 5
    print("| crowd | " + " | ".join(f"{way}: log-loss, RPS" for way in WAYS) + " |")
    for title, path in SETS.items():
        votes, classes = read(data, path)
        draw = random.Random(0)
        fold = [draw.randrange(5) for _ in votes]
        cells = []
        for options in WAYS.values():
            loss = score = n = 0
            for f in range(folds):
                with tempfile.TemporaryDirectory() as folder:
                    p = labels(dissent, [v for v, g in zip(votes, fold) if g != f], classes, options, folder)
                for (task, _, label), g in zip(votes, fold):
                    if g != f or task not in p:
                        continue
                    k, q, n, below = classes.index(label), p[task], n + 1, 0.0
                    loss -= math.log(max(q[k], 1e-12))
                    for j, x in enumerate(q):
                        below += x
                        score += (below - (j >= k)) ** 2
            cells.append(f"{loss / n:.3f}, {score / n:.3f}")
        print(f"| {title} | " + " | ".join(cells) + " |", flush=True)


main()
