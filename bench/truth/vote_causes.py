#!/usr/bin/env python3
"""Are the causes of votes in `dissent review --causes` right? Simulated crowds, and VariErr-NLI.

usage: bench/truth/vote_causes.py [--dissent build/dissent] [--runs 10] [--varierr varierr.json]

Simulated: annotators slip at their own rates, items have one reading, two readings, or a reading per group. Printed: the
mean stated probability of a slip, the true share, the calibration error over ten bins, the average precision for slips
among all votes, and the same for votes against the label of the majority, where a slip must be told from a reading. The
distance (mean squared) of soft labels to the true readings, with and without slips.

VariErr-NLI (Weber-Genzel et al. 2024; varierr.json of github.com/mainlp/VariErr-NLI): average precision for labels that
are errors by the judgements of the annotators, by the probability that all votes for the label are slips.
"""

import argparse
import csv
import json
import os
import random
import subprocess
import tempfile

CASES = {  # classes, shares of classes, mean slip rate, shares of items with one reading, two, a reading per group; votes
    "5 votes, 3 classes, slips 5 %": (3, None, 0.05, (0.7, 0.3, 0), 5),
    "5 votes, 3 classes, slips 15 %": (3, None, 0.15, (0.7, 0.3, 0), 5),
    "3 votes, 2 classes, slips 10 %": (2, None, 0.10, (0.7, 0.3, 0), 3),
    "10 votes, 2 classes 90/10, slips 10 %": (2, (0.9, 0.1), 0.10, (0.8, 0.2, 0), 10),
    "10 votes, 3 classes, two groups, slips 10 %": (3, None, 0.10, (0.6, 0.1, 0.3), 10),
    "5 votes, no ambiguous items, slips 10 %": (3, None, 0.10, (1, 0, 0), 5),
    "5 votes, no slips": (3, None, 0, (0.6, 0.4, 0), 5),
}


def average_precision(scored):
    """Of (score, is positive); ties count as their mean order."""
    total = sum(y for _, y in scored)
    if not total:
        return float("nan")
    by_score = {}
    for s, y in scored:
        n, k = by_score.get(s, (0, 0))
        by_score[s] = (n + 1, k + y)
    seen = found = 0
    out = 0.0
    for s in sorted(by_score, reverse=True):
        n, k = by_score[s]
        seen += n
        found += k
        out += k / total * found / seen
    return out


def simulate(draw, classes, shares, slip, kinds, votes, items=400, workers=30):
    shares = shares or [1 / classes] * classes
    rate = [min(0.9, slip * draw.expovariate(1)) for _ in range(workers)]
    rows, slips, truth = [], {}, {}
    for i in range(items):
        kind = draw.choices(range(3), kinds)[0]
        q = {g: [0.0] * classes for g in (0, 1)}
        first = draw.choices(range(classes), shares)[0]
        other = draw.choices(range(classes), [0 if k == first else s for k, s in enumerate(shares)])[0]
        t = draw.uniform(0.1, 0.9) if kind == 1 else 1
        for g in (0, 1):
            if kind == 2:
                q[g][first if g == 0 else other] = 1
            else:
                q[g][first] += t
                q[g][other] += 1 - t
        truth[i] = [(a + b) / 2 for a, b in zip(q[0], q[1])]
        for w in draw.sample(range(workers), votes):
            is_slip = draw.random() < rate[w]
            label = draw.randrange(classes) if is_slip else draw.choices(range(classes), q[w % 2])[0]
            rows.append((f"t{i}", f"w{w}", label))
            slips[f"t{i}", f"w{w}"] = is_slip
    return rows, slips, truth


