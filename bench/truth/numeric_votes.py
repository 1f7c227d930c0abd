#!/usr/bin/env python3
"""How well means foretell ratings that they were not made from (data not included).

    bench/truth/numeric_votes.py DISSENT DATA

Ratings are dealt into five folds (a worker's second rating of an item is left out). From four of them `dissent labels
--scale numeric` makes the value of each item and the bias of each worker; ratings of the fifth are foretold by the
plain mean of the item, its value, and its value with the worker's bias: root mean squared error. docs/evidence/scales.md has the
table."""

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
}


def main():
    dissent, data = sys.argv[1], Path(sys.argv[2])
    print("| ratings | plain mean | value | value and bias |\n|---|---|---|---|")
    for title, path in SETS.items():
        votes = {}
        with open(data / path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                votes.setdefault((row["task"], row["worker"]), row["label"])
        rows, draw = [(*k, v) for k, v in votes.items()], random.Random(0)
        fold, error, n = [draw.randrange(5) for _ in rows], [0.0, 0.0, 0.0], 0
        for f in range(5):
            with tempfile.TemporaryDirectory() as folder:
                source, workers = Path(folder) / "v.csv", Path(folder) / "w.csv"
                with open(source, "w", newline="", encoding="utf-8") as file:
                    csv.writer(file).writerows(
                        [("task", "worker", "label"), *(r for r, g in zip(rows, fold) if g != f)]
                    )
                out = subprocess.run(
                    [dissent, "labels", str(source), "--scale", "numeric", "-q", "--workers", str(workers)],
                    check=True,
                    capture_output=True,
                    text=True,
                )
                item = {r["task"]: r for r in csv.DictReader(out.stdout.splitlines())}
                with open(workers, newline="", encoding="utf-8") as file:
                    bias = {r["worker"]: float(r["bias"]) for r in csv.DictReader(file)}
            for (task, worker, label), g in zip(rows, fold):
                if g != f or task not in item:
                    continue
                value, n = float(item[task]["mean"]), n + 1
                for k, x in enumerate((float(item[task]["plain_mean"]), value, value + bias.get(worker, 0.0))):
                    error[k] += (float(label) - x) ** 2
        print(f"| {title} | " + " | ".join(f"{math.sqrt(e / n):.3f}" for e in error) + " |", flush=True)


main()
