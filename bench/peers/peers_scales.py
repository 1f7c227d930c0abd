#!/usr/bin/env python3
"""Sets, numbers and comparisons: dissent and its peers on the same votes, value and time side by side.

    python peers_scales.py DISSENT [ITEMS [REPEATS]]

Votes are made up with a fixed seed. dissent is the whole command, `agree --resamples 0` (without intervals, which the
peers do not have) or `labels`, from a CSV file to the figures, on one thread; a peer gets the votes as objects in
memory, in the shape that it wants, and only its own call is timed. nltk: alpha of sets with MASI and with Jaccard
distances, alpha and mean kappa of tokens; krippendorff: interval and ratio alpha; choix: Bradley-Terry scores
(opt_pairwise). The fastest of REPEATS runs each. Needs numpy, scipy, nltk, krippendorff and choix."""

import csv
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import choix
import krippendorff
import numpy as np
from nltk.metrics.agreement import AnnotationTask
from nltk.metrics.distance import jaccard_distance, masi_distance

DRAW = random.Random(11)


def fastest(call, repeats):
    best, value = float("inf"), None
    for _ in range(repeats):
        start = time.perf_counter()
        value = call()
        best = min(best, time.perf_counter() - start)
    return best, value


def write(path, head, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])
    return str(path)


def measures(dissent, arguments):
    out = subprocess.run(
        [dissent, "agree", *arguments, "--resamples", "0", "--threads", "1", "-q", "--format", "csv"],
        check=True,
        capture_output=True,
        text=True,
    )
    return {row["measure"]: float(row["value"] or "nan") for row in csv.DictReader(out.stdout.splitlines())}


def row(what, ours, peer, name):
    print(
        f"| {what} | {ours[0]:.3f} s, {ours[1]:.12g} | {name} {peer[0]:.3f} s, {peer[1]:.12g} "
        f"| {peer[0] / ours[0]:.0f} |",
        flush=True,
    )


def sets(dissent, folder, n, repeats):
    classes = ["joy", "fear", "anger", "calm", "pride"]
    votes = []
    for i in range(n):
        likely = {c: DRAW.random() ** 2 for c in classes}
        for w in DRAW.sample(range(40), 5):
            votes.append((f"w{w}", f"t{i}", frozenset(c for c in classes if DRAW.random() < likely[c])))
    path = write(folder / "sets.csv", ("task", "worker", "label"), [(t, w, "|".join(sorted(s))) for w, t, s in votes])
    arguments = [path, "--scale", "multi-label", "--label", "label[|]"]
    ours = fastest(lambda: measures(dissent, arguments), repeats)
    for name, distance in (("masi", masi_distance), ("jaccard", jaccard_distance)):
        same = lambda a, b, d=distance: 0.0 if a == b else d(a, b)
        peer = fastest(lambda: AnnotationTask(votes, distance=same).alpha(), 1)
        row(
            f"alpha of {len(votes):,} sets, {name} (ours: all three alphas)",
            (ours[0], ours[1][f"alpha_{name}"]),
            peer,
            "nltk",
        )


def numbers(dissent, folder, n, repeats):
    table = np.full((40, n), np.nan)
    rows = []
    for i in range(n):
        x = DRAW.gauss(50, 10)
        for w in DRAW.sample(range(40), 5):
            table[w, i] = round(x + DRAW.gauss(0, 5))
            rows.append((f"t{i}", f"w{w}", int(table[w, i])))
    path = write(folder / "numbers.csv", ("task", "worker", "label"), rows)
    ours = fastest(lambda: measures(dissent, [path, "--scale", "numeric"]), repeats)
    for level in ("interval", "ratio"):
        peer = fastest(lambda: float(krippendorff.alpha(table, level_of_measurement=level)), repeats)
        row(
            f"alpha of {len(rows):,} numbers, {level} (ours: both, and the model)",
            (ours[0], ours[1][f"alpha_{level}"]),
            peer,
            "krippendorff",
        )


def comparisons(dissent, folder, n, repeats):
    score = {f"m{k}": DRAW.gauss(0, 1) for k in range(50)}
    rows, wins = [], []
    for q in range(n):
        a, b = DRAW.sample(sorted(score), 2)
        first = DRAW.random() < 1 / (1 + np.exp(score[b] - score[a]))
        rows.append((f"q{q}", a, b, a if first else b, f"w{q % 7}"))
        wins.append((int((a if first else b)[1:]), int((b if first else a)[1:])))
    path = write(folder / "pairs.csv", ("task", "a", "b", "winner", "worker"), rows)
    command = [
        dissent,
        "labels",
        path,
        "--scale",
        "pairwise",
        "--task",
        "task",
        "--method",
        "bradley-terry:reliability=no,penalty=.01",
        "--threads",
        "1",
        "-q",
        "--format",
        "jsonl",
    ]

    def ours():
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return {r["thing"]: r["score"] for r in map(json.loads, out.splitlines())}["m0"]

    def peer():
        found = choix.opt_pairwise(50, wins, alpha=0.01, method="Newton-CG", tol=1e-12)
        return float(found[0] - np.mean(found))

    row(
        f"Bradley-Terry, {n:,} comparisons of 50 things, score of the first",
        fastest(ours, repeats),
        fastest(peer, repeats),
        "choix",
    )


def tokens(dissent, folder, n, repeats):
    rows, table = [], []
    for d in range(n // 100):
        true = [
            (s, s + DRAW.randint(2, 8), DRAW.choice(["PER", "LOC"])) for s in range(3, 90, 12) if DRAW.random() < 0.8
        ]
        for w in range(3):
            mine = [(s + DRAW.choice([0, 0, 1]), e, c) for s, e, c in true if DRAW.random() < 0.85] + [(98, 100, "PER")]
            rows += [(f"d{d}", f"w{w}", *m) for m in mine]
            label = ["O"] * 100
            for s, e, c in mine:
                label[s:e] = [c] * (e - s)
            table += [(f"w{w}", f"{d}/{i}", x) for i, x in enumerate(label)]
    path = write(folder / "spans.csv", ("task", "worker", "start", "end", "label"), rows)
    ours = fastest(lambda: measures(dissent, [path, "--scale", "spans"]), repeats)
    peer = fastest(lambda: AnnotationTask(table).alpha(), 1)
    row(
        f"alpha of {len(table):,} tokens in {len(rows):,} spans (ours: all of agree)",
        (ours[0], ours[1]["alpha_tokens"]),
        peer,
        "nltk",
    )


def main():
    dissent, n, repeats = (
        sys.argv[1],
        int(sys.argv[2]) if len(sys.argv) > 2 else 2000,
        int(sys.argv[3]) if len(sys.argv) > 3 else 3,
    )
    print("| figure | dissent | peer | times |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for kind in (sets, numbers, comparisons, tokens):
            kind(dissent, Path(folder), n, repeats)


if __name__ == "__main__":
    main()
