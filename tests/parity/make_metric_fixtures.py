"""Makes tests/parity/fixtures/metrics_*: predictions, human labels and gold labels of made-up items, and what scikit-learn and
scipy say about them.

    python make_metric_fixtures.py        (needs scikit-learn, scipy; run only when a case is added, the results are committed)

Files: metrics_NAME.pred.csv and .human.csv (task, one column per class), .gold.csv (task,label), .expected.csv (metric,value).
Per-class figures are called f1:CLASS and so on, bins of the reliability diagram bin:N. The temperatures of calibrated
log-likelihood come from scipy's bounded Brent search; the halves are drawn here by the rule that dissent follows.
"""
import csv
import os

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cityblock, jensenshannon
from scipy.special import logsumexp
from scipy.stats import entropy, pearsonr, spearmanr, wasserstein_distance
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, log_loss, precision_recall_fscore_support

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fixtures")
FLOOR = 1e-12
M32, M64 = (1 << 32) - 1, (1 << 64) - 1
STREAM_HALVES = 10


def philox(low, high, key):
    c = [low & M32, low >> 32, high & M32, high >> 32]
    k = [key & M32, key >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & M32, a >> 32 ^ c[3] ^ k[1], a & M32]
        k = [(k[0] + 0x9E3779B9) & M32, (k[1] + 0xBB67AE85) & M32]
    return c


def source(seed, stream, index):
    """xoshiro256++ from two blocks of Philox."""
    s = []
    for half in range(2):
        b = philox(index | half << 63, stream, seed)
        s += [b[1] << 32 | b[0], b[3] << 32 | b[2]]
    s[0] |= 1

    def turn(x, by):
        return (x << by | x >> (64 - by)) & M64

    while True:
        yield (turn((s[0] + s[3]) & M64, 23) + s[0]) & M64
        t = s[1] << 17 & M64
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = turn(s[3], 45)


def half(n, split, seed):
    """Selection sampling: which items the temperature is fitted on."""
    draw, wanted, out = source(seed, STREAM_HALVES, split), n // 2, np.zeros(n, bool)
    for i in range(n):
        out[i] = next(draw) * (n - i) >> 64 < wanted
        wanted -= int(out[i])
    return out


def nll(z, y, beta):
    return float(np.mean(logsumexp(beta * z, axis=1) - beta * z[np.arange(len(y)), y]))


def calibrated(q, y, seed, splits=5):
    z = np.log(np.maximum(q, FLOOR))
    values, temperatures = [], []
    for s in range(splits):
        fit = half(len(y), s, seed)
        best = minimize_scalar(lambda b: nll(z[fit], y[fit], b), bounds=(.01, 100), method="bounded", options={"xatol": 1e-10})
        values.append(nll(z[~fit], y[~fit], best.x))
        temperatures.append(1 / best.x)
    return float(np.mean(values)), temperatures


def ece(q, y, n_bins=15):
    confidence, right = q.max(axis=1), q.argmax(axis=1) == y
    bins, total = [], 0
    for b in range(n_bins):
        inside = (confidence > b / n_bins) & (confidence <= (b + 1) / n_bins)
        n = int(inside.sum())
        bins.append((n, confidence[inside].mean() if n else None, right[inside].mean() if n else None))
        if n:
            total += n / len(y) * abs(bins[-1][1] - bins[-1][2])
    return total, bins


