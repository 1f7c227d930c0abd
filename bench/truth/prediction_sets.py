#!/usr/bin/env python3
"""Coverage of prediction sets on simulated crowds with known answers, and on real crowds split at random.

    PYTHONPATH=build/python python3 bench/truth/prediction_sets.py guarantee|annotators|intervals|draws|real [REPLICATES]

guarantee   realised coverage against P: 100 and 400 calibration items; 2, 5 and 20 classes; 1, 3 and 10 votes per item;
            calibrated, over- and underconfident models; skewed classes; hard items
annotators  few annotators with accuracies and habits of their own: coverage of their own answers (the guarantee) and of
            new annotators, and the estimate `new_annotators` with its interval
intervals   95 % intervals of coverage on tested items, and of the rows by class, set size and entropy
draws       the same sets from m labels drawn from the votes on each item (Monte Carlo conformal prediction)
real        half of the items of real crowds calibrate, the other half is covered (needs --data)

In a simulation, each item has a distribution of answers. The coverage of a set is the probability of its classes, so it is
known without votes on new items.
"""

import argparse
import csv
import itertools
import os

import numpy as np

import dissent


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


class World:
    """A population of items with distributions of answers, and a model of them."""

    def __init__(self, rng, n, k, temperature=1.0, noise=0.5, skew=0.0, hard=0.0):
        logits = rng.normal(0, 2, (n, k)) - skew * np.arange(k)
        logits[rng.random(n) < hard] *= 0.15  # people disagree
        self.truth = softmax(logits)
        self.model = softmax((logits + rng.normal(0, noise, (n, k))) / temperature)
        self.k = k

    def votes(self, rng, items, m):
        """m answers per item."""
        edges = np.cumsum(self.truth[items], axis=1)
        return (rng.random((len(items), m))[:, :, None] > edges[:, None, :-1]).sum(axis=2)


def table(items, labels, workers=None):
    n, m = labels.shape
    return dissent.Votes(
        {
            "task": np.repeat(items, m),
            "worker": (np.arange(n * m) if workers is None else workers).reshape(-1),
            "label": labels.reshape(-1),
        }
    )


def sets_of(world, calibration, new, votes, coverage, score="lac", seed=0):
    k = range(world.k)
    return dissent.prediction_sets(
        dissent.SoftLabels(new, k, world.model[new]),
        votes,
        calibration=dissent.SoftLabels(calibration, k, world.model[calibration]),
        coverage=coverage,
        score=score,
        allow_empty=True,
        random_state=seed,
        n_jobs=1,
    )


def covered(world, new, found):
    return (world.truth[new] * found.in_set).sum(axis=1).mean()


MODELS = {
    "calibrated": {"noise": 0.0},
    "noisy": {"noise": 1.5},
    "overconfident": {"temperature": 0.3},
    "underconfident": {"temperature": 3.0},
    "skewed classes": {"skew": 1.0},
    "hard items": {"hard": 0.5},
}


def guarantee(replicates, rng):
    print("| model | score | classes | votes | items | P | coverage | se | size |\n|---|---|---|---|---|---|---|---|---|")
    low = []
    for (name, how), score, k, m, n, p in itertools.product(
        MODELS.items(), ("lac", "aps"), (2, 5, 20), (1, 3, 10), (100, 400), (0.9,)
    ):
        values, sizes = [], []
        for r in range(replicates):
            world = World(rng, n + 200, k, **how)
            calibration, new = np.arange(n), np.arange(n, n + 200)
            found = sets_of(world, calibration, new, table(calibration, world.votes(rng, calibration, m)), p, score, r)
            values.append(covered(world, new, found))
            sizes.append(found.sizes.mean())
        mean, se = np.mean(values), np.std(values) / np.sqrt(replicates)
        low.append((mean - p) / se)
        print(f"| {name} | {score} | {k} | {m} | {n} | {p} | {mean:.4f} | {se:.4f} | {np.mean(sizes):.2f} |", flush=True)
    low = np.array(low)
    print(f"{len(low)} rows, {(low < -2).sum()} below P by more than 2 standard errors, {(low < -3).sum()} by more than 3")


class People:
    """Annotators with an own share of careless answers, and own habits in these."""

    def __init__(self, rng, n, k):
        self.careless = rng.beta(1, 3, n)
        self.habit = rng.dirichlet(np.full(k, 0.5), n)

    def answers(self, truth):
        """(annotators, items, classes)"""
        c = self.careless[:, None, None]
        return (1 - c) * truth[None] + c * self.habit[:, None, :]


