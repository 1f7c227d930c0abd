"""Do the tests of an experiment hold their level? Pairs of models with known differences.

usage: bench/truth/experiment_tests.py [--dissent build/dissent] [--pairs 400] [--check]

Both models of a pair predict the same items. Without a difference, their predictions are drawn in the same way, so a test at
level .05 may reject in 5 % of the pairs. Prints the share of pairs with p <= .05 for each metric. --check exits with 1 where
a pair without a difference is rejected too often (more than .05 plus three standard errors), except for items in clusters,
which no test of single items can handle.
"""

import argparse
import csv
import math
import os
import random
import subprocess
import sys
import tempfile

METRICS = ("accuracy", "macro_f1", "weighted_f1", "log_loss", "calibrated_log_likelihood", "brier", "kl", "cross_entropy", "ece", "entropy_correlation",
           "entropy_spearman")
CLASSES = 3


def softmax(z):
    top = max(z)
    e = [math.exp(x - top) for x in z]
    return [x / sum(e) for x in e]


def model(draw, people, sharp=1.0, noise=0.8, cluster=1):
    """Predictions around the labels of people. `cluster`: so many items in a row share their error."""
    rows, error = [], None
    for i, p in enumerate(people):
        if i % cluster == 0:
            error = [draw.gauss(0, noise) for _ in p]
        rows.append(softmax([sharp * math.log(x) + e for x, e in zip(p, error)]))
    return rows


# name: items, share of the first class, what makes the other model, whether the two are equally good
CASES = {
    "200 items": (200, 1 / 3, {}, {}, True),
    "40 items": (40, 1 / 3, {}, {}, True),
    "90 % in one class": (200, 0.9, {}, {}, True),
    "items in clusters of 10": (200, 1 / 3, {"cluster": 10}, {"cluster": 10}, True),
    "more noise": (200, 1 / 3, {}, {"noise": 1.3}, False),
    "too confident": (200, 1 / 3, {}, {"sharp": 2.5}, False),
}


def write(path, rows):
    with open(path, "w", newline="") as f:
        csv.writer(f).writerows(rows)


def people_of(draw, n, first):
    rows = []
    for _ in range(n):
        top = 0 if draw.random() < first else draw.randrange(1, CLASSES)
        certain = draw.betavariate(2, 1)
        rows.append([(1 - certain) / CLASSES + (certain if k == top else 0) + 1e-3 for k in range(CLASSES)])
    return [[x / sum(p) for x in p] for p in rows]


def run(tool, folder, name, pairs, resamples):
    """p-values per metric of one experiment with so many pairs of models on their own items."""
    n, first, left, right, _ = CASES[name]
    found = {m: [] for m in METRICS}
    head = ["task", *(f"p:c{k}" for k in range(CLASSES))]
    for pair in range(pairs):
        draw = random.Random(f"{name} {pair}")
        people = people_of(draw, n, first)
        gold = [draw.choices(range(CLASSES), p)[0] for p in people]
        # the first item is the training part, which a split must have
        write(f"{folder}/gold.csv", [("task", "label"), ("first", "c0"), *((f"t{i}", f"c{g}") for i, g in enumerate(gold))])
        write(f"{folder}/items.csv", [("task", "text"), ("first", "x"), *((f"t{i}", "x") for i in range(n))])
        for file, rows in (("human", people), ("a", model(draw, people, **left)), ("b", model(draw, people, **right))):
            write(f"{folder}/{file}.csv", [head, ["first", 1, 0, 0], *([f"t{i}", *(f"{x:.9f}" for x in p)] for i, p in enumerate(rows))])
        with open(f"{folder}/e.yaml", "w") as f:
            f.write(f"""name: e
data: {{d: {{items: items.csv, gold: gold.csv, classes: [c0, c1, c2], split: {{by: block, size: {n}, from: end}}, human: people}}}}
labels: {{people: {{file: human.csv}}, a: {{file: a.csv}}, b: {{file: b.csv}}}}
defaults: {{baseline: a}}
significance: {{resamples: {resamples}}}
measure: {{test: [{", ".join(METRICS)}]}}
cells: [{{name: a, labels: a}}, {{name: b, labels: b}}]
""")
        store = f"{folder}/store-{pair}"
        for command in (["run", "e.yaml", "--store", store, "-q"], ["table", "e.yaml", "--store", store, "--format", "csv", "-q", "-o", "t.csv"]):
            subprocess.run([tool, "experiment", *command], cwd=folder, check=True)
        with open(f"{folder}/t.csv", newline="") as f:
            for row in csv.DictReader(f):
                if row["cell"] == "b" and row.get("p"):
                    found[row["metric"]].append(float(row["p"]))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dissent", default="build/dissent")
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--resamples", type=int, default=400)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    parts = subprocess.run([args.dissent, "--version", "--verbose"], check=True, capture_output=True, text=True).stdout
    if "libyaml: absent" in parts or "SQLite: absent" in parts:
        print("skipped: no libyaml or SQLite")
        return 77
    failed = 0
    print("| pairs of models | " + " | ".join(METRICS) + " |\n|---|" + "---|" * len(METRICS))
    for name, (*_, equal) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            found = run(os.path.abspath(args.dissent), folder, name, args.pairs, args.resamples)
        shares = {m: sum(p <= 0.05 for p in ps) / len(ps) if ps else math.nan for m, ps in found.items()}
        print(f"| {name} | " + " | ".join("" if math.isnan(x) else f"{x:.3f}" for x in shares.values()) + " |", flush=True)
        limit = 0.05 + 3 * math.sqrt(0.05 * 0.95 / args.pairs)
        for metric, share in shares.items():
            if equal and "clusters" not in name and not share <= limit:
                print(f"{name}: {metric} rejects {share:.3f} of pairs without a difference", file=sys.stderr)
                failed = 1
    return 1 if failed and args.check else 0


if __name__ == "__main__":
    sys.exit(main())
