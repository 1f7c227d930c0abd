#!/usr/bin/env python3
"""How the default labels were chosen: constants of `--combine calibrated`, by cross-validation over real crowds.

    bench/default_labels.py choose      log-loss over a grid of constants; each set scored with the choice of the others
    bench/default_labels.py votes       the best temperature of crowds whose votes are cut to 2, 3, 5 and 8 per item
    bench/default_labels.py price       log-loss on crowds drawn from the models of `dissent synth`
    bench/default_labels.py small       crowds thinned to 50, 100 and 300 items, compared with the majority
    bench/default_labels.py expected    the probability that labels assign to themselves, and the true accuracy

Views: dawid-skene (its defaults) and crowd. The tool fits the views and estimates the overdispersion; tempering and
mixing are repeated here, so that a grid costs one fit. Sets, gold, ties and log-loss as in label_methods.py. Standard
library only. docs/default-labels.md has the results."""

import argparse
import csv
import itertools
import json
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import label_methods as sets

VIEWS = ("dawid-skene", "crowd")
BASES = (0.4, 0.44, 0.48, 0.52, 0.56, 0.6, 0.7)
SLOPES = (0, 0.15, 0.3, 0.45)
LIMITS = (12, 16, 24)
MIXES = (0, 0.02, 0.05)
MAX_SPREAD = 1.5
CUTS = (2, 3, 5, 8)
SIZES = (50, 100, 300)
MAX_ITEMS = 2000  # gold items per set that a grid scores


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


def overdispersion(tool, path):
    """As `dissent labels` estimates it."""
    with tempfile.TemporaryDirectory() as folder:
        out = [str(Path(folder) / name) for name in ("labels.csv", "labels.json")]
        command = [str(tool), "labels", str(path), "--quiet", "-o", out[0], "--json", out[1]]
        subprocess.run(command, check=True)
        return json.loads(Path(out[1]).read_text())["combination"]["overdispersion"]