def annotators(replicates, rng):
    print("| annotators | votes | items | own answers | new annotators | estimate | interval covers |\n|---|---|---|---|---|---|---|")
    k, p = 5, 0.9
    for w, m, n in itertools.product((5, 10, 30, 100), (1, 5), (100, 400)):
        own, others, estimate, hit, defined = [], [], [], 0, 0
        for r in range(replicates):
            world = World(rng, n + 3000, k)
            calibration, new = np.arange(n), np.arange(n, n + 3000)
            pool, outside = People(rng, w, k), People(rng, 300, k)
            who = np.argsort(rng.random((n, w)), axis=1)[:, :m]
            truth = pool.answers(world.truth[calibration])[who, np.arange(n)[:, None]]
            labels = (rng.random((n, m))[:, :, None] > np.cumsum(truth, axis=2)[:, :, :-1]).sum(axis=2)
            found = sets_of(world, calibration, new, table(calibration, labels, who), p, seed=r)
            own.append((pool.answers(world.truth[new]).mean(axis=0) * found.in_set).sum(axis=1).mean())
            truth_outside = (outside.answers(world.truth[new]).mean(axis=0) * found.in_set).sum(axis=1).mean()
            others.append(truth_outside)
            x = found.new_annotators
            if x is not None and x.ci_low is not None:
                estimate.append(x.value)
                defined += 1
                hit += x.ci_low <= truth_outside <= x.ci_high
        print(
            f"| {w} | {m} | {n} | {np.mean(own):.4f} | {np.mean(others):.4f} | {np.mean(estimate):.4f} | "
            f"{hit / max(defined, 1):.3f} |",
            flush=True,
        )


def intervals(replicates, rng):
    """lac: the sets of the whole population follow from the threshold."""
    print("| classes | votes | items | checked on | all | class | size | entropy |\n|---|---|---|---|---|---|---|---|")
    for (k, skew), m, n, tested in itertools.product(((3, 0.0), (5, 1.0)), (1, 5), (100, 400), (False, True)):
        hit = dict.fromkeys(("all", "class", "size", "entropy"), 0)
        seen = dict(hit)
        world = World(rng, 100000, k, noise=1.0, skew=skew)
        entropy = -(world.model * np.log(np.maximum(world.model, 1e-300))).sum(axis=1)
        for r in range(replicates):
            chosen = rng.choice(len(world.truth), 2 * n, replace=False)
            calibration, new = chosen[:n], chosen[n:]
            items = chosen if tested else calibration
            found = sets_of(world, calibration, new, table(items, world.votes(rng, items, m)), 0.9, seed=r)
            inside = world.model >= 1 - found.threshold
            size = inside.sum(axis=1)
            rows = found.rows
            for i in range(len(rows)):
                row = rows.row(i)
                by = row["by"]
                if by not in hit or row["coverage_ci_low"] is None or row["items"] < 10:
                    continue
                if by == "class":
                    c = int(row["value"])
                    truth = (world.truth[:, c] * inside[:, c]).sum() / world.truth[:, c].sum()
                else:
                    of = (
                        np.ones(len(size), bool)
                        if by == "all"
                        else size == int(row["value"])
                        if by == "size"
                        else (entropy >= row["low"]) & (entropy <= row["high"])
                    )
                    if not of.any():
                        continue
                    truth = (world.truth[of] * inside[of]).sum(axis=1).mean()
                seen[by] += 1
                hit[by] += row["coverage_ci_low"] - 1e-9 <= truth <= row["coverage_ci_high"] + 1e-9
        cells = " | ".join(f"{hit[b] / seen[b]:.3f}" for b in hit)
        print(f"| {k} | {m} | {n} | {'tested' if tested else 'calibration'} items | {cells} |", flush=True)


def draws(replicates, rng):
    print("| votes | items | labels drawn | coverage | sd | size |\n|---|---|---|---|---|---|")
    k, p = 5, 0.9
    for votes, n in itertools.product((3, 10), (100, 400)):
        for m in (1, 3, 10, 0):
            values, sizes = [], []
            for r in range(replicates):
                world = World(rng, n + 300, k)
                calibration, new = np.arange(n), np.arange(n, n + 300)
                labels = world.votes(rng, calibration, votes)
                if m:
                    labels = np.take_along_axis(labels, rng.integers(0, votes, (n, m)), axis=1)
                found = sets_of(world, calibration, new, table(calibration, labels), p, seed=r)
                values.append(covered(world, new, found))
                sizes.append(found.sizes.mean())
            print(
                f"| {votes} | {n} | {m or 'all votes'} | {np.mean(values):.4f} | {np.std(values):.4f} | {np.mean(sizes):.3f} |",
                flush=True,
            )


# ---- real crowds ----


def read_votes(path):
    with open(path, newline="") as f:
        return {(r["task"], r["worker"]): r["label"] for r in csv.DictReader(f)}