def expected(q, p, y, classes, ordinal):
    k, predicted = len(classes), q.argmax(axis=1)
    qf = np.maximum(q, FLOOR)
    qf /= qf.sum(axis=1, keepdims=True)
    pf = np.maximum(p, FLOOR)
    pf /= pf.sum(axis=1, keepdims=True)
    present = sorted(set(y) | set(predicted))
    majority = int(np.bincount(y, minlength=k).argmax())
    always = np.full(len(y), majority)
    hq, hp = entropy(q, axis=1), entropy(p, axis=1)
    onehot = np.eye(k)[y]
    out = {
        "accuracy": accuracy_score(y, predicted),
        "majority_accuracy": accuracy_score(y, always),
        "macro_f1": f1_score(y, predicted, average="macro", zero_division=0),
        "majority_macro_f1": f1_score(y, always, average="macro", zero_division=0),
        "micro_f1": f1_score(y, predicted, average="micro", zero_division=0, labels=present),
        "weighted_f1": f1_score(y, predicted, average="weighted", zero_division=0),
        "log_loss": log_loss(y, qf, labels=np.arange(k)),
        "brier": float(((q - onehot) ** 2).sum(axis=1).mean()),
        "cross_entropy": float(-(p * np.log(qf)).sum(axis=1).mean()),
        "human_entropy": hp.mean(),
        "kl": entropy(p, qf, axis=1).mean(),
        "inverse_kl": entropy(qf, pf, axis=1).mean(),
        "jsd": (jensenshannon(p, q, axis=1) ** 2).mean(),
        "total_variation": np.mean([cityblock(a, b) / 2 for a, b in zip(p, q)]),
        "manhattan": np.mean([cityblock(a, b) for a, b in zip(p, q)]),
        "human_brier": float(((q - p) ** 2).sum(axis=1).mean()),
        "entropy_correlation": pearsonr(hq, hp).statistic,
        # rows that differ in the order of their classes alone must tie, although their sums are rounded differently
        "entropy_spearman": spearmanr(np.round(hq * 2**40), np.round(hp * 2**40)).statistic,
        "entropy_similarity": 1 - np.abs(hp - hq).mean() / np.log(k),
        "model_entropy": hq.mean(),
        "confidence": q.max(axis=1).mean(),
        "floored": int((q < FLOOR).sum()),
        "human_floored": int((p < FLOOR).sum()),
    }
    if k > 3:
        rank = [(row > row[g]).sum() + (row[:g] == row[g]).sum() for row, g in zip(q, y)]
        out["top_k_accuracy"] = np.mean(np.array(rank) < 3)
    if ordinal:
        out["wasserstein"] = np.mean([wasserstein_distance(np.arange(k), np.arange(k), a, b) for a, b in zip(p, q)])
    out["ece"], bins = ece(q, y)
    for b, (n, confidence, accuracy) in enumerate(bins):
        if n:
            out[f"bin:{b}:n"], out[f"bin:{b}:confidence"], out[f"bin:{b}:accuracy"] = n, confidence, accuracy
    scores = precision_recall_fscore_support(y, predicted, labels=np.arange(k), zero_division=0)
    for c, name in enumerate(classes):
        for what, values in zip(("precision", "recall", "f1", "gold"), scores):
            out[f"{what}:{name}"] = values[c]
    matrix = confusion_matrix(y, predicted, labels=np.arange(k))
    for i in range(k):
        for j in range(k):
            out[f"confusion:{i}:{j}"] = matrix[i, j]
    out["calibrated_log_likelihood"], temperatures = calibrated(q, y, seed=7)
    for s, t in enumerate(temperatures):
        out[f"temperature:{s}"] = t
    return out


def simulate(r, n, k, sharp, noise):
    """Gold labels, human distributions around them, predictions around those."""
    y = r.choice(k, size=n, p=r.dirichlet(np.full(k, 4.0)))
    p = np.array([r.dirichlet(.3 + 3 * r.random() * (np.arange(k) == c)) for c in y])
    z = np.log(p + .02) * sharp + r.normal(scale=noise, size=(n, k))
    q = np.exp(z - logsumexp(z, axis=1, keepdims=True))
    return y, p, q


def cases():
    r = np.random.default_rng(20)
    y, p, q = simulate(r, 150, 4, 1.2, .8)
    yield "k4", ["a", "b", "c", "d"], y, p, q, False
    y, p, q = simulate(r, 120, 2, 2.5, 1.0)
    yield "k2", ["no", "yes"], y, p, q, False
    # counts: zeros in both, ties, a class that is never predicted, one that is never gold
    y, _, _ = simulate(r, 90, 5, 1, 1)
    y[y == 4] = 0
    counts = r.multinomial(5, np.full(5, .2), size=90) + 3 * np.eye(5, dtype=int)[y]
    p = counts / counts.sum(axis=1, keepdims=True)
    guess = r.multinomial(4, [.4, .3, .2, 0, .1], size=90) + 2 * np.eye(5, dtype=int)[y] * (y != 3)[:, None]
    q = guess / guess.sum(axis=1, keepdims=True)
    yield "zeros", ["1", "2", "3", "4", "5"], y, p, q, True


def main():
    os.makedirs(OUT, exist_ok=True)
    for name, classes, y, p, q, ordinal in cases():
        tasks = [f"t{i}" for i in range(len(y))]
        for what, table in (("pred", q), ("human", p)):
            with open(os.path.join(OUT, f"metrics_{name}.{what}.csv"), "w", newline="") as f:
                w = csv.writer(f, lineterminator="\n")
                w.writerow(["task"] + [f"p:{c}" for c in classes])
                w.writerows([t] + [repr(float(x)) for x in row] for t, row in zip(tasks, table))
        with open(os.path.join(OUT, f"metrics_{name}.gold.csv"), "w", newline="") as f:
            w = csv.writer(f, lineterminator="\n")
            w.writerow(["task", "label"])
            w.writerows((t, classes[c]) for t, c in zip(tasks, y))
        with open(os.path.join(OUT, f"metrics_{name}.expected.csv"), "w", newline="") as f:
            w = csv.writer(f, lineterminator="\n")
            w.writerow(["metric", "value"])
            w.writerows((k, repr(float(v))) for k, v in expected(q, p, y, classes, ordinal).items())


if __name__ == "__main__":
    main()
