#!/usr/bin/env python3
"""Rates of `dissent panel` beside ppi-python's: prediction-powered means with tuned lambda, and the classical interval.

    pip install ppi-python
    python/parity/ppi_parity.py build/dissent

Ten made-up panels, two models each, people on a part of the items, two to four classes. Exits with 1 when a value
differs by more than 1e-9."""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from ppi_py import classical_mean_ci, ppi_mean_ci


def panel(seed, folder):
    rng = np.random.default_rng(seed)
    n, classes = int(rng.integers(200, 600)), int(rng.integers(2, 5))
    truth = rng.choice(classes, n, p=rng.dirichlet(np.ones(classes) * 3))
    labelled = rng.random(n) < rng.uniform(0.2, 0.6)
    rows = []
    for i in range(n):
        for m in range(2):
            rows.append((i, f"m{m}", "model", truth[i] if rng.random() < 0.6 + 0.2 * m else rng.integers(classes)))
        for h in range(int(rng.integers(1, 4)) if labelled[i] else 0):
            rows.append((i, f"h{h}", "human", truth[i] if rng.random() < 0.85 else rng.integers(classes)))
    path = Path(folder) / "votes.csv"
    with open(path, "w", newline="") as f:
        csv.writer(f).writerows([("task", "worker", "kind", "label"), *rows])
    return path, rows, n, classes


def theirs(rows, n, model, k):
    people, answers = [[] for _ in range(n)], np.full(n, np.nan)
    for task, worker, kind, label in rows:
        if kind == "human":
            people[task].append(label == k)
        elif worker == model:
            answers[task] = label == k
    has = np.array([len(p) > 0 for p in people])
    y = np.array([np.mean(p) for p in people if p])
    low, high = ppi_mean_ci(y, answers[has], answers[~has], alpha=0.05)
    alone = classical_mean_ci(y, alpha=0.05)
    return low.item(), high.item(), np.asarray(alone[0]).item(), np.asarray(alone[1]).item()


def main():
    tool, worst, count = sys.argv[1], 0.0, 0
    for seed in range(10):
        with tempfile.TemporaryDirectory() as folder:
            path, rows, n, classes = panel(seed, folder)
            out = Path(folder) / "rates.csv"
            subprocess.run([tool, "panel", path, "--voter-type", "kind", "-q", "-o", Path(folder) / "m.csv", "--rates", out], check=True)
            for row in csv.DictReader(open(out)):
                value, items = float(row["people"]), int(row["items_with_people"])
                if row["model"] not in ("m0", "m1") or not row["powered"] or items * value * (1 - value) < 10:
                    continue  # few items differ: dissent widens the interval
                ours = [float(row[c]) for c in ("powered_ci_low", "powered_ci_high")]
                expected = theirs(rows, n, row["model"], int(row["class"]))
                worst = max(worst, *(abs(a - b) for a, b in zip(ours, expected[:2])))
                count += 2
    print(f"{count} ends of intervals, largest difference {worst:.3g}")
    return worst > 1e-9


if __name__ == "__main__":
    sys.exit(main())
