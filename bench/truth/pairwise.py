#!/usr/bin/env python3
"""Do 95 % intervals of pairwise scores, ranks and coefficients hold? Simulated annotators with known scores.

usage: bench/truth/pairwise.py [--dissent build/dissent] [--runs 200] [--only ranks|coefficients|camps] [--cases TEXT]

ranks: the share of intervals that contain the true rank (any rank of a tie counts), the share of runs in which all
joint intervals do, and how often a thing is called the winner although another one is at least as good. Annotators with
tastes have scores of their own, which vary around those of the crowd.
coefficients: the share of intervals that contain the true coefficient of the position and of the length.
camps: how often votes without camps get a p-value of at most .05, and how often votes of two camps do.
"""

import argparse
import csv
import math
import os
import random
import subprocess
import tempfile

RANKS = {  # true scores, comparisons, raters, share of raters who vote at random, standard deviation of tastes
    "all equal": ([0] * 6, 400, 8, 0, 0),
    "all equal, two things": ([0] * 2, 60, 6, 0, 0),
    "all equal, 25 things": ([0] * 25, 2000, 10, 0, 0),
    "even steps": ([k * 0.4 for k in range(6)], 400, 8, 0, 0),
    "one winner": ([1.0, 0, 0, 0, 0], 300, 8, 0, 0),
    "even steps, a quarter at random": ([k * 0.4 for k in range(6)], 400, 8, 0.25, 0),
    "even steps, few comparisons": ([k * 0.4 for k in range(6)], 60, 4, 0, 0),
    "all equal, tastes .5, 8 raters": ([0] * 6, 800, 8, 0, 0.5),
    "all equal, tastes .5, 30 raters": ([0] * 6, 1500, 30, 0, 0.5),
    "even steps, tastes .5, 30 raters": ([k * 0.4 for k in range(6)], 1500, 30, 0, 0.5),
}
COEFFICIENTS = {  # comparisons, raters, standard deviations of tastes for things and for length, method
    "600 comparisons, 10 raters": (600, 10, 0, 0, ""),
    "600 comparisons, 10 raters, davidson": (600, 10, 0, 0, ",ties=davidson"),
    "600 comparisons, 10 raters, rao-kupper": (600, 10, 0, 0, ",ties=rao-kupper"),
    "2,000 comparisons, 20 raters, length tastes .01": (2000, 20, 0.3, 0.01, ",ties=davidson"),
    "2,000 comparisons, 8 raters, length tastes .01": (2000, 8, 0.3, 0.01, ",ties=davidson"),
}
POSITION, LENGTH = 0.3, 0.02


