#!/usr/bin/env python3
"""Coverage of the 95 % intervals of soft scores and calibration errors, on simulated crowds.

    PYTHONPATH=build/python python3 bench/truth/soft_scores.py [REPLICATES]

Scores (soft macro-F1, and per class soft precision, recall, F1, Brier and cross-entropy): the share of intervals that contain
the mean of all replicates. Calibration errors: the share that contains the value of a large population, which is 0 for a
calibrated model. Also the mean estimate: votes per item must not change it.

With annotators, each has own habits, and intervals hold for other annotators; the others are answers of a new person each,
with intervals for other items.
"""

import itertools
import sys

import numpy as np

import dissent

K, BINS = 4, 15
SCORES = ("precision", "recall", "f1", "brier", "cross_entropy")


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def items(rng, n, temperature, skew):
    logits = rng.normal(0, 1.7, (n, K)) - skew * np.arange(K)
    return softmax(logits), softmax(logits / temperature)


def labels(rng, p):
    return (rng.random(p.shape[:-1])[..., None] > np.cumsum(p, axis=-1)[..., :-1]).sum(axis=-1)


def population_error(truth, model):
    """Root of the sum over classes of the squared mean gap per bin, weighted by the bin."""
    total = 0.0
    for k in range(K):
        b = np.clip(np.ceil(model[:, k] * BINS) - 1, 0, BINS - 1).astype(int)
        n = np.bincount(b, minlength=BINS)
        gap = np.bincount(b, truth[:, k] - model[:, k], minlength=BINS)
        total += (gap[n > 0] ** 2 / n[n > 0]).sum() / len(model)
    return np.sqrt(total)


def crowd(rng, truth, annotators, m):
    """A fitted aggregator of m votes per item."""
    n = len(truth)
    if annotators:
        careless = rng.beta(1, 4, annotators)
        habit = rng.dirichlet(np.full(K, 0.7), annotators)
        who = np.argsort(rng.random((n, annotators)), axis=1)[:, :m]
        p = (1 - careless[who])[..., None] * truth[:, None] + careless[who][..., None] * habit[who]
    else:
        who = np.arange(n * m).reshape(n, m)
        p = np.repeat(truth[:, None], m, axis=1)
    votes = dissent.Votes({"task": np.repeat(np.arange(n), m), "worker": who.ravel(), "label": labels(rng, p).ravel()}, classes=range(K))
    return dissent.Standard().fit(votes)


def run(rng, replicates, n, m, annotators, temperature, skew):
    target = population_error(*items(np.random.default_rng(5), 400000, temperature, skew))
    found = []
    for r in range(replicates):
        truth, model = items(rng, n, temperature, skew)
        e = dissent.evaluate(
            dissent.SoftLabels(range(n), range(K), model),
            human=crowd(rng, truth, annotators, m),
            metrics=["soft_macro_f1", "human_calibration_error", "entropy_calibration_error", "entropy_excess"],
            over="annotators" if annotators else "items",
            random_state=r,
            resamples=300,
            n_jobs=1,
        )
        rows = e.by_class_share
        found.append((e, {s: np.array([rows[s], rows[f"{s}_ci_low"], rows[f"{s}_ci_high"]]) for s in SCORES}))

    def share(values):
        """(replicates, 3): value, low, high."""
        values = np.array(values, dtype=float)
        mean = np.nanmean(values[:, 0])
        defined = ~np.isnan(values[:, 1])
        return ((values[:, 1] <= mean) & (mean <= values[:, 2]))[defined].mean()

    macro = share([[x.value, x.ci_low, x.ci_high] for x in (e["soft_macro_f1"] for e, _ in found)])
    cells = [f"{macro:.3f}"]
    for s in SCORES:
        cells.append(" ".join(f"{share([x[s][:, k] for _, x in found]):.3f}" for k in (0, K - 1)))
    errors = [e["human_calibration_error"] for e, _ in found]
    hit = np.mean([x.ci_low <= target <= x.ci_high for x in errors])
    mean = np.mean([x.value for x in errors])
    cells += [f"{hit:.3f}" if not annotators else "-", f"{target:.3f}", f"{mean:.3f}"]
    cells.append(f"{np.mean([e['entropy_excess'].value for e, _ in found]):+.3f}")
    return cells


def main():
    replicates = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    rng = np.random.default_rng(0)
    names = ["macro-F1", *(f"{s}, classes 1 and {K}" for s in SCORES)]
    names += ["calibration error", "its value", "mean estimate", "entropy excess"]
    print("| annotators | model | items | votes | " + " | ".join(names) + " |\n" + "|---" * (4 + len(names)) + "|")
    for annotators, (model, temperature), n, m in itertools.product(
        (0, 20), (("calibrated", 1.0), ("overconfident", 0.6)), (100, 400), (1, 5)
    ):
        cells = run(rng, replicates, n, m, annotators, temperature, 0.7)
        print(f"| {annotators or 'new ones'} | {model} | {n} | {m} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
