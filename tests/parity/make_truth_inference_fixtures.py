"""Adds to tests/parity/fixtures what the authors' own EBCC and BWA say about the two small crowds.

    python make_truth_inference_fixtures.py FOLDER

FOLDER holds ebcc.py and bwa.py of github.com/yuan-li/truth-inference-at-scale (folder code); needs NumPy 2 and SciPy. Run
only when a fixture is added, the results are committed. Both programs are run as they are, for a given number of iterations.
EBCC's random start is replaced by ours, written out below (src/labels/methods/ebcc.c, src/labels/em/em_kernel.c), so that posteriors can
be compared and not only optima. Files: NAME.REFERENCE.csv = task and one column per class.
"""
import csv
import sys
from pathlib import Path
from unittest import mock

import numpy as np

OUT = Path(__file__).resolve().parent / "fixtures"
MASK = 2**64 - 1
STREAM = 17  # DIS_STREAM_EBCC_START of src/core/random/random.h


def philox(low, high, key):
    c = [low & 0xFFFFFFFF, low >> 32, high & 0xFFFFFFFF, high >> 32]
    k = [key & 0xFFFFFFFF, key >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [k[0] + 0x9E3779B9 & 0xFFFFFFFF, k[1] + 0xBB67AE85 & 0xFFFFFFFF]
    return c


def mix(key, value):
    words = philox(value, STREAM, key)
    return words[1] << 32 | words[0]


def our_start(tuples, n_groups, seed=0, restart=0):
    """(items, classes, groups): how each class's share is split over its groups."""
    n_items, n_workers, n_classes = tuples.max(axis=0) + 1
    worker, item = [0] * n_workers, [0] * n_items
    for _, w, label in tuples.tolist():
        worker[w] = worker[w] + mix(1, label) & MASK
    for i, w, label in tuples.tolist():
        item[i] = item[i] + mix(worker[w], label) & MASK
    key = mix(seed, restart)
    parts = np.empty((n_items, n_classes, n_groups))
    for i in range(n_items):
        for k in range(n_classes):
            for m in range(n_groups):
                parts[i, k, m] = -np.log((philox(item[i], k << 32 | m - m % 4, key)[m % 4] + 0.5) * 2.0**-32)
    return parts / parts.sum(axis=2, keepdims=True)


def read_votes(name):
    with open(OUT / f"{name}.votes.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    tasks, workers = list(dict.fromkeys(r["task"] for r in rows)), list(dict.fromkeys(r["worker"] for r in rows))
    classes = sorted({r["label"] for r in rows})
    tuples = np.array([[tasks.index(r["task"]), workers.index(r["worker"]), classes.index(r["label"])] for r in rows])
    return tasks, classes, tuples


def write(name, reference, tasks, classes, p):
    with open(OUT / f"{name}.{reference}.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["task", *classes])
        out.writerows([task, *(repr(float(x)) for x in row)] for task, row in zip(tasks, p))


def after(n):
    """A test of convergence that says yes after n iterations."""
    calls = iter(range(1, 10**9))
    return mock.patch.object(np, "allclose", lambda *_, **__: next(calls) % n == 0)


def main(folder):
    sys.path.insert(0, folder)
    from bwa import bwa
    from ebcc import ebcc_vb

    for name in ("k2", "k5"):
        tasks, classes, tuples = read_votes(name)
        for n in (1, 10):
            with after(n):
                z = bwa(tuples)
            write(name, f"bwa_{n}", tasks, classes, z / z.sum(axis=1, keepdims=True))
        for groups, n in ((1, 15), (3, 12), (10, 20)):
            start = our_start(tuples, groups)
            with after(n), mock.patch.object(np.random, "dirichlet", lambda *_: start):
                z, _ = ebcc_vb(tuples, num_groups=groups)
            write(name, f"ebcc_{groups}_{n}", tasks, classes, z)


if __name__ == "__main__":
    main(sys.argv[1])
