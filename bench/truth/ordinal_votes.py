#!/usr/bin/env python3
"""How well labels of crowds with ordered classes foretell votes that they were not made from, and how often they are
right where gold labels exist (data not included).

    bench/truth/ordinal_votes.py DISSENT DATA [FOLDS]

Votes are dealt into five folds (a worker's second vote on an item is left out); labels are made from four of them, each
way of WAYS, and each vote of the fifth is foretold by the label of its item: log-loss in nats with probabilities of at
least 1e-12, ranked probability score, absolute error of the median in classes, and the Wasserstein distance (unit
steps) to all votes of the item in the fold. The second table has gold labels: share right (ties split), log-loss,
absolute error of the median. Sets of two classes are the smallest case of an order. docs/evidence/scales.md has the tables."""

import csv
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

SETS = {
    "POPQUORN, offensiveness 1 to 5": "popquorn/annotations.csv",
    "Le-Wi-Di 2025 CSC, sarcasm 1 to 6": "lewidi2025/CSC/annotations.csv",
    "Le-Wi-Di 2025 Paraphrase, -5 to 5": "lewidi2025/Paraphrase/annotations.csv",
    "ConvAbuse, severity -3 to 1": "lewidi2023/ConvAbuse/annotations_severity.csv",
    "s4 relevance, 0 to 2": "benchmarks/s4_Relevance/annotations.csv",
}
LEFT_OUT = {"benchmarks/s4_Relevance/annotations.csv": "3"}  # no grade: votes for it do not lie between the others
WAYS = {
    "nominal": [],
    "standard": ["--method", "standard"],
    "dawid-skene": ["--method", "dawid-skene"],
    "ordinal": ["--scale", "ordinal"],
}
GOLD = {
    "s4 relevance, 0 to 2": ("benchmarks/s4_Relevance/annotations.csv", "benchmarks/s4_Relevance/gold.csv"),
    "bluebird": ("benchmarks/bluebird/annotations.csv", "benchmarks/bluebird/gold.csv"),
    "product": ("benchmarks/d_jn-product/annotations.csv", "benchmarks/d_jn-product/gold.csv"),
    "sentiment": ("benchmarks/d_sentiment/annotations.csv", "benchmarks/d_sentiment/gold.csv"),
    "rte": ("rte_snow/annotations.csv", "rte_snow/gold.csv"),
    "temporal": ("snow2008/annotations_temp.csv", "snow2008/gold_temp.csv"),
    "cause": ("mre_crowdtruth/annotations_cause_expert_subset.csv", "mre_crowdtruth/gold_cause.csv"),
    "treat": ("mre_crowdtruth/annotations_treat_expert_subset.csv", "mre_crowdtruth/gold_treat.csv"),
    "toxicity": ("toxicity_pipa/annotations.csv", "toxicity_pipa/gold_jigsaw.csv"),
}


def read(folder, path):
    votes = {}
    with open(folder / path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["label"] != LEFT_OUT.get(path):
                votes.setdefault((row["task"], row["worker"]), row["label"])
    classes = sorted(set(votes.values()), key=float)
    return [(task, worker, label) for (task, worker), label in votes.items()], classes


def labels(dissent, votes, classes, options, folder):
    path = Path(folder) / "votes.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("task", "worker", "label"), *votes])
    out = subprocess.run(
        [dissent, "labels", str(path), "--quiet", "--classes", ",".join(classes), *options],
        check=True,
        capture_output=True,
        text=True,
    )
    rows = csv.DictReader(out.stdout.splitlines())
    return {row["task"]: [float(row[f"p:{c}"]) for c in classes] for row in rows}


def median(q):
    below = 0.0
    for j, x in enumerate(q):
        below += x
        if below >= 0.5 - 1e-9:
            return j
    return len(q) - 1


def vote_scores(p, votes, classes):
    """Log-loss, RPS and absolute error summed over votes, Wasserstein distances summed over items; how many of both."""
    loss = score = error = distance = n = 0
    of_item = {}
    for task, _, label in votes:
        if task not in p:
            continue
        k, q, n, below = classes.index(label), p[task], n + 1, 0.0
        of_item.setdefault(task, []).append(k)
        loss -= math.log(max(q[k], 1e-12))
        error += abs(median(q) - k)
        for j, x in enumerate(q):
            below += x
            score += (below - (j >= k)) ** 2
    for task, chosen in of_item.items():
        below = 0.0
        for j, x in enumerate(p[task]):
            below += x - chosen.count(j) / len(chosen)
            distance += abs(below)
    return loss, score, error, distance, n, len(of_item)


def gold_scores(p, gold):
    right = loss = error = 0.0
    for task, k in gold.items():
        q = p[task]
        best = [j for j, x in enumerate(q) if x >= max(q) - 1e-12]
        right += (k in best) / len(best)
        loss -= math.log(max(q[k], 1e-12))
        error += abs(median(q) - k)
    return right / len(gold), loss / len(gold), error / len(gold)


def votes_table(dissent, data, folds):
    print("| crowd | " + " | ".join(f"{way}: log-loss, RPS, error, Wasserstein" for way in WAYS) + " |")
    for title, path in SETS.items():
        votes, classes = read(data, path)
        draw = random.Random(0)
        fold = [draw.randrange(5) for _ in votes]
        cells = []
        for options in WAYS.values():
            total = [0.0] * 6
            for f in range(folds):
                with tempfile.TemporaryDirectory() as folder:
                    p = labels(dissent, [v for v, g in zip(votes, fold) if g != f], classes, options, folder)
                found = vote_scores(p, [v for v, g in zip(votes, fold) if g == f], classes)
                total = [a + b for a, b in zip(total, found)]
            cells.append(", ".join(f"{x / total[4]:.3f}" for x in total[:3]) + f", {total[3] / total[5]:.3f}")
        print(f"| {title} | " + " | ".join(cells) + " |", flush=True)


def gold_table(dissent, data):
    print("\n| crowd | " + " | ".join(f"{way}: right, log-loss, error" for way in WAYS) + " |")
    mean = [[0.0] * 3 for _ in WAYS]
    for title, (path, gold_path) in GOLD.items():
        votes, classes = read(data, path)
        tasks = {task for task, _, _ in votes}
        with open(data / gold_path, newline="", encoding="utf-8") as file:
            gold = {
                r["task"]: classes.index(r["label"])
                for r in csv.DictReader(file)
                if r["task"] in tasks and r["label"] in classes
            }
        cells = []
        for way, options in enumerate(WAYS.values()):
            with tempfile.TemporaryDirectory() as folder:
                found = gold_scores(labels(dissent, votes, classes, options, folder), gold)
            mean[way] = [a + b / len(GOLD) for a, b in zip(mean[way], found)]
            cells.append(", ".join(f"{x:.3f}" for x in found))
        print(f"| {title} | " + " | ".join(cells) + " |", flush=True)
    print("| mean | " + " | ".join(", ".join(f"{x:.3f}" for x in m) for m in mean) + " |")


def main():
    dissent, data, folds = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 5
    votes_table(dissent, data, folds)
    gold_table(dissent, data)


main()
