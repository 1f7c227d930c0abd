#!/usr/bin/env python3
"""How well labels predict the next vote on an item, on the crowds in data/.

    bench/truth/next_vote.py crowds [NAME...]     log-loss of a held-out vote per item, by label method
    bench/truth/next_vote.py estimators           leave-one-out and marginal likelihood, fixed strengths, priors
    bench/truth/next_vote.py small                crowds thinned to 50 and 200 items
    bench/truth/next_vote.py reference            labels of 3, 5 and 10 votes against those of all 50 to 100
    bench/truth/next_vote.py parity               `--method smoothed` against scipy

One vote of each item with two or more is held out at random; labels are made from the other votes and scored by
-log p(held-out vote), floored at 1e-12. Means over draws, then over crowds. Repeated votes of an annotator on an item
keep the first. `crowds`, `reference` and `parity` run the tool; `estimators` and `small` repeat the estimate in NumPy,
so that variants can be compared. Needs numpy and scipy, and the data (--data, DISSENT_DATA, ../shared/data), which is
not part of this repository. docs/guides/label-variation.md has the results."""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import label_methods as sets
import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import gammaln

VOTES = {name: votes for name, (votes, _) in sets.SETS.items()} | {
    "stemming": "stemming/annotations.csv",
    "popquorn": "popquorn/annotations.csv",
    "snli-5": "chaosnli/snli_old5_annotations.csv",
    "mnli-5": "chaosnli/mnli_m_old5_annotations.csv",
    "hs-brexit": "lewidi2023/HS-Brexit/annotations.csv",
    "armis": "lewidi2023/ArMIS/annotations.csv",
    "convabuse": "lewidi2023/ConvAbuse/annotations.csv",
    "convabuse-severity": "lewidi2023/ConvAbuse/annotations_severity.csv",
    "md-agreement": "lewidi2023/MD-Agreement/annotations.csv",
    "csc": "lewidi2025/CSC/annotations.csv",
    "mp": "lewidi2025/MP/annotations.csv",
    "varierrnli": "lewidi2025/VariErrNLI/annotations.csv",
    "paraphrase": "lewidi2025/Paraphrase/annotations.csv",
}
CHAOS = {f"chaosnli-{part}": f"chaosnli/orig/chaosNLI_{part}.jsonl" for part in ("snli", "mnli_m", "alphanli")}
NO_WORKERS = {"stemming", *CHAOS, "cifar10h"}  # counts, or ids that are made up
METHODS = ("smoothed", "smoothed:strength=2", "default", "dawid-skene", "softmax", "standard")
SPREAD, RATES_WEIGHT, USUAL = 1.5, 10.0, 2.0  # as in src/labels/methods/smoothed.c


# ---- crowds ----


def read_votes(path):
    """(task, worker, label) as numbers, and how many classes there are."""
    first = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            first.setdefault((row["task"], row["worker"]), row["label"])
    task = np.unique([t for t, _ in first], return_inverse=True)[1]
    worker = np.unique([w for _, w in first], return_inverse=True)[1]
    classes, label = np.unique(list(first.values()), return_inverse=True)
    return task, worker, label, len(classes)


def counts_as_votes(counts):
    item, label = np.nonzero(counts)
    times = counts[item, label].astype(int)
    item, label = np.repeat(item, times), np.repeat(label, times)
    return item, np.arange(len(item)), label, counts.shape[1]


def load(folder, wanted=()):
    """name: (task, worker, label, number of classes)."""
    found = {}
    for name, path in VOTES.items():
        if (folder / path).is_file() and (not wanted or name in wanted):
            found[name] = read_votes(folder / path)
    for name, path in CHAOS.items():
        if (folder / path).is_file() and (not wanted or name in wanted):
            rows = [json.loads(line)["label_counter"] for line in open(folder / path, encoding="utf-8")]
            keys = sorted({k for row in rows for k in row})
            found[name] = counts_as_votes(np.array([[row.get(k, 0) for k in keys] for row in rows]))
    cifar = folder / "cifar10h/counts.csv"
    if cifar.is_file() and (not wanted or "cifar10h" in wanted):
        found["cifar10h"] = counts_as_votes(np.loadtxt(cifar, delimiter=",", skiprows=1, usecols=range(1, 11)))
    return found


