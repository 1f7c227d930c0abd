"""Krippendorff's alpha of dissent (written by parity.R) against the package krippendorff of PyPI.

    python3 r/parity/parity.py FOLDER"""

import csv
import sys
from pathlib import Path

import krippendorff
import numpy as np

folder = Path(sys.argv[1])
largest, n = 0.0, 0
with open(folder / "alpha.csv") as file:
    for row in csv.DictReader(file):
        with open(folder / f"votes-{row['seed']}.csv") as votes:
            cells = [(v["worker"], int(v["task"]), int(v["label"])) for v in csv.DictReader(votes)]
        workers = sorted({w for w, _, _ in cells})
        table = np.full((len(workers), max(t for _, t, _ in cells)), np.nan)
        for worker, task, label in cells:
            table[workers.index(worker), task - 1] = label
        expected = krippendorff.alpha(reliability_data=table, level_of_measurement=row["level"])
        difference = abs(float(row["value"]) - expected)
        largest, n = max(largest, difference), n + 1
        if not difference < 1e-9:
            sys.exit(f"seed {row['seed']}, {row['level']}: dissent {row['value']}, krippendorff {expected}")
assert n == 80, n
print(f"{n} values of alpha agree; the largest difference is {largest:.1e}")
