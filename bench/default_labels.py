#!/usr/bin/env python3
"""How the default labels were chosen: power and limit of `--combine calibrated`, by cross-validation over real crowds.

    bench/default_labels.py choose      log-loss over a grid of power and limit; each set judged by the others' choice
    bench/default_labels.py votes       the best temperature of crowds whose votes are cut to 2, 3, 5 and 8 per item
    bench/default_labels.py price       what it costs on crowds drawn from the models of `dissent synth`
    bench/default_labels.py expected    the chance of being right that labels give themselves, and the true share

Views: dawid-skene (its defaults) and crowd. Sets, gold, ties and log-loss as in label_methods.py. Standard library
only; the tool fits the views, the tempering is done here so that a grid costs one fit. docs/default-labels.md has the
results."""

import argparse
import csv
import itertools
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import label_methods as sets

VIEWS = ("dawid-skene", "crowd")
POWERS = (0, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9, 1)
LIMITS = (8, 12, 16, 24, 40, 1e9)
CUTS = (2, 3, 5, 8)


def read_votes(path):
    """(task, worker, label), the first vote of each pair."""
    seen = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            seen.setdefault((row["task"], row["worker"]), row["label"])
    return [(task, worker, label) for (task, worker), label in seen.items()]


def cut(votes, n, seed=1):
    """At most n votes per task, drawn at random."""
    order = votes[:]
    random.Random(seed).shuffle(order)
    left, kept = {}, []
    for vote in order:
        left[vote[0]] = left.get(vote[0], n) - 1
        if left[vote[0]] >= 0:
            kept.append(vote)
    return kept


def write_votes(path, votes):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([("task", "worker", "label"), *votes])


def fit(tool, votes_path, options):
    """Rows of labels by task: {task: {class: p}}."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "labels.csv"
        subprocess.run([str(tool), "labels", str(votes_path), "--quiet", "-o", str(out), *options], check=True)
        with open(out, newline="", encoding="utf-8") as file:
            rows = csv.reader(file)
            header = next(rows)
            first = 3
            classes = [name[2:] for name in header[first:]]
            return {row[0]: dict(zip(classes, map(float, row[first:]))) for row in rows}


def problem(tool, votes, gold):
    """Per item with gold: number of votes, log p of gold and of all classes in each view."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        write_votes(path, votes)
        views = [fit(tool, path, ["--method", view]) for view in VIEWS]
    n_votes = {}
    for task, _, _ in votes:
        n_votes[task] = n_votes.get(task, 0) + 1
    items = []
    for task, n in n_votes.items():
        if task in gold and gold[task] in views[0][task]:
            classes = list(views[0][task])
            logs = [[math.log(max(view[task][k], 1e-300)) for k in classes] for view in views]
            items.append((n, classes.index(gold[task]), logs))
    return items


def tempered(logs, t):
    top = max(logs)
    terms = [math.exp((x - top) / t) for x in logs]
    total = sum(terms)
    return [x / total for x in terms]


def log_loss(items, temperature):
    """Mean -log p(gold) where temperature(number of votes) flattens each view before they are averaged."""
    loss = 0
    for n, truth, views in items:
        t = temperature(n)
        loss -= math.log(max(sum(tempered(logs, t)[truth] for logs in views) / len(views), sets.FLOOR))
    return loss / len(items)


def load(args):
    folder = sets.data_folder(args.data)
    if folder is None:
        sys.exit("skipped: no data (--data FOLDER, DISSENT_DATA or ../shared/data)")
    found = {}
    for name, (votes, gold) in sets.SETS.items():
        if (folder / votes).is_file() and (folder / gold).is_file():
            found[name] = (read_votes(folder / votes), sets.read_gold(folder / gold))
        else:
            print(f"skipped: {name}, no {folder / votes}", file=sys.stderr)
    return found


