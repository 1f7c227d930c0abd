"""What scikit-learn, scipy and NumPy need for the metrics of `dissent eval`, on the arrays that dissent gets.

    python peers_metrics.py make OUT.f64 ITEMS CLASSES SEED        ->  q, p (n, K), then gold (n), as doubles
    python peers_metrics.py run WHAT IN.f64 ITEMS CLASSES          ->  {"seconds": ..., "value": ...}

WHAT: metrics (all but intervals and calibrated log-likelihood), calibrated, bootstrap_cross_entropy,
bootstrap_accuracy, bootstrap_f1 (1,000 resamples each). Everything is vectorised where the library allows it; earth
mover's distance is written in NumPy, since scipy's takes one pair of rows at a time. Bootstraps draw 20 resamples at
once, which is faster than one or all.
"""

import json
import sys
import time
import warnings

import numpy as np

RESAMPLES, CHUNK, FLOOR, SPLITS = 1000, 20, 1e-12, 5


def make(path, n, k, seed):
    r = np.random.default_rng(seed)
    p = r.dirichlet(np.full(k, 0.4), size=n)
    z = np.log(p + 0.01) * 1.3 + r.normal(scale=0.7, size=(n, k))
    q = np.exp(z - z.max(axis=1, keepdims=True))
    q /= q.sum(axis=1, keepdims=True)
    gold = (p.cumsum(axis=1) < r.random((n, 1))).sum(axis=1).clip(max=k - 1)
    with open(path, "wb") as f:
        q.tofile(f)
        p.tofile(f)
        gold.astype(float).tofile(f)


def metrics(q, p, gold):
    from scipy.spatial.distance import jensenshannon
    from scipy.stats import entropy, pearsonr, spearmanr
    from sklearn.metrics import (
        accuracy_score,
        confusion_matrix,
        f1_score,
        log_loss,
        precision_recall_fscore_support,
        top_k_accuracy_score,
    )

    n, k = q.shape
    predicted = q.argmax(axis=1)
    out = [
        accuracy_score(gold, predicted),
        f1_score(gold, predicted, average="macro"),
        f1_score(gold, predicted, average="micro"),
        f1_score(gold, predicted, average="weighted"),
        log_loss(gold, q, labels=np.arange(k)),
        top_k_accuracy_score(gold, q, k=3, labels=np.arange(k)),
    ]
    precision_recall_fscore_support(gold, predicted, labels=np.arange(k), zero_division=0)
    confusion_matrix(gold, predicted)
    floored = np.maximum(q, FLOOR)
    floored /= floored.sum(axis=1, keepdims=True)
    out += [
        -(p * np.log(floored)).sum(axis=1).mean(),
        entropy(p, floored, axis=1).mean(),
        entropy(floored, np.maximum(p, FLOOR), axis=1).mean(),
        (jensenshannon(p, q, axis=1) ** 2).mean(),
    ]
    apart = np.abs(p - q).sum(axis=1)
    out += [
        apart.mean(),
        apart.mean() / 2,
        np.abs((p - q).cumsum(axis=1)).sum(axis=1).mean(),
        ((p - q) ** 2).sum(axis=1).mean(),
    ]
    onehot = np.zeros_like(q)
    onehot[np.arange(n), gold] = 1
    out.append(((q - onehot) ** 2).sum(axis=1).mean())
    confidence, right = q.max(axis=1), predicted == gold
    bins = np.clip(np.ceil(confidence * 15).astype(int) - 1, 0, 14)
    out.append(np.abs(np.bincount(bins, confidence, 15) - np.bincount(bins, right, 15)).sum() / n)
    hq, hp = entropy(q, axis=1), entropy(p, axis=1)
    out += [
        pearsonr(hq, hp).statistic,
        spearmanr(hq, hp).statistic,
        1 - np.abs(hq - hp).mean() / np.log(k),
        hq.mean(),
        confidence.mean(),
    ]
    return float(out[0]) + float(out[6])


def calibrated(q, p, gold):
    from scipy.optimize import minimize_scalar
    from scipy.special import logsumexp

    z = np.log(np.maximum(q, FLOOR))
    r = np.random.default_rng(0)

    def nll(rows, labels, beta):
        return np.mean(logsumexp(beta * rows, axis=1) - beta * rows[np.arange(len(labels)), labels])

    values = []
    for _ in range(SPLITS):
        order = r.permutation(len(gold))
        fit, held = order[: len(gold) // 2], order[len(gold) // 2 :]
        zf, gf = z[fit], gold[fit]
        best = minimize_scalar(lambda b: nll(zf, gf, b), bounds=(0.01, 100), method="bounded")
        values.append(nll(z[held], gold[held], best.x))
    return float(np.mean(values))


def resampled(n, statistic):
    r = np.random.default_rng(0)
    out = np.empty(RESAMPLES)
    for first in range(0, RESAMPLES, CHUNK):
        out[first : first + CHUNK] = statistic(r.integers(0, n, size=(CHUNK, n), dtype=np.int32))
    low, high = np.quantile(out, [0.025, 0.975])
    return float(high - low)


def bootstrap_cross_entropy(q, p, gold):
    floored = np.maximum(q, FLOOR)
    loss = -(p * np.log(floored / floored.sum(axis=1, keepdims=True))).sum(axis=1)
    return resampled(len(loss), lambda index: loss[index].mean(axis=1))


def bootstrap_accuracy(q, p, gold):
    right = (q.argmax(axis=1) == gold).astype(np.float64)
    return resampled(len(right), lambda index: right[index].mean(axis=1))


def bootstrap_f1(q, p, gold):
    k = q.shape[1]
    cell = gold * k + q.argmax(axis=1)

    def macro(index):
        flat = (cell[index] + np.arange(len(index))[:, None] * k * k).ravel()
        c = np.bincount(flat, minlength=len(index) * k * k).reshape(-1, k, k)
        both = c.sum(axis=1) + c.sum(axis=2)
        f1 = 2 * np.diagonal(c, axis1=1, axis2=2) / np.maximum(both, 1)
        return f1.sum(axis=1) / (both > 0).sum(axis=1)

    return resampled(len(cell), macro)


def main():
    warnings.filterwarnings("ignore")
    if sys.argv[1] == "make":
        make(sys.argv[2], *map(int, sys.argv[3:6]))
        return
    n, k = int(sys.argv[4]), int(sys.argv[5])
    x = np.fromfile(sys.argv[3])
    q, p, gold = x[: n * k].reshape(n, k), x[n * k : 2 * n * k].reshape(n, k), x[2 * n * k :].astype(np.int64)
    run = globals()[sys.argv[2]]
    run(q[:100], p[:100], gold[:100])  # imports
    start = time.perf_counter()
    value = run(q, p, gold)
    print(json.dumps({"seconds": time.perf_counter() - start, "value": value}))


if __name__ == "__main__":
    main()
