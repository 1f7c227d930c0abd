"""cleanlab compared with dissent: the method crowdlab, to 1e-9.

    PYTHONPATH=build/python python python/parity/cleanlab_parity.py        (needs cleanlab, pandas and scikit-learn)

Prints one row per simulated crowd: the largest differences of p in both rounds, of the annotators' weights and of the
model's weight; fails if one exceeds 1e-9. Then labels and accuracy on real crowds with out-of-fold predictions of a logistic
regression, if the data is available (DISSENT_DATA or ../shared/data); fails if a label differs from cleanlab's. Last, the values
of the small crowd in tests/unit/test_predictions_threads.c.

If cleanlab decides ties of the majority by agreement or at random, dissent takes the first class. Such ties do not occur
if the predictions of all classes differ. Predictions for some items only are not possible in cleanlab.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from cleanlab.multiannotator import (
    _get_annotator_agreement_with_consensus,
    _get_post_pred_probs_and_weights,
    get_label_quality_multiannotator,
    get_majority_vote_label,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

import dissent

warnings.simplefilter("ignore")


def theirs(table: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Probabilities of both rounds and final weights of quality_method="crowdlab", consensus_method="best_quality", by
    cleanlab's own functions, compared with the results of its public function."""
    n = np.sum(~np.isnan(table), axis=1)
    consensus = get_majority_vote_label(table, q, verbose=False)
    for _ in range(2):
        agreement = _get_annotator_agreement_with_consensus(table, consensus)
        p, model, workers = _get_post_pred_probs_and_weights(table, consensus, q, n, agreement, "crowdlab", False)
        majority, best = consensus, p.argmax(axis=1)
        consensus = np.where((p == p.max(axis=1, keepdims=True)).sum(axis=1) == 1, best, majority)
        if _ == 0:
            first, first_p = consensus, p
    public = get_label_quality_multiannotator(table, q, verbose=False, return_weights=True)
    assert np.array_equal(public["label_quality"]["consensus_label"], first)
    assert np.allclose(public["label_quality"]["consensus_quality_score"], p[np.arange(len(p)), first], atol=1e-12)
    assert np.isclose(public["model_weight"], model) and np.allclose(public["annotator_weight"], workers)
    return first_p, p, np.asarray(workers), float(model)