def problem(tool, votes, gold):
    """The overdispersion, and per item with gold: votes per class, smoothed shares, index of gold, log p of each view."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        write_votes(path, votes)
        views = [fit(tool, path, ["--method", view]) for view in VIEWS]
        spread = overdispersion(tool, path)
    counts, rate = {}, {}
    for task, _, label in votes:
        of_task = counts.setdefault(task, {})
        of_task[label] = of_task.get(label, 0) + 1
        rate[label] = rate.get(label, 0) + 1 / len(votes)
    items = []
    for task, count in counts.items():
        if task in gold and gold[task] in views[0][task]:
            classes = list(views[0][task])
            n = sum(count.values())
            shares = [(count.get(k, 0) + 2 * rate[k]) / (n + 2) for k in classes]
            logs = [[math.log(max(view[task][k], 1e-300)) for k in classes] for view in views]
            items.append((n, classes.index(gold[task]), logs, shares))
    random.Random(1).shuffle(items)
    return spread, items[:MAX_ITEMS]


def tempered(logs, t):
    top = max(logs)
    terms = [math.exp((x - top) / t) for x in logs]
    total = sum(terms)
    return [x / total for x in terms]


def log_loss(items, temperature, mix=0.0):
    """Mean -log p(gold) where temperature(number of votes) flattens each view before they are averaged and mixed."""
    loss = 0
    for n, truth, views, shares in items:
        t = temperature(n)
        p = sum(tempered(logs, t)[truth] for logs in views) / len(views)
        loss -= math.log(max((1 - mix) * p + mix * shares[truth], sets.FLOOR))
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
    print(", ".join(f"{name} {spread:.2f}" for name, (spread, _) in problems.items()))
    grid = list(itertools.product(BASES, SLOPES, LIMITS, MIXES))
    loss = {}
    for base, slope, limit, mix in grid:
        row = loss[base, slope, limit, mix] = {}
        for name, (spread, items) in problems.items():
            power = base + slope * min(spread, MAX_SPREAD)
            row[name] = log_loss(items, lambda n, a=power, m=limit: min(n, m) ** a, mix)
    mean = {g: sum(row.values()) / len(row) for g, row in loss.items()}
    print("| base | " + " | ".join(f"slope {slope:g}" for slope in SLOPES) + " |\n|" + "---|" * (len(SLOPES) + 1))
    for base in BASES:
        print(f"| {base:g} | " + " | ".join(sets.number(mean[base, slope, 16, 0.02]) for slope in SLOPES) + " |")
    print("(limit 16, mix .02)")
    held_out = {}
    for s in problems:
        best = min(grid, key=lambda g: sum(x for other, x in loss[g].items() if other != s))
        held_out[s] = (loss[best][s], best)
    print(
        f"best of all {min(mean, key=mean.get)}: {min(mean.values()):.4f}; each set scored with the choice of the "
        f"others: {sum(x for x, _ in held_out.values()) / len(held_out):.4f}"
    )
    print(", ".join(f"{s} {sets.number(x)} by {g}" for s, (x, g) in held_out.items()))


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
            f"{best_temperature(problem(args.tool, cut(votes, n), gold)[1]):.2f}" if usual > n + 1 else "" for n in CUTS
        ]
        if any(cells):
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    print("| n^.7 | " + " | ".join(f"{n**0.7:.2f}" for n in CUTS) + " |")


MODELS = ("dawid-skene", "one-coin", "spammer", "difficulty")
CONDITIONS = {
    "default": [],
    "without tempering": [x for view in VIEWS for x in ("--method", view)] + ["--combine", "average"],
    "papers": ["--method", "papers"],
}


def price(args):
    print("| crowd | votes per item | classes | " + " | ".join(CONDITIONS) + " |\n|" + "---|" * (len(CONDITIONS) + 3))
    means = {name: [] for name in CONDITIONS}
    for model, n, classes in itertools.product(MODELS, (3, 5, 10), (2, 4)):
        rows = {name: [] for name in CONDITIONS}
        for seed in range(args.first_seed, args.first_seed + args.seeds):
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
                        "--classes",
                        str(classes),
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
        for name, row in rows.items():
            means[name].append([sum(x) / len(x) for x in zip(*row)])
        print(f"| {model} | {n} | {classes} | " + " | ".join(cells) + " |", flush=True)
    cells = [" / ".join(f"{sum(x) / len(x):.3f}" for x in zip(*row)) for row in means.values()]
    print("| mean | | | " + " | ".join(cells) + " |")


def small(args):
    """Means over sets of three random subsets of the items each; accuracy / log-loss."""
    conditions = {"majority": ["--method", "majority"], "default": []}
    print("| items | " + " | ".join(conditions) + " | worst difference in accuracy |\n|" + "---|" * (len(conditions) + 2))
    for size in SIZES:
        rows = {name: [] for name in conditions}
        for votes, gold in load(args).values():
            known = sorted({task for task, _, _ in votes if task in gold})
            if len(known) < size:
                continue
            means = {name: [] for name in conditions}
            for seed in range(3):
                chosen = set(random.Random(seed).sample(known, size))
                with tempfile.TemporaryDirectory() as folder:
                    path, out = (Path(folder) / f for f in ("votes.csv", "labels.csv"))
                    write_votes(path, [vote for vote in votes if vote[0] in chosen])
                    for name, options in conditions.items():
                        subprocess.run([str(args.tool), "labels", str(path), "-q", "-o", str(out), *options], check=True)
                        means[name].append(sets.score(out, gold)[:2])
            for name, scores in means.items():
                rows[name].append([sum(x) / len(x) for x in zip(*scores)])
        worst = min(d[0] - m[0] for d, m in zip(rows["default"], rows["majority"]))
        cells = [" / ".join(sets.number(sum(x) / len(x)) for x in zip(*row)) for row in rows.values()]
        print(f"| {size} | " + " | ".join(cells) + f" | {worst:+.3f} |", flush=True)


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
    parts = {"choose": choose, "votes": votes_per_item, "price": price, "small": small, "expected": expected}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=parts)
    parser.add_argument("--data", help="folder of the sets")
    parser.add_argument("--tool", default=sets.ROOT / "build" / "dissent")
    parser.add_argument("--first-seed", type=int, default=11, help="seed of the first crowd of price")
    parser.add_argument("--seeds", type=int, default=4, help="crowds per row of price")
    args = parser.parse_args()
    parts[args.part](args)


if __name__ == "__main__":
    main()
