#!/usr/bin/env python3
"""Bradley-Terry scores: dissent and choix on the same comparisons, values and time of both in one run.

    python peers_pairwise.py [COMPARISONS [THINGS [REPEATS]]]

Comparisons are simulated with a fixed seed. Both start from objects in memory, on one thread: dissent from Votes, and
its call also computes standard errors, rank intervals, agreement and the tables (`resamples=0`: no bootstrap); choix
from its list of pairs of integers. Peers: choix.ilsr_pairwise, its usual estimator, and choix.opt_pairwise, which
maximises the same penalised likelihood, so its scores must be equal to 1e-6. dissent: the fastest of REPEATS runs;
choix: one run each. Needs numpy and choix, and PYTHONPATH=build/python."""

import sys
import time

import choix
import numpy as np

import dissent

METHOD = "bradley-terry:reliability=no,penalty=.01"


def main():
    n, things, repeats = (int(x) for x in (sys.argv[1:] + ["100000", "50", "3"][len(sys.argv) - 1 :]))
    draw = np.random.default_rng(7)
    score = draw.normal(size=things)
    a = draw.integers(things, size=n)
    b = (a + 1 + draw.integers(things - 1, size=n)) % things
    first = draw.random(n) < 1 / (1 + np.exp(score[b] - score[a]))
    names = np.array([f"m{k:04d}" for k in range(things)])
    raters = np.array([f"w{w}" for w in draw.integers(20, size=n)])
    table = {
        "a": names[a].tolist(),
        "b": names[b].tolist(),
        "worker": raters.tolist(),
        "label": np.where(first, "a", "b").tolist(),
    }
    votes = dissent.Votes(table, scale="pairwise", duplicates="all")
    wins = [(int(x), int(y)) if f else (int(y), int(x)) for x, y, f in zip(a, b, first)]

    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        found = dissent.scaled(votes, method=METHOD, resamples=0, n_jobs=1)
        best = min(best, time.perf_counter() - start)
    ours = dict(zip(found.labels["thing"], found.labels["score"]))
    ours = np.array([ours[k] for k in names])
    print(f"{n:,} comparisons of {things} things; dissent {best:.4f} s")
    for name, call in (
        ("ilsr_pairwise", lambda: choix.ilsr_pairwise(things, wins, alpha=0.01)),
        ("opt_pairwise", lambda: choix.opt_pairwise(things, wins, alpha=0.01, method="Newton-CG", tol=1e-10)),
    ):
        start = time.perf_counter()
        theirs = call()
        seconds = time.perf_counter() - start
        difference = np.abs(ours - (theirs - theirs.mean())).max()
        print(f"choix.{name}: {seconds:.3f} s, {seconds / best:.0f} times dissent's; scores differ by {difference:.1e}")


if __name__ == "__main__":
    main()