def ours(table: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    rows = [(i, w, int(z)) for i, votes in enumerate(table) for w, z in enumerate(votes) if not np.isnan(z)]
    votes = dissent.Votes(rows, classes=list(range(q.shape[1])))
    first, fit = (dissent.Crowdlab(rounds=n).fit(votes, pd.DataFrame(q, index=range(len(q)))) for n in (1, 2))
    weights = fit.weights_.to_dict()
    return np.asarray(first.result_.p), np.asarray(fit.result_.p), np.array([weights[w] for w in range(table.shape[1])]), fit.predictions_weight_


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


# name: votes, gold labels, items (texts), all below the data folder
REAL = {
    "labelme": ("labelme/annotations.csv", "labelme/gold.csv", "labelme/vgg_avg_train.f32"),
    "textual entailment": ("rte_snow/annotations.csv", "rte_snow/gold.csv", "rte_snow/items.csv"),
    "toxicity": ("toxicity_pipa/annotations.csv", "toxicity_pipa/gold_jigsaw.csv", "toxicity_pipa/items.csv"),
    "medical relations": ("mre_crowdtruth/annotations_cause_expert_subset.csv", "mre_crowdtruth/gold_cause.csv", "mre_crowdtruth/items.csv"),
    "HS-Brexit *": tuple(f"lewidi2023/HS-Brexit/{name}.csv" for name in ("annotations", "gold", "items")),
    "ConvAbuse *": tuple(f"lewidi2023/ConvAbuse/{name}.csv" for name in ("annotations", "gold", "items")),
    "MD-Agreement *": tuple(f"lewidi2023/MD-Agreement/{name}.csv" for name in ("annotations", "gold", "items")),
}


def inputs_of(path: Path, tasks: list[str]) -> np.ndarray:
    """Features of the items: given ones, or word counts of their texts."""
    if path.suffix == ".f32":
        return np.fromfile(path, dtype="<f4").reshape(-1, 512)[[int(t) for t in tasks]]
    items = pd.read_csv(path, dtype=str, keep_default_na=False)
    texts = [c for c in items.columns if c != "task" and items[c].str.len().mean() > 20][:2]
    text = dict(zip(items["task"], items[texts].agg(" ".join, axis=1)))
    return TfidfVectorizer(ngram_range=(1, 2), min_df=2).fit_transform([text[t] for t in tasks])


def real_crowds() -> int:
    """Prints accuracy and log-loss on real crowds; returns how many labels differ from cleanlab's."""
    data = Path(os.environ.get("DISSENT_DATA", "../shared/data"))
    if not data.is_dir():
        print(f"skipped: no real crowds in {data}")
        return 0
    print("\naccuracy / log-loss; * gold labels are the majority of the same votes")
    print(f"{'crowd':20} {'majority':>8} {'model':>6} {'cleanlab':>8} {'round 1':>13} {'round 2':>13} {'differ':>6}")
    total = 0
    for name, paths in REAL.items():
        votes, gold = (pd.read_csv(data / p, dtype=str, keep_default_na=False) for p in paths[:2])
        votes = votes.drop_duplicates(["task", "worker"])
        tasks, workers, classes = list(votes["task"].unique()), list(votes["worker"].unique()), sorted(votes["label"].unique())
        table = np.full((len(tasks), len(workers)), np.nan)
        place = (pd.Index(ids).get_indexer(votes[c]) for c, ids in (("task", tasks), ("worker", workers), ("label", classes)))
        row, column, label = place
        table[row, column] = label
        np.random.seed(0)  # cleanlab breaks some ties at random
        majority = get_majority_vote_label(table, verbose=False)
        x = inputs_of(data / paths[2], tasks)
        q = cross_val_predict(LogisticRegression(max_iter=500), x, majority, cv=5, method="predict_proba")
        consensus = get_label_quality_multiannotator(table, q, verbose=False)["label_quality"]["consensus_label"].to_numpy()
        first, second, _, _ = ours(table, q)
        truth = pd.Index(classes).get_indexer(gold.set_index("task")["label"].reindex(tasks, fill_value=""))
        known = np.flatnonzero(truth >= 0)

        def accuracy(labels: np.ndarray) -> float:
            return float((labels == truth)[known].mean())

        def figures(p: np.ndarray) -> str:
            loss = -np.log(np.maximum(p[known, truth[known]], 1e-12)).mean()
            return f"{accuracy(p.argmax(axis=1)):.4f} / {loss:.3f}"

        differ = int((first.argmax(axis=1) != consensus).sum())
        total += differ
        print(f"{name:20} {accuracy(majority):8.4f} {accuracy(q.argmax(axis=1)):6.4f} {accuracy(consensus):8.4f} {figures(first):>13} {figures(second):>13} {differ:6}")
    return total


SMALL_VOTES = np.array([[0, 0, 1, np.nan], [1, 1, np.nan, np.nan], [np.nan, 2, 0, np.nan], [np.nan, np.nan, np.nan, 2], [2, 2, 1, np.nan], [0, np.nan, 0, np.nan]])
SMALL_Q = np.array([[0.7, 0.1, 0.2], [0.3, 0.4, 0.3], [0.5, 0.2, 0.3], [0.1, 0.8, 0.1], [0.3, 0.2, 0.5], [0.3, 0.1, 0.6]])


def main() -> int:
    worst = 0.0
    print(f"{'crowd':44} {'round 1':>9} {'round 2':>9} {'workers':>9} {'model':>9}")
    for n, m, k, per_item, model in [(200, 12, 2, 3, 1), (500, 30, 4, 2, 2), (300, 60, 8, 1.5, 1), (100, 5, 3, 4, 0), (1000, 8, 2, 5, 3), (400, 300, 5, 2, 1)]:
        for seed in range(3):
            table, q = crowd(n, m, k, per_item, model, seed)
            a, b = theirs(table, q), ours(table, q)
            off = [float(np.abs(x - y).max()) for x, y in zip(a, b)]
            worst = max([worst, *off])
            print(f"{f'{n} items, {m} workers, {k} classes, seed {seed}':44} {off[0]:9.1e} {off[1]:9.1e} {off[2]:9.1e} {off[3]:9.1e}")
    different = real_crowds()
    first, p, workers, model = theirs(SMALL_VOTES, SMALL_Q)
    print("the small crowd of the unit test:\n ", ", ".join(repr(float(x)) for x in first.ravel()))
    print(" ", ", ".join(repr(float(x)) for x in p.ravel()))
    print(" ", ", ".join(repr(float(x)) for x in workers), "\n ", model)
    print(f"largest difference {worst:.1e}: {'fine' if worst <= 1e-9 else 'MORE THAN 1e-9'}")
    return int(worst > 1e-9 or different > 0)


if __name__ == "__main__":
    sys.exit(main())
