#!/usr/bin/env python3
"""Are the soft targets of `dissent convert --to trl` close to the true preferences? Simulated annotators.

usage: bench/truth/preferences.py [--dissent build/dissent] [--runs 20] [--only targets|training]

targets: the mean KL divergence of a target from the true probability that a new annotator prefers the first answer (a
tie counts half). Preferences of a pair differ from the scores by a normal effect.
training: a linear reward model is trained on answers with features, with hard labels, with hard labels and a margin,
and with soft targets. Cells are the KL divergence of its preferences on new pairs, and the share of correct ones.
"""

import argparse
import csv
import math
import os
import random
import subprocess
import tempfile

import numpy as np

# answers per question (0: the same 8 models everywhere), pairs, votes per pair, standard deviations of scores and of
# pairs, share of annotators who answer at random, method
TARGETS = {
    "8 models, 1 vote per pair": (0, 600, 1, 1, 1, 0, ""),
    "8 models, 3 votes per pair": (0, 300, 3, 1, 1, 0, ""),
    "8 models, 3 votes, pairs do not differ": (0, 300, 3, 1, 0, 0, ""),
    "8 models, 3 votes, pairs differ by 2": (0, 300, 3, 0.5, 2, 0, ""),
    "8 models, 10 votes per pair": (0, 200, 10, 1, 1, 0, ""),
    "8 models, 5 votes, a third at random": (0, 300, 5, 1, 1, 1 / 3, ""),
    "8 models, 3 votes, ties": (0, 300, 3, 1, 1, 0, ",ties=davidson"),
    "two answers per question, 1 vote": (2, 400, 1, 1, 0.5, 0, ""),
    "two answers per question, 3 votes": (2, 400, 3, 1, 0.5, 0, ""),
    "two answers per question, 5 votes, a third at random": (2, 400, 5, 1, 0.5, 1 / 3, ""),
    "four answers per question, 3 votes": (4, 600, 3, 1, 0.5, 0, ""),
}
# votes per pair, pairs, share of annotators who answer at random
TRAINING = {
    "1 vote per pair": (1, 600, 0),
    "3 votes per pair": (3, 400, 0),
    "10 votes per pair": (10, 200, 0),
    "3 votes, a third at random": (3, 400, 1 / 3),
    "10 votes, a third at random": (10, 200, 1 / 3),
}
ANNOTATORS, FEATURES, TIE = 15, 8, -0.3


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def divergence(p, q):
    q = min(max(q, 1e-3), 1 - 1e-3)
    return sum(x * math.log(x / y) for x, y in ((p, q), (1 - p, 1 - q)) if x > 0)


def vote(draw, x, ties):
    weights = [math.exp(x / 2), math.exp(-x / 2), math.exp(TIE) if ties else 0]
    return draw.choices(["a", "b", "tie"], weights)[0]


def preferred(x, ties):
    a, b, tie = math.exp(x / 2), math.exp(-x / 2), math.exp(TIE) if ties else 0
    return (a + tie / 2) / (a + b + tie)


def pairs_of(draw, answers, n, score_sd):
    """(task, answer, answer, difference of scores) of n pairs."""
    pairs, seen = [], set()
    models = [draw.gauss(0, score_sd) for _ in range(8)]
    while len(pairs) < n:
        if answers == 0:
            task, (i, j) = len(pairs) // 3, draw.sample(range(8), 2)
            key = (task, min(i, j), max(i, j))
            if key not in seen:
                pairs.append((f"q{task}", f"m{i}", f"m{j}", models[i] - models[j]))
            seen.add(key)
            continue
        own = [draw.gauss(0, score_sd) for _ in range(answers)]
        task = f"q{len(pairs)}"
        pairs += [(task, f"{task}.{i}", f"{task}.{j}", own[i] - own[j]) for i in range(answers) for j in range(i)]
    return pairs[:n]


def run(tool, folder, rows, method):
    votes, table, items = (os.path.join(folder, name) for name in ("votes.csv", "preferences.csv", "items.csv"))
    with open(votes, "w", newline="") as f:
        csv.writer(f).writerows([("task", "a", "b", "worker", "label"), *rows])
    spec = "bradley-terry:preferences=yes" + method
    options = ["--scale", "pairwise", "--task", "task", "--method", spec, "--table", "preferences=" + table]
    subprocess.run([tool, "labels", votes, *options, "--table", "items=" + items, "-q", "-o", os.devnull], check=True)
    found = {}
    with open(table, newline="") as f:
        for r in csv.DictReader(f):
            n = [float(r[k]) for k in ("for_a", "for_b", "ties")]
            found[r["task"], r["a"], r["b"]] = (n, float(r["p_a"]), float(r["p_a_scores"]))
    with open(items, newline="") as f:
        fitted = {(r["a"], r["b"]): float(r["p_a"]) for r in csv.DictReader(f)}
    return found, fitted