def table(task, label, n_items, n_classes):
    counts = np.zeros((n_items, n_classes))
    np.add.at(counts, (task, label), 1)
    return counts


def hold_out(task, rng):
    """Numbers of the votes that are held out: one of each item with two or more."""
    order = rng.permutation(len(task))
    items, first, n = np.unique(task[order], return_index=True, return_counts=True)
    return order[first[n > 1]]


def loss(p, task, label):
    return -np.log(np.maximum(p[task, label], 1e-12)).mean()


# ---- the tool ----


def fit_tool(tool, rows, counts, method, summary=False):
    """Labels (items, classes) of the tool, from rows (task, worker, label) or, where rows is None, from counts."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        votes, out = folder / "votes.csv", folder / "labels.csv"
        with open(votes, "w", newline="") as file:
            write = csv.writer(file, lineterminator="\n")
            if rows is None:
                write.writerow(["task", *(f"k{k:05d}" for k in range(counts.shape[1]))])
                write.writerows([i, *map(int, row)] for i, row in enumerate(counts))
            else:
                write.writerow(["task", "worker", "label"])
                write.writerows((t, w, f"k{k:05d}") for t, w, k in zip(*rows))
        command = [tool, "labels", votes, "-o", out, "-q", "--threads", 1, "--json", folder / "summary.json"]
        if rows is None:
            command += ["--input", "counts"]
        else:
            command += ["--classes", ",".join(f"k{k:05d}" for k in range(counts.shape[1]))]
        command += [] if method == "default" else ["--method", method]
        subprocess.run([str(x) for x in command], check=True)
        with open(out, newline="") as file:
            read = csv.reader(file)
            first = next(read).index("p:k00000")
            p = np.full(counts.shape, 1 / counts.shape[1])
            for row in read:
                p[int(row[0])] = [float(x) for x in row[first:]]
        return (p, json.loads((folder / "summary.json").read_text())) if summary else p


def crowds(args):
    print("| crowd | items | votes per item | strength | " + " | ".join(METHODS) + " |")
    print("|" + "---|" * (4 + len(METHODS)))
    means = []
    for name, (task, worker, label, n_classes) in load(args.folder, args.name).items():
        n_items, rows, strength = task.max() + 1, [], []
        for draw in range(args.draws):
            out = hold_out(task, np.random.default_rng(draw))
            keep = np.ones(len(task), bool)
            keep[out] = False
            counts = table(task[keep], label[keep], n_items, n_classes)
            votes = None if name in NO_WORKERS else (task[keep], worker[keep], label[keep])
            losses = []
            for method in METHODS:
                if votes is None and method == "dawid-skene":
                    losses.append(np.nan)
                    continue
                p, run_summary = fit_tool(args.tool, votes, counts, method, summary=True)
                losses.append(loss(p, task[out], label[out]))
                if method == "smoothed":
                    strength.append(run_summary["methods"][0]["strength"])
            rows.append(losses)
        mean = np.mean(rows, axis=0)
        means.append(mean)
        cells = [sets.number(x) if np.isfinite(x) else "" for x in mean]
        cells = [name, str(n_items), f"{len(task) / n_items:.1f}", f"{np.mean(strength):.2f}", *cells]
        print("| " + " | ".join(cells) + " |")
        sys.stdout.flush()
    both = np.array(means)
    every = [sets.number(x) if np.isfinite(x) else "" for x in both.mean(axis=0)]
    print(f"| mean of {len(both)} | | | | " + " | ".join(every) + " |")
    voters = both[np.isfinite(both).all(axis=1)]
    known = map(sets.number, voters.mean(axis=0))
    print(f"| mean of {len(voters)} with annotator ids | | | | " + " | ".join(known) + " |")


# ---- the estimate again ----


def patterns(counts):
    rows, times = np.unique(counts[counts.sum(axis=1) > 0], axis=0, return_counts=True)
    return rows, times.astype(float)


def mean_shares(rows, times):
    n_classes = rows.shape[1]
    shares = (times[:, None] * rows / rows.sum(axis=1)[:, None]).sum(axis=0)
    return (shares + 1 / n_classes) / (times.sum() + 1)


def objective(x, rows, times, share, weight, spread):
    """The negative objective of smoothed.c at log(a r), and its gradient."""
    alpha = np.exp(x)
    a, n = alpha.sum(), rows.sum(axis=1)
    rest = np.maximum(rows - 1, 0) + alpha
    each = times / n
    value = (each[:, None] * rows * np.log(rest)).sum() - (each * n * np.log(n - 1 + a)).sum()
    value += weight * (share * np.log(alpha / a)).sum() - np.log(a / USUAL) ** 2 / (2 * spread**2)
    slope = (each[:, None] * rows / rest).sum(axis=0) - (each * n / (n - 1 + a)).sum()
    slope += weight * (share / alpha - 1 / a) - np.log(a / USUAL) / (spread**2 * a)
    return -value, -slope * alpha


def estimate(counts, weight=RATES_WEIGHT, spread=SPREAD):
    """Strength times rates, by BFGS."""
    rows, times = patterns(counts)
    share = mean_shares(rows, times)
    has_two = rows.sum(axis=1) >= 2
    if not has_two.any():
        return USUAL * share
    given = (rows[has_two], times[has_two], share, weight, spread)
    best = minimize(objective, np.log(USUAL * share), given, jac=True, method="BFGS", options={"gtol": 1e-8})
    return np.exp(best.x)


def of_strength(value, share):
    """Strength that maximises value(a), times fixed rates."""
    best = minimize_scalar(lambda x: -value(np.exp(x)), bounds=(-9, 12), method="bounded", options={"xatol": 1e-6})
    return np.exp(best.x) * share


def leave_one_out(counts):
    rows, times = patterns(counts)
    share, n = mean_shares(rows, times), rows.sum(axis=1)
    rest = np.maximum(rows - 1, 0)

    def value(a):
        terms = rows * np.log((rest + a * share) / (n - 1 + a)[:, None])
        return (times[n > 1] / n[n > 1] * terms[n > 1].sum(axis=1)).sum() - np.log(a / USUAL) ** 2 / (2 * SPREAD**2)

    return of_strength(value, share)


def marginal(counts):
    rows, times = patterns(counts)
    share, n = mean_shares(rows, times), rows.sum(axis=1)

    def value(a):
        terms = (gammaln(rows + a * share) - gammaln(a * share)).sum(axis=1) + gammaln(a) - gammaln(n + a)
        return (times * terms).sum() - np.log(a / USUAL) ** 2 / (2 * SPREAD**2)

    return of_strength(value, share)


ESTIMATORS = {
    "strength 1": lambda counts: mean_shares(*patterns(counts)),
    "strength 2": lambda counts: 2 * mean_shares(*patterns(counts)),
    "strength 4": lambda counts: 4 * mean_shares(*patterns(counts)),
    "marginal likelihood": marginal,
    "leave-one-out": leave_one_out,
    "leave-one-out, rates too": estimate,
}
PRIORS = [(weight, spread) for weight in (1, 3, 10, 30, 100) for spread in (1, 1.5, 2.5)]


def losses_of(crowd, estimators, draws, size=0):
    task, _, label, n_classes = crowd
    rows = []
    for draw in range(draws):
        rng = np.random.default_rng(draw)
        items = rng.permutation(task.max() + 1)[: size or None]
        chosen = np.isin(task, items)
        some, labels = np.unique(task[chosen], return_inverse=True)[1], label[chosen]
        out = hold_out(some, rng)
        keep = np.ones(len(some), bool)
        keep[out] = False
        counts = table(some[keep], labels[keep], some.max() + 1, n_classes)
        row = []
        for fit in estimators.values():
            alpha = fit(counts)
            p = (counts + alpha) / (counts.sum(axis=1) + alpha.sum())[:, None]
            row.append(loss(p, some[out], labels[out]))
        rows.append(row)
    return np.mean(rows, axis=0)


def by_prior(weight, spread):
    return lambda counts: estimate(counts, weight, spread)


def left_out(losses):
    """Each crowd with the choice that is best on the others."""
    total = losses.sum(axis=0)
    return np.mean([row[np.argmin(total - row)] for row in losses])


def estimators(args, size=0):
    loaded = load(args.folder, args.name)
    crowds = {k: v for k, v in loaded.items() if not size or v[0].max() + 1 >= 1.2 * size}
    rows = np.array([losses_of(c, ESTIMATORS, args.draws, size) for c in crowds.values()])
    print(f"{len(crowds)} crowds" + (f" thinned to {size} items" if size else ""))
    for name, x in zip(ESTIMATORS, rows.mean(axis=0)):
        print(f"{name:26} {x:.4f}", flush=True)
    fits = {f"{w:g} {s:g}": by_prior(w, s) for w, s in PRIORS}
    rows = np.array([losses_of(c, fits, args.draws, size) for c in crowds.values()])
    for name, x in zip(fits, rows.mean(axis=0)):
        print(f"weight of rates, spread: {name:8} {x:.5f}")
    print(f"each crowd with the choice of the others: {left_out(rows):.5f}", flush=True)


def small(args):
    for size in (50, 200):
        estimators(args, size)


def parity(args):
    worst = 0
    for name, (task, _, label, n_classes) in load(args.folder, args.name).items():
        counts = table(task, label, task.max() + 1, n_classes)
        alpha = estimate(counts)
        p, run_summary = fit_tool(args.tool, None, counts, "smoothed", summary=True)
        expected = (counts + alpha) / (counts.sum(axis=1) + alpha.sum())[:, None]
        apart = np.abs(p - expected).max()
        worst = max(worst, apart)
        fit = run_summary["methods"][0]
        print(f"{name:20} strength {fit['strength']:9.5f} scipy {alpha.sum():9.5f}  {fit['iterations']} iterations  "
              f"largest difference of a probability {apart:.1e}", flush=True)
    return worst > 1e-6


def entropy(p):
    return -(p * np.log(np.maximum(p, 1e-300))).sum(axis=1)


def references(args):
    """Human labels made of n votes, against the shares of the other votes: log-loss, divergence, entropy."""
    print("| crowd | votes | labels | log-loss | Jensen-Shannon | entropy | of all votes | correlation |")
    print("|" + "---|" * 8)
    for name, (task, _, label, n_classes) in load(args.folder, args.name or [*CHAOS, "cifar10h"]).items():
        n_items = task.max() + 1
        for n in (3, 5, 10):
            order = np.random.default_rng(n).permutation(len(task))
            order = order[np.argsort(task[order], kind="stable")]
            place = np.arange(len(task)) - np.searchsorted(task[order], task[order])
            training, rest = order[place < n], order[place >= n]
            counts = table(task[training], label[training], n_items, n_classes)
            truth = table(task[rest], label[rest], n_items, n_classes)
            truth /= truth.sum(axis=1, keepdims=True)
            for method in ("standard", "softmax", "smoothed"):
                p = fit_tool(args.tool, None, counts, method)
                logs = -(truth * np.log(np.maximum(p, 1e-12))).sum(axis=1).mean()
                middle = (p + truth) / 2
                js = (entropy(middle) - (entropy(p) + entropy(truth)) / 2).mean()
                r = np.corrcoef(entropy(p), entropy(truth))[0, 1]
                figures = (logs, js, entropy(p).mean(), entropy(truth).mean(), r)
                print(f"| {name} | {n} | {method} | " + " | ".join(map(sets.number, figures)) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("crowds", "estimators", "small", "reference", "parity"))
    parser.add_argument("name", nargs="*", help="crowds; default: all")
    parser.add_argument("--data", help="folder of the sets")
    parser.add_argument("--tool", default=sets.ROOT / "build" / "dissent")
    parser.add_argument("--draws", type=int, default=3, help="of the held-out votes")
    args = parser.parse_args()
    args.folder = sets.data_folder(args.data)
    if args.folder is None:
        print("skipped: no data (--data FOLDER, DISSENT_DATA or ../shared/data)", file=sys.stderr)
        return 0
    parts = {"crowds": crowds, "estimators": estimators, "small": small, "reference": references, "parity": parity}
    return parts[args.what](args) or 0


if __name__ == "__main__":
    sys.exit(main())