def write(path, rows):
    with open(path, "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(("task", "a", "b", "worker", "winner", "la", "lb"))
        out.writerows(rows)


def read(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def labels(tool, votes, *options):
    subprocess.run([tool, "labels", votes, "--scale", "pairwise", "--task", "task", "-q", "-o", os.devnull, *options], check=True)


def ranks(tool, folder, runs, cases):
    votes, table = os.path.join(folder, "votes.csv"), os.path.join(folder, "ranks.csv")
    print("| case | intervals that hold | all joint intervals hold | mean width | winner named | wrongly named |")
    print("|---|---|---|---|---|---|")
    for name, (scores, n, raters, bad, taste) in RANKS.items():
        if cases not in name:
            continue
        held = joint = width = total = named = wrong = 0
        for run in range(runs):
            draw = random.Random(f"{name} {run}")
            own = [[s + draw.gauss(0, taste) for s in scores] for _ in range(raters)]
            rows = []
            for _ in range(n):
                a, b = draw.sample(range(len(scores)), 2)
                w = draw.randrange(raters)
                chance = 0.5 if w < bad * raters else 1 / (1 + math.exp(own[w][b] - own[w][a]))
                rows.append(("q", f"t{a}", f"t{b}", f"w{w}", "a" if draw.random() < chance else "b", 0, 0))
            write(votes, rows)
            labels(tool, votes, "--table", "ranks=" + table)
            all_hold = True
            for row in read(table):
                k = int(row["thing"][1:])
                best = 1 + sum(s > scores[k] for s in scores)
                worst = len(scores) - sum(s < scores[k] for s in scores)
                low, high = float(row["rank_low"]), float(row["rank_high"])
                total += 1
                held += low <= best and worst <= high
                all_hold = all_hold and float(row["joint_low"]) <= best and worst <= float(row["joint_high"])
                width += high - low
                if high == 1:
                    named += 1
                    wrong += worst > 1
            joint += all_hold
        print(f"| {name} | {held / total:.3f} | {joint / runs:.3f} | {width / total:.2f} | {named} | {wrong} |", flush=True)


def coefficients(tool, folder, runs, cases):
    votes, table = os.path.join(folder, "votes.csv"), os.path.join(folder, "coefficients.csv")
    print("| case | position holds | length holds |\n|---|---|---|")
    for name, (n, raters, taste, taste_length, method) in COEFFICIENTS.items():
        if cases not in name:
            continue
        held = {"position": 0, "length": 0}
        for run in range(runs):
            draw = random.Random(f"{name} {run}")
            score = [[k * 0.3 + draw.gauss(0, taste) for k in range(6)] for _ in range(raters)]
            by_length = [LENGTH + draw.gauss(0, taste_length) for _ in range(raters)]
            rows = []
            for i in range(n):
                a, b = draw.sample(range(6), 2)
                w, la, lb = draw.randrange(raters), draw.randint(1, 60), draw.randint(1, 60)
                x = score[w][a] - score[w][b] + POSITION + by_length[w] * (la - lb)
                if "davidson" in method:
                    p = [math.exp(x / 2), math.exp(-x / 2), math.exp(-0.5)]
                elif "rao" in method:
                    p = [1 / (1 + math.exp(0.4 - x)), 1 / (1 + math.exp(0.4 + x))]
                    p.append(1 - sum(p))
                else:
                    p = [1 / (1 + math.exp(-x)), 1 / (1 + math.exp(x)), 0]
                rows.append((i, f"t{a}", f"t{b}", f"w{w}", draw.choices(("a", "b", "tie"), p)[0], la, lb))
            write(votes, rows)
            labels(tool, votes, "--method", "bradley-terry:reliability=no,position=yes" + method, "--covariate", "length=la,lb",
                   "--table", "coefficients=" + table)
            for row in read(table):
                truth = {"position": POSITION, "length": LENGTH}.get(row["covariate"])
                if truth is not None:
                    held[row["covariate"]] += float(row["low"]) <= truth <= float(row["high"])
        print(f"| {name} | {held['position'] / runs:.3f} | {held['length'] / runs:.3f} |", flush=True)


def camps(tool, folder, runs, cases):
    votes, summary = os.path.join(folder, "votes.csv"), os.path.join(folder, "summary.json")
    print("| case | p <= .05 |\n|---|---|")
    for name, taste, opposite in (("one camp", 0, 0), ("one camp, tastes .5", 0.5, 0), ("two camps, a third opposite", 0, 4)):
        if cases not in name:
            continue
        below = 0
        for run in range(runs):
            draw = random.Random(f"{name} {run}")
            score = [[(-1 if w < opposite else 1) * k * 0.3 + draw.gauss(0, taste) for k in range(5)] for w in range(12)]
            rows = []
            for i in range(600):
                a, b = draw.sample(range(5), 2)
                w = draw.randrange(12)
                chance = 1 / (1 + math.exp(score[w][b] - score[w][a]))
                rows.append(("q", f"t{a}", f"t{b}", f"w{w}", "a" if draw.random() < chance else "b", 0, 0))
            write(votes, rows)
            labels(tool, votes, "--method", "bradley-terry:camps=2,permutations=39", "--json", summary)
            with open(summary) as f:
                text = f.read()
            below += float(text.split('"camps_p"')[1].split('"value":')[1].split(",")[0]) <= 0.05
        print(f"| {name} | {below / runs:.3f} |", flush=True)


PARTS = {"ranks": ranks, "coefficients": coefficients, "camps": camps}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dissent", default="build/dissent")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--only", choices=sorted(PARTS))
    parser.add_argument("--cases", default="", help="only cases whose name contains this text")
    args = parser.parse_args()
    tool = os.path.abspath(args.dissent)
    with tempfile.TemporaryDirectory() as folder:
        for name, part in PARTS.items():
            if args.only in (None, name):
                part(tool, folder, args.runs, args.cases)


if __name__ == "__main__":
    main()