def targets(tool, folder, runs):
    names = ("majority", "shares", "smoothed shares", "fitted scores", "scores without the pair", "p_chosen")
    print("| case | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    for case, (answers, n, n_votes, score_sd, pair_sd, bad, method) in TARGETS.items():
        loss = np.zeros(len(names))
        for x in range(runs):
            draw = random.Random(f"{case} {x}")
            ties = "ties" in method
            rows, truth = [], {}
            for task, a, b, d in pairs_of(draw, answers, n, score_sd):
                d += draw.gauss(0, pair_sd)
                truth[task, a, b], truth[task, b, a] = preferred(d, ties), 1 - preferred(d, ties)
                for w in draw.sample(range(ANNOTATORS), n_votes):
                    rows.append((task, a, b, f"w{w}", vote(draw, 0 if w < bad * ANNOTATORS else d, ties)))
            found, fitted = run(tool, folder, rows, method)
            for (task, a, b), ((for_a, for_b, tied), p, by_scores) in found.items():
                won, all_votes = for_a + tied / 2, for_a + for_b + tied
                share = won / all_votes
                q = (share > 0.5) + 0.5 * (share == 0.5), share, (won + 1) / (all_votes + 2), fitted[a, b], by_scores, p
                loss += [divergence(truth[task, a, b], value) / len(found) / runs for value in q]
        print(f"| {case} | " + " | ".join(f"{v:.3f}" for v in loss) + " |", flush=True)


def train(x, target, margin=None):
    """Weights of a linear reward model: Newton's method on the soft cross-entropy, with a small penalty."""
    w = np.zeros(x.shape[1])
    shift = np.zeros(len(x)) if margin is None else margin
    for _ in range(100):
        p = 1 / (1 + np.exp(-(x @ w - shift)))
        slope = x.T @ (target - p) - 0.1 * w
        step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + 0.1 * np.eye(len(w)), slope)
        w = w + step * min(1, 5 / np.abs(step).max())
    return w


def training(tool, folder, runs):
    names = ("hard labels", "hard labels and margin", "shares", "p_chosen")
    print("| case | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    for case, (n_votes, n, bad) in TRAINING.items():
        result = np.zeros((len(names), 2))
        for x in range(runs):
            draw, rng = random.Random(f"{case} {x}"), np.random.default_rng(x)
            true = rng.normal(0, 0.6, FEATURES)
            z = rng.normal(0, 1, (n, FEATURES))
            d = z @ true + rng.normal(0, 0.5, n)
            rows = [(f"q{i:05d}", "a", "b", f"w{w}", "a" if draw.random() < sigmoid(0 if w < bad * ANNOTATORS else d[i]) else "b")
                    for i in range(n) for w in draw.sample(range(ANNOTATORS), n_votes)]
            rows = [(t, f"{t}.a", f"{t}.b", w, v) for t, _, _, w, v in rows]
            found, _ = run(tool, folder, rows, "")
            votes, p, _ = (list(v) for v in zip(*(found[f"q{i:05d}", f"q{i:05d}.a", f"q{i:05d}.b"] for i in range(n))))
            votes, p = np.array(votes), np.array(p)
            sign = np.where(p >= 0.5, 1.0, -1.0)
            chosen, soft = z * sign[:, None], np.where(p >= 0.5, p, 1 - p)
            share = votes[:, 0] / votes.sum(1)
            models = (
                train(chosen, np.ones(n)),
                train(chosen, np.ones(n), np.log(soft / (1 - soft))),
                train(z, share),
                train(chosen, soft),
            )
            new = rng.normal(0, 1, (2000, FEATURES))
            for k, w in enumerate(models):
                loss = np.mean([divergence(sigmoid(t), sigmoid(q)) for t, q in zip(new @ true, np.clip(new @ w, -30, 30))])
                result[k] += np.array([loss, np.mean((new @ true > 0) == (new @ w > 0))]) / runs
        print(f"| {case} | " + " | ".join(f"{a:.3f}, {100 * b:.1f} %" for a, b in result) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dissent", default="build/dissent")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--only", choices=("targets", "training"))
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if o.only in (None, "targets"):
            targets(o.dissent, folder, o.runs)
        if o.only in (None, "training"):
            training(o.dissent, folder, o.runs)


if __name__ == "__main__":
    main()