def crowd_counts(votes):
    tasks = {t: i for i, t in enumerate(dict.fromkeys(t for t, _ in votes))}
    labels = {c: i for i, c in enumerate(sorted(set(votes.values())))}
    counts = np.zeros((len(tasks), len(labels)))
    for (t, _), c in votes.items():
        counts[tasks[t], labels[c]] += 1
    return counts


def real_crowds(data):
    annotations = {
        "popquorn": "popquorn/annotations.csv",
        "MD-Agreement": "lewidi2023/MD-Agreement/annotations.csv",
        "HS-Brexit": "lewidi2023/HS-Brexit/annotations.csv",
        "ConvAbuse": "lewidi2023/ConvAbuse/annotations.csv",
        "MP": "lewidi2025/MP/annotations.csv",
        "CSC": "lewidi2025/CSC/annotations.csv",
        "pos_gimpel": "pos_gimpel/annotations.csv",
    }
    counted = {
        "chaosnli snli": "chaosnli/snli_items.csv",
        "chaosnli mnli": "chaosnli/mnli_m_items.csv",
        "chaosnli alphanli": "chaosnli/alphanli_items.csv",
        "cifar10h": "cifar10h/counts.csv",
    }
    for name, path in annotations.items():
        if os.path.exists(os.path.join(data, path)):
            yield name, crowd_counts(read_votes(os.path.join(data, path)))
    for name, path in counted.items():
        if os.path.exists(os.path.join(data, path)):
            with open(os.path.join(data, path), newline="") as f:
                rows = list(csv.DictReader(f))
            columns = [c for c in rows[0] if c[0] == "c" and (c[1] == "_" or c[1:].isdigit())]
            yield name, np.array([[float(r[c]) for c in columns] for r in rows])


def real(replicates, rng, data):
    """The model's prediction for an item: smoothed shares of half of its votes, or these sharpened (overconfident). The other
    half of the votes calibrates on half of up to 1,000 items, and tests on the other half."""
    print("| crowd | items | classes | votes per item | model | score | P | coverage | se | size |\n|---|---|---|---|---|---|---|---|---|---|")
    for name, counts in real_crowds(data):
        some = counts.sum(axis=1) >= 4
        counts = counts[some].astype(int)
        n, k = counts.shape
        for kind, score, p in itertools.product(("shares", "overconfident"), ("lac", "aps"), (0.8, 0.9)):
            values, sizes = [], []
            for r in range(replicates):
                order = rng.permutation(n)[:1000]
                m = counts[order].sum(axis=1) // 2
                first = np.zeros_like(counts)
                first[order] = [rng.multivariate_hypergeometric(c, x) for c, x in zip(counts[order], m)]
                q = first + 0.5 * counts.sum(axis=0) / counts.sum()
                q /= q.sum(axis=1, keepdims=True)
                if kind == "overconfident":
                    q = q**3 / (q**3).sum(axis=1, keepdims=True)
                rest = counts - first
                calibration, new = order[: len(order) // 2], order[len(order) // 2 :]
                cells = np.argwhere(rest[calibration] > 0)
                times = rest[calibration][rest[calibration] > 0].astype(int)
                items = np.repeat(calibration[cells[:, 0]], times)
                votes = dissent.Votes({"task": items, "worker": np.arange(len(items)), "label": np.repeat(cells[:, 1], times)})
                found = dissent.prediction_sets(
                    dissent.SoftLabels(new, range(k), q[new]),
                    votes,
                    calibration=dissent.SoftLabels(calibration, range(k), q[calibration]),
                    coverage=p,
                    score=score,
                    allow_empty=True,
                    random_state=r,
                    n_jobs=1,
                )
                share = rest[new] / rest[new].sum(axis=1, keepdims=True)
                values.append((share * found.in_set).sum(axis=1).mean())
                sizes.append(found.sizes.mean())
            se = np.std(values) / np.sqrt(replicates)
            print(
                f"| {name} | {n} | {k} | {counts.sum() / n:.1f} | {kind} | {score} | {p} | {np.mean(values):.4f} | {se:.4f} | "
                f"{np.mean(sizes):.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["guarantee", "annotators", "intervals", "draws", "real"])
    parser.add_argument("replicates", type=int, nargs="?", default=200)
    parser.add_argument("--data")
    a = parser.parse_args()
    rng = np.random.default_rng(0)
    if a.what == "real":
        real(a.replicates, rng, a.data or os.environ.get("DISSENT_DATA", "../shared/data"))
    else:
        {"guarantee": guarantee, "annotators": annotators, "intervals": intervals, "draws": draws}[a.what](a.replicates, rng)
