"""Coverage of the intervals of agreement, groups and eval, and rejections of compare, on simulated crowds.

    PYTHONPATH=build/python python3 bench/truth/annotator_coverage.py [--crowds N] [agreement|groups|compare|eval ...]

Items have a score x ~ N(0, 1); annotators have thresholds of their own (standard deviation `spread`) and vote 1 where
x + .6 N(0, 1) is above the threshold. An interval covers when it holds the mean of the coefficient over all crowds of
the row. Groups have thresholds of their own population. The two models of `compare` have thresholds at -.4 and .4:
against annotators of this population neither is better.
docs/evidence/agreement.md, groups.md, comparing.md and evaluation.md have the figures of this script.
"""

import argparse

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


def share_held(rows):
    """Of rows (value, low, high): the share of intervals that hold the mean value."""
    value, low, high = np.array(rows, dtype=float).T
    defined = ~np.isnan(low)
    return np.mean((low[defined] <= value.mean()) & (value.mean() <= high[defined]))


def add_metric(rows, name, m):
    if m.value is not None:
        ends = (np.nan, np.nan) if m.ci_low is None else (m.ci_low, m.ci_high)
        rows.setdefault(name, []).append((m.value, *ends))


def coverage(n, over, **kind):
    """Share of intervals that hold the mean value, by coefficient."""
    rng = np.random.default_rng(1)
    rows = {}
    for _ in range(n):
        found = dissent.agreement(
            crowd(rng, **kind)[1], items=False, workers=False, resamples=200, over=over, n_jobs=1
        )
        for name in NAMES:
            add_metric(rows, name, found[name])
    return {name: share_held(row) for name, row in rows.items()}


def two_groups(rng, sizes, items, votes_per_item):
    """Scores of the items, votes, and the group of each annotator: thresholds -.3 +- .5 and .5 +- .3."""
    group = np.repeat((0, 1), sizes)
    threshold = np.array((-0.3, 0.5))[group] + np.array((0.5, 0.3))[group] * rng.normal(size=len(group))
    x = rng.normal(size=items)
    label = x[:, None] + 0.6 * rng.normal(size=(items, len(group))) > threshold
    voted = np.ones(label.shape, bool)
    if votes_per_item:
        voted = np.argsort(rng.random(label.shape), axis=1) < votes_per_item
    task, worker = np.nonzero(voted)
    votes = {"task": task, "worker": worker, "label": label[task, worker].astype(int)}
    return x, votes, {w: "ab"[g] for w, g in enumerate(group.tolist())}


def group_coverage(n, over, **kind):
    rng = np.random.default_rng(1)
    rows = {}
    for _ in range(n):
        _, votes, people = two_groups(rng, **kind)
        found = dissent.group_agreement(
            votes, dissent.Groups(people, min_group=2), permutations=0, resamples=200, over=over, n_jobs=1
        )
        for table, names in ((found.groups, ("within", "across", "index")), (found.pairs, ("difference",))):
            for name in names:
                rows.setdefault(name, []).append([table[name + end][0] for end in ("", "_ci_low", "_ci_high")])
        add_metric(rows, "apart", found.apart)
    return {name: share_held(row) for name, row in rows.items()}


def whom_coverage(n, over, **kind):
    """Of group_evaluation: a model of the class x > 0 against the votes of the two groups."""
    rng = np.random.default_rng(2)
    rows = {}
    for _ in range(n):
        x, votes, people = two_groups(rng, **kind)
        p = 1 / (1 + np.exp(-2 * x))
        model = {"task": list(range(kind["items"])), "p:0": 1 - p, "p:1": p}
        columns = {name: column.tolist() for name, column in votes.items()}
        found = dissent.group_evaluation(
            model, columns, dissent.Groups(people, min_group=2), permutations=0, resamples=200, over=over, n_jobs=1
        )
        for name in ("log_loss", "agreement", "apart"):
            row = [found.groups[name + end][0] for end in ("", "_ci_low", "_ci_high")]
            rows.setdefault("model " + name, []).append(row)
    return {name: share_held(row) for name, row in rows.items()}


PEOPLE = ("cross_entropy", "human_entropy", "kl", "jsd", "total_variation", "entropy_correlation", "entropy_similarity")


def eval_coverage(n, over, labels, **kind):
    """Of a model of two classes, logit 2 x + noise, against the labels that `labels` makes of the votes."""
    rng = np.random.default_rng(3)
    rows = {}
    for _ in range(n):
        x, votes = crowd(rng, **kind)
        p = 1 / (1 + np.exp(-2 * (x + 0.4 * rng.normal(size=len(x)))))
        model = {"task": list(range(len(x))), "p:0": 1 - p, "p:1": p}
        human = labels(n_jobs=1).fit({name: column.tolist() for name, column in votes.items()})
        found = dissent.evaluate(model, human=human, resamples=200, over=over, n_jobs=1)
        for name in PEOPLE:
            add_metric(rows, name, found[name])
    return {name: share_held(row) for name, row in rows.items()}


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


def show(kind, over, values):
    print(kind, over, *(f"{name} {x:.3f}" for name, x in values.items()), flush=True)


def agreement_rows(n):
    rows = [dict(annotators=j, items=300, votes_per_item=0, spread=0.5) for j in (5, 10, 20, 50)]
    rows += [
        dict(annotators=50, items=60, votes_per_item=0, spread=0.3),
        dict(annotators=10, items=300, votes_per_item=0, spread=0.4, shift=1.6),
        dict(annotators=20, items=300, votes_per_item=4, spread=0.5),
        dict(annotators=10, items=300, votes_per_item=0, spread=0, noise=0.05),
    ]
    for kind in rows:
        for over in ("annotators", "items"):
            show(kind, over, coverage(n, over, **kind))


def group_rows(n):
    settings = (((5, 5), 0), ((10, 10), 0), ((10, 10), 6), ((5, 20), 0), ((25, 25), 0), ((25, 25), 6))
    for sizes, votes_per_item in settings:
        for over in ("annotators", "items"):
            kind = dict(sizes=sizes, items=200, votes_per_item=votes_per_item)
            show(kind, over, group_coverage(n, over, **kind) | whom_coverage(n, over, **kind))


def compare_rows(n):
    for j, votes_per_item in ((3, 0), (5, 0), (10, 0), (20, 0), (50, 0), (10, 3), (20, 3), (50, 5)):
        kind = dict(annotators=j, items=300, votes_per_item=votes_per_item, spread=0.5)
        for over in ("annotators", "items"):
            show(kind, over, dict(zip(("accuracy", "macro_f1"), rejections(n, over, **kind))))


def eval_rows(n):
    for j, votes_per_item, labels in (
        (5, 0, dissent.Standard),
        (10, 0, dissent.Standard),
        (20, 0, dissent.Standard),
        (50, 0, dissent.Standard),
        (20, 4, dissent.Standard),
        (50, 5, dissent.Standard),
        (20, 4, dissent.Smoothed),
        (20, 4, dissent.Softmax),
    ):
        kind = dict(annotators=j, items=300, votes_per_item=votes_per_item, spread=0.5)
        for over in ("annotators", "items"):
            show({**kind, "labels": labels.__name__}, over, eval_coverage(n, over, labels, **kind))


PARTS = {"agreement": agreement_rows, "groups": group_rows, "compare": compare_rows, "eval": eval_rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="*", choices=[[], *PARTS], help="default: all")
    parser.add_argument("--crowds", type=int, default=400, help="per row")
    args = parser.parse_args()
    for part in args.part or PARTS:
        print(part, flush=True)
        PARTS[part](args.crowds)


if __name__ == "__main__":
    main()
