"""cleanlab beside dissent: the method crowdlab on made-up crowds, to 1e-9.

    PYTHONPATH=build/python python python/parity/cleanlab_parity.py        (needs cleanlab and pandas)

Prints one row per crowd and the largest difference of labels, of workers' weights and of the model's weight; exit 1
beyond 1e-9. Last, what cleanlab says of the small crowd in tests/unit/test_predictions_threads.c.

Where cleanlab decides ties of the majority by workers' agreement or by chance, dissent takes the first class; with
predictions that differ in every class this never comes up. Items without a prediction are dissent's own.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
from cleanlab.multiannotator import (
    _get_annotator_agreement_with_consensus,
    _get_post_pred_probs_and_weights,
    get_label_quality_multiannotator,
    get_majority_vote_label,
)

import dissent

warnings.simplefilter("ignore")


def theirs(table: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Labels and weights of quality_method="crowdlab", consensus_method="best_quality", by cleanlab's own functions;
    checked against what its public function says of the consensus."""
    n = np.sum(~np.isnan(table), axis=1)
    consensus = get_majority_vote_label(table, q, verbose=False)
    for _ in range(2):
        agreement = _get_annotator_agreement_with_consensus(table, consensus)
        p, model, workers = _get_post_pred_probs_and_weights(table, consensus, q, n, agreement, "crowdlab", False)
        majority, best = consensus, p.argmax(axis=1)
        consensus = np.where((p == p.max(axis=1, keepdims=True)).sum(axis=1) == 1, best, majority)
        if _ == 0:
            first = consensus
    public = get_label_quality_multiannotator(table, q, verbose=False, return_weights=True)
    assert np.array_equal(public["label_quality"]["consensus_label"], first)
    assert np.allclose(public["label_quality"]["consensus_quality_score"], p[np.arange(len(p)), first], atol=1e-12)
    assert np.isclose(public["model_weight"], model) and np.allclose(public["annotator_weight"], workers)
    return p, np.asarray(workers), float(model)


def ours(table: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    rows = [(i, w, int(z)) for i, votes in enumerate(table) for w, z in enumerate(votes) if not np.isnan(z)]
    votes = dissent.Votes(rows, classes=list(range(q.shape[1])))
    fit = dissent.Crowdlab().fit(votes, pd.DataFrame(q, index=range(len(q))))
    weights = fit.weights_.to_dict()
    return np.asarray(fit.result_.p), np.array([weights[w] for w in range(table.shape[1])]), fit.predictions_weight_


def crowd(n: int, m: int, k: int, per_item: float, model: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    skill = rng.uniform(0.3, 0.95, m)
    table = np.full((n, m), np.nan)
    for i in range(n):
        for w in rng.choice(m, 1 + min(m - 1, rng.poisson(per_item - 1)), replace=False):
            table[i, w] = truth[i] if rng.random() < skill[w] else rng.integers(k)
    for w in np.flatnonzero(np.isnan(table).all(axis=0)):
        table[rng.integers(n), w] = 0
    for c in np.setdiff1d(np.arange(k), table):  # cleanlab wants a vote for every class
        table[c, np.flatnonzero(~np.isnan(table[c]))[0]] = c
    q = rng.dirichlet(np.ones(k), n) + model * np.eye(k)[np.where(rng.random(n) < 0.7, truth, rng.integers(k, size=n))]
    return table, q / q.sum(axis=1, keepdims=True)


SMALL_VOTES = np.array([[0, 0, 1, np.nan], [1, 1, np.nan, np.nan], [np.nan, 2, 0, np.nan], [np.nan, np.nan, np.nan, 2], [2, 2, 1, np.nan], [0, np.nan, 0, np.nan]])
SMALL_Q = np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.3, 0.1, 0.6], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7], [0.4, 0.5, 0.1]])


def main() -> int:
    worst = 0.0
    print(f"{'crowd':44} {'labels':>9} {'workers':>9} {'model':>9}")
    for n, m, k, per_item, model in [(200, 12, 2, 3, 1), (500, 30, 4, 2, 2), (300, 60, 8, 1.5, 1), (100, 5, 3, 4, 0), (1000, 8, 2, 5, 3), (400, 300, 5, 2, 1)]:
        for seed in range(3):
            table, q = crowd(n, m, k, per_item, model, seed)
            a, b = theirs(table, q), ours(table, q)
            off = [float(np.abs(x - y).max()) for x, y in zip(a, b)]
            worst = max([worst, *off])
            print(f"{f'{n} items, {m} workers, {k} classes, seed {seed}':44} {off[0]:9.1e} {off[1]:9.1e} {off[2]:9.1e}")
    p, workers, model = theirs(SMALL_VOTES, SMALL_Q)
    print("the small crowd of the unit test:\n ", ", ".join(repr(float(x)) for x in p.ravel()))
    print(" ", ", ".join(repr(float(x)) for x in workers), "\n ", model)
    print(f"largest difference {worst:.1e}: {'fine' if worst <= 1e-9 else 'MORE THAN 1e-9'}")
    return int(worst > 1e-9)


if __name__ == "__main__":
    sys.exit(main())
