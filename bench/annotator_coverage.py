"""Coverage of the intervals of agreement and rejections of compare, on simulated crowds with known truth.

    PYTHONPATH=build/python python3 bench/annotator_coverage.py [crowds per row, 400]

Items have a score x ~ N(0, 1); annotators have thresholds of their own (standard deviation `spread`) and vote 1 where
x + .6 N(0, 1) is above the threshold. An interval covers when it holds the mean of the coefficient over all crowds of the
row. The two models of `compare` have thresholds at -.4 and .4: against annotators of this population neither is better.
docs/agreement.md and docs/comparing.md have the figures of this script.
"""

import sys

import dissent
import numpy as np

NAMES = ("percent", "fleiss", "scott", "alpha_nominal", "gwet_ac1", "cohen")


def crowd(rng, annotators, items, votes_per_item, spread, shift=0.0, noise=0.0):
    """Scores of the items, and votes; votes_per_item 0: everybody votes on everything."""
    x = rng.normal(size=items)
    threshold = shift + spread * rng.normal(size=annotators)
    label = x[:, None] + 0.6 * rng.normal(size=(items, annotators)) > threshold[None, :]
    if noise:
        label = rng.random((items, annotators)) < noise
    voted = np.ones((items, annotators), bool)
    if votes_per_item:
        voted = np.argsort(rng.random((items, annotators)), axis=1) < votes_per_item
    task, worker = np.nonzero(voted)
    return x, {"task": task, "worker": worker, "label": label[task, worker].astype(int)}


def coverage(n, over, **kind):
    """Share of intervals that hold the mean value, by coefficient."""
    rng = np.random.default_rng(1)
    rows = {name: [] for name in NAMES}
    for _ in range(n):
        found = dissent.agreement(
            crowd(rng, **kind)[1], items=False, workers=False, resamples=200, over=over, n_jobs=1
        )
        for name in NAMES:
            m = found[name]
            if m.ci_low is not None:
                rows[name].append((m.value, m.ci_low, m.ci_high))
    held = {}
    for name, row in rows.items():
        value, low, high = np.array(row).T
        held[name] = np.mean((low <= value.mean()) & (value.mean() <= high))
    return held


def rejections(n, over, **kind):
    """Share of comparisons of two equally good models with p <= .05, for accuracy and macro-F1."""
    rng = np.random.default_rng(5)
    rejected = np.zeros(2)
    for _ in range(n):
        x, votes = crowd(rng, **kind)
        a, b = ((x + 0.3 * rng.normal(size=len(x)) > t).astype(int).tolist() for t in (0.4, -0.4))
        found = dissent.compare(a, b, votes=votes, resamples=500, over=over, n_jobs=1)
        rejected += [found.accuracy.p_two_sided <= 0.05, found.macro_f1.p_two_sided <= 0.05]
    return rejected / n


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    rows = [dict(annotators=j, items=300, votes_per_item=0, spread=0.5) for j in (5, 10, 20, 50)]
    rows += [
        dict(annotators=50, items=60, votes_per_item=0, spread=0.3),
        dict(annotators=10, items=300, votes_per_item=0, spread=0.4, shift=1.6),
        dict(annotators=20, items=300, votes_per_item=4, spread=0.5),
        dict(annotators=10, items=300, votes_per_item=0, spread=0, noise=0.05),
    ]
    print("agreement:", *NAMES)
    for kind in rows:
        for over in ("annotators", "items"):
            print(kind, over, *(f"{x:.3f}" for x in coverage(n, over, **kind).values()), flush=True)
    print("compare: accuracy macro_f1")
    for j, votes_per_item in ((3, 0), (5, 0), (10, 0), (20, 0), (50, 0), (10, 3), (50, 5)):
        kind = dict(annotators=j, items=300, votes_per_item=votes_per_item, spread=0.5)
        for over in ("annotators", "items"):
            print(kind, over, *(f"{x:.3f}" for x in rejections(n, over, **kind)), flush=True)


main()
