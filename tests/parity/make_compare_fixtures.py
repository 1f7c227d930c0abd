"""Makes tests/parity/fixtures/compare.*.csv and views.*.csv: what scipy and scikit-learn say about made-up predictions.

    python make_compare_fixtures.py        (needs scipy, scikit-learn; run only when a fixture is added, the results are committed)

compare.groups.csv, compare.rank_tests.csv: groups of numbers and their Mann-Whitney tests (mannwhitneyu, method="auto").
compare.mcnemar.csv: counts of items that one side alone has right, and p of binomtest or of chi2 with continuity correction.
compare.rows.csv, compare.kurtosis.csv: rows of numbers and their excess kurtosis.
compare.items.csv, compare.scalars.csv: two sides of three seeds on 150 items of 5 classes with human soft labels.
views.scalars.csv: distances between the four views of k5 (made by make_fixtures.py) and to their centroid.
"""
import csv
import os

import numpy as np
from scipy.spatial.distance import jensenshannon
from scipy.stats import binomtest, chi2, entropy, kurtosis, mannwhitneyu, pearsonr
from sklearn.metrics import accuracy_score, f1_score

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fixtures")


def write(name, header, rows):
    with open(os.path.join(OUT, name), "w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(header)
        w.writerows([[repr(float(x)) if isinstance(x, (float, np.floating)) else x for x in row] for row in rows])


def groups(r):
    """Sizes on both sides of the exact test's limit, with and without ties, shifted and not."""
    yield r.normal(size=5), r.normal(size=4) + 1
    yield r.normal(size=8), r.normal(size=40)
    yield r.normal(size=300), r.normal(size=3) + 2
    yield r.normal(size=1), r.normal(size=1)
    yield r.normal(size=1), r.normal(size=9)
    yield r.normal(size=9), r.normal(size=9) + .5
    yield r.normal(size=60), r.normal(size=45) - .2
    yield r.integers(4, size=6).astype(float), r.integers(5, size=7).astype(float)
    yield r.integers(3, size=80).astype(float), r.integers(4, size=50).astype(float)
    yield np.full(7, 2.), np.full(12, 2.)
    yield np.round(r.normal(size=400), 1), np.round(r.normal(size=260) + .15, 1)
    yield np.array([-0., 0., 1., -1.]), np.array([0., 2., -3.])


def rank_tests():
    r = np.random.default_rng(11)
    numbers, tests = [], []
    for case, (x, y) in enumerate(groups(r)):
        numbers += [[case, "x", v] for v in x] + [[case, "y", v] for v in y]
        for alternative in ("two-sided", "less", "greater"):
            t = mannwhitneyu(x, y, alternative=alternative, method="auto")
            exact = int(min(len(x), len(y)) <= 8 and len(set(np.r_[x, y])) == len(x) + len(y))
            tests.append([case, alternative, t.statistic, t.pvalue, exact])
    write("compare.groups.csv", ["case", "group", "value"], numbers)
    write("compare.rank_tests.csv", ["case", "alternative", "u", "p", "exact"], tests)


def mcnemar():
    rows = []
    for b, c in [(0, 0), (1, 0), (3, 9), (12, 12), (24, 0), (25, 0), (12, 13), (13, 13), (30, 21), (200, 150), (3, 400), (10000, 10321)]:
        n = b + c
        if n < 25:
            statistic, p = min(b, c), binomtest(b, n, .5).pvalue if n else 1.
        else:
            statistic = max(abs(b - c) - 1, 0) ** 2 / n
            p = chi2.sf(statistic, 1)
        rows.append([b, c, float(statistic), float(p), int(n < 25)])
    write("compare.mcnemar.csv", ["only_a", "only_b", "statistic", "p", "exact"], rows)


def moments():
    r = np.random.default_rng(12)
    rows = [r.dirichlet(np.full(12, .3)) for _ in range(6)] + [np.eye(12)[3]] + [r.normal(size=12) * 1e3 + 1e5 for _ in range(3)]
    write("compare.rows.csv", ["row"] + [f"x{i}" for i in range(12)], [[i, *row] for i, row in enumerate(rows)])
    write("compare.kurtosis.csv", ["row", "kurtosis"], [[i, kurtosis(row)] for i, row in enumerate(rows)])


def sides():
    r = np.random.default_rng(13)
    n, k, seeds = 150, 5, 3
    counts = np.array([r.multinomial(6, r.dirichlet(np.full(k, .4))) for _ in range(n)])
    p = np.exp(counts) / np.exp(counts).sum(1, keepdims=True)
    gold = np.array([r.choice(k, p=row) for row in p])
    gold[gold == 4] = 3  # a class that only predictions have
    side = {}
    for name, skill in (("a", .75), ("b", .6)):
        side[name] = [np.where(r.random(n) < skill, gold, r.integers(k, size=n)) for _ in range(seeds)]
    header = ["task", "gold"] + [f"{s}{i}" for s in "ab" for i in range(seeds)] + [f"p{i}" for i in range(k)]
    write("compare.items.csv", header,
          [[f"t{i}", gold[i], *(side[s][j][i] for s in "ab" for j in range(seeds)), *p[i]] for i in range(n)])
    scalars = {}
    for s in "ab":
        accuracy = [accuracy_score(gold, x) for x in side[s]]
        f1 = [f1_score(gold, x, average="macro") for x in side[s]]
        scalars |= {f"accuracy_{s}": np.mean(accuracy), f"macro_f1_{s}": np.mean(f1), f"accuracy_sd_{s}": np.std(accuracy, ddof=1),
                    f"macro_f1_sd_{s}": np.std(f1, ddof=1)}
        pooled = np.tile(gold, seeds), np.concatenate(side[s])
        scalars |= {f"pooled_accuracy_{s}": accuracy_score(*pooled), f"pooled_macro_f1_{s}": f1_score(*pooled, average="macro")}
    right = {s: np.array(side[s]) == gold for s in "ab"}
    cells = {"both_right": right["a"] & right["b"], "both_wrong": ~right["a"] & ~right["b"],
             "only_a_correct": right["a"] & ~right["b"], "only_b_correct": right["b"] & ~right["a"]}
    for name, value in (("kurtosis", kurtosis(p, axis=1)), ("entropy", entropy(p, axis=1)), ("max_probability", p.max(1))):
        every = np.tile(value, (seeds, 1))
        for cell, where in cells.items():
            scalars |= {f"{name}_{cell}": every[where].mean(), f"n_{cell}": float(where.sum())}
        x, y = (np.round(every[cells[c]], 10) for c in ("only_a_correct", "only_b_correct"))
        for alternative in ("two-sided", "less", "greater"):
            t = mannwhitneyu(x, y, alternative=alternative)
            scalars |= {f"{name}_u": t.statistic, f"{name}_p_{alternative}": t.pvalue}
    write("compare.scalars.csv", ["key", "value"], scalars.items())


def read(name):
    with open(os.path.join(OUT, name), newline="") as f:
        rows = list(csv.reader(f))[1:]
    return np.array([[float(x) for x in row[1:]] for row in sorted(rows)])


def views():
    view, centroid = [read(f"k5.view{m}.csv") for m in range(4)], read("k5.centroid.csv")

    def jsd(p, q):
        return jensenshannon(p, q, axis=1) ** 2

    pair = {(a, b): jsd(view[a], view[b]) for a in range(4) for b in range(4)}
    others = np.array([np.mean([pair[a, b] for b in range(4) if b != a], axis=0) for a in range(4)])
    hub = np.array([jsd(v, centroid) for v in view])
    scalars = {f"jsd_{a}_{b}": pair[a, b].mean() for a in range(4) for b in range(4)}
    for m in range(4):
        scalars |= {f"entropy_{m}": entropy(view[m], axis=1).mean(), f"to_others_{m}": others[m].mean(), f"to_centroid_{m}": hub[m].mean()}
    scalars |= {"hub_over_items": pearsonr(hub.ravel(), others.ravel())[0],
                "hub_over_views": pearsonr(hub.mean(1), others.mean(1))[0]}
    write("views.scalars.csv", ["key", "value"], scalars.items())


rank_tests()
mcnemar()
moments()
sides()
views()