def choose(args):
    problems = {name: problem(args.tool, votes, gold) for name, (votes, gold) in load(args).items()}
    grid = list(itertools.product(POWERS, LIMITS))
    loss = {
        (power, limit): {
            s: log_loss(items, lambda n, a=power, m=limit: min(n, m) ** a) for s, items in problems.items()
        }
        for power, limit in grid
    }
    mean = {g: sum(row.values()) / len(row) for g, row in loss.items()}
    print("| power | " + " | ".join(f"limit {limit:g}" for limit in LIMITS) + " |\n|" + "---|" * (len(LIMITS) + 1))
    for power in POWERS:
        print(f"| {power:g} | " + " | ".join(sets.number(mean[power, limit]) for limit in LIMITS) + " |")
    held_out = {}
    for s in problems:
        best = min(grid, key=lambda g: sum(x for other, x in loss[g].items() if other != s))
        held_out[s] = (loss[best][s], best)
    print(
        f"best of all {min(mean, key=mean.get)}: {min(mean.values()):.4f}; chosen without the set that is judged: "
        f"{sum(x for x, _ in held_out.values()) / len(held_out):.4f}"
    )
    print(", ".join(f"{s} {sets.number(x)} by {g[0]:g}/{g[1]:g}" for s, (x, g) in held_out.items()))


def best_temperature(items):
    """By golden section on log T; log-loss has one minimum in T for all these crowds."""
    low, high, ratio = -1.0, 4.0, (math.sqrt(5) - 1) / 2
    while high - low > 0.01:
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        if log_loss(items, lambda n: math.exp(a)) < log_loss(items, lambda n: math.exp(b)):
            high = b
        else:
            low = a
    return math.exp((low + high) / 2)


def votes_per_item(args):
    print("| set | " + " | ".join(f"{n} votes" for n in CUTS) + " |\n|" + "---|" * (len(CUTS) + 1))
    for name, (votes, gold) in load(args).items():
        usual = len(votes) / len({task for task, _, _ in votes})
        cells = [
            f"{best_temperature(problem(args.tool, cut(votes, n), gold)):.2f}" if usual > n + 1 else "" for n in CUTS
        ]
        if any(cells):
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    print("| n^.7 | " + " | ".join(f"{n**0.7:.2f}" for n in CUTS) + " |")


CONDITIONS = {
    "default": [],
    "without tempering": [x for view in VIEWS for x in ("--method", view)] + ["--combine", "average"],
    "papers": ["--method", "papers"],
}


def price(args):
    print("| crowd | votes per item | " + " | ".join(CONDITIONS) + " |\n|" + "---|" * (len(CONDITIONS) + 2))
    for model, n in itertools.product(("dawid-skene", "one-coin", "spammer", "difficulty"), (3, 5, 10)):
        rows = {name: [] for name in CONDITIONS}
        for seed in range(args.seeds):
            with tempfile.TemporaryDirectory() as folder:
                votes, gold, out = (Path(folder) / f for f in ("votes.csv", "gold.csv", "labels.csv"))
                subprocess.run(
                    [
                        str(args.tool),
                        "synth",
                        "--model",
                        model,
                        "--workers",
                        "30",
                        "--votes-per-item",
                        str(n),
                        "--seed",
                        str(seed),
                        "-q",
                        "-o",
                        str(votes),
                        "--gold",
                        str(gold),
                    ],
                    check=True,
                )
                for name, options in CONDITIONS.items():
                    subprocess.run([str(args.tool), "labels", str(votes), "-q", "-o", str(out), *options], check=True)
                    rows[name].append(sets.score(out, sets.read_gold(gold))[:2])
        cells = [" / ".join(f"{sum(r[i] for r in row) / len(row):.3f}" for i in (0, 1)) for row in rows.values()]
        print(f"| {model} | {n} | " + " | ".join(cells) + " |", flush=True)


def expected(args):
    print("| set | expected | true | difference |\n|---|---|---|---|")
    apart = []
    for name, (votes, gold) in load(args).items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "votes.csv"
            write_votes(path, votes)
            labels = fit(args.tool, path, [])
        judged = [
            (max(p.values()), (gold[t] in p) and p[gold[t]] == max(p.values())) for t, p in labels.items() if t in gold
        ]
        says, is_so = (sum(x[i] for x in judged) / len(judged) for i in (0, 1))
        apart.append(says - is_so)
        print(f"| {name} | {says:.3f} | {is_so:.3f} | {says - is_so:+.3f} |", flush=True)
    print(f"mean {sum(apart) / len(apart):+.3f}, mean absolute {sum(map(abs, apart)) / len(apart):.3f}")


def main():
    parts = {"choose": choose, "votes": votes_per_item, "price": price, "expected": expected}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=parts)
    parser.add_argument("--data", help="folder of the sets")
    parser.add_argument("--tool", default=sets.ROOT / "build" / "dissent")
    parser.add_argument("--seeds", type=int, default=8, help="crowds per row of price")
    args = parser.parse_args()
    parts[args.part](args)


if __name__ == "__main__":
    main()