def review(tool, folder, rows, *options):
    paths = {n: os.path.join(folder, n) for n in ("votes.csv", "causes.csv", "readings.csv", "plain.csv", "people.csv")}
    with open(paths["votes.csv"], "w", newline="") as f:
        csv.writer(f).writerows([("task", "worker", "label"), *rows])
    with open(paths["people.csv"], "w", newline="") as f:
        csv.writer(f).writerows([("worker", "side"), *((f"w{w}", w % 2) for w in range(30))])
    done = subprocess.run([tool, "review", paths["votes.csv"], "-q", "-o", os.devnull, "--format", "csv", "--causes",
                           paths["causes.csv"], "--readings", paths["readings.csv"],
                           *[paths[o[1:]] if o.startswith("@") else o for o in options]], capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr
    subprocess.run([tool, "labels", paths["votes.csv"], "--method", "standard", "-q", "-o", paths["plain.csv"],
                    *(["--duplicates", "all"] if "--duplicates" in options else [])], check=True)
    read = lambda n: list(csv.DictReader(open(paths[n], newline="")))
    return read("causes.csv"), (read("readings.csv"), read("plain.csv"))


def distance(labels, truth):
    return sum(sum((float(r[f"p:{k}"]) - p) ** 2 for k, p in enumerate(truth[int(r["task"][1:])])) for r in labels) / len(labels)


def simulated(tool, folder, runs):
    print("| crowd | stated slips | true | calibration error | AP of slips | AP among minority votes | base rate there | "
          "error of soft labels: readings | vote shares |\n|---|---|---|---|---|---|---|---|---|")
    for name, case in CASES.items():
        scored, minority, by_bin = [], [], {}
        stated = errors = 0.0
        distances = [0.0, 0.0]
        for run in range(runs):
            rows, slips, truth = simulate(random.Random(f"{name} {run}"), *case)
            group = ("--worker-table", "@people.csv", "--group", "side") if case[3][2] else ()
            causes, labels = review(tool, folder, rows, *group)
            assert causes is not None, labels
            count = {}
            for r in causes:
                count.setdefault(r["task"], {}).setdefault(r["label"], []).append(r)
            for r in causes:
                p, y = float(r["slip"]), slips[r["task"], r["worker"]]
                scored.append((p, y))
                b = by_bin.setdefault(min(9, int(10 * p)), [0, 0.0, 0])
                b[0], b[1], b[2] = b[0] + 1, b[1] + p, b[2] + y
                if len(count[r["task"]][r["label"]]) < max(map(len, count[r["task"]].values())):
                    minority.append((p, y))
            distances[0] += distance(labels[0], truth) / runs
            distances[1] += distance(labels[1], truth) / runs
        stated = sum(p for p, _ in scored) / len(scored)
        errors = sum(abs(s - k) for _, s, k in by_bin.values()) / len(scored)
        print(f"| {name} | {stated:.3f} | {sum(y for _, y in scored) / len(scored):.3f} | {errors:.3f} | "
              f"{average_precision(scored):.2f} | {average_precision(minority):.2f} | "
              f"{sum(y for _, y in minority) / max(1, len(minority)):.2f} | {distances[0]:.4f} | {distances[1]:.4f} |", flush=True)
    refused = 0
    for run in range(runs):
        draw = random.Random(f"noise {run}")
        rows = [(f"t{i}", f"w{w}", draw.randrange(3)) for i in range(300) for w in draw.sample(range(30), 5)]
        refused += review(tool, folder, rows)[0] is None
    print(f"\nnoise: refused in {refused} of {runs} crowds")


def varierr(tool, folder, path):
    rows, error, count = [], {}, {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            item = json.loads(line)
            for label in item["label_set_round_1"]:
                error[item["id"], label] = label in item["error_labels"]
                for who in {e["annotator"] for e in item[label]}:
                    rows.append((item["id"], f"w{who}", label))
                    count[item["id"], label] = count.get((item["id"], label), 0) + 1
    causes, labels = review(tool, folder, rows, "--duplicates", "all")
    assert causes is not None, labels
    slip = {}
    for r in causes:
        slip[r["task"], r["label"]] = slip.get((r["task"], r["label"]), 1.0) * float(r["slip"])
    share = {(r["task"], k[2:]): float(x) for r in labels[0] for k, x in r.items() if k.startswith("p:")}
    print(f"\nVariErr-NLI: {len(error)} labels, {sum(error.values())} errors ({sum(error.values()) / len(error):.3f})")
    print(f"average precision: slips {average_precision([(slip[k], y) for k, y in error.items()]):.3f}, "
          f"smallest share without slips {average_precision([(-share[k], y) for k, y in error.items()]):.3f}, "
          f"fewest votes {average_precision([(-count[k], y) for k, y in error.items()]):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dissent", default="build/dissent")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--varierr")
    args = parser.parse_args()
    tool = os.path.abspath(args.dissent)
    with tempfile.TemporaryDirectory() as folder:
        if args.varierr:
            varierr(tool, folder, args.varierr)
        else:
            simulated(tool, folder, args.runs)


if __name__ == "__main__":
    main()
