"""Does the test for two camps of annotators hold its level, and what does it find? Simulated crowds.

usage: bench/truth/annotator_camps.py [--dissent build/dissent] [--runs 200] [--part null|power] [--check]

The first table has crowds of one camp: the share in which two camps are reported, and the share with p <= .05. The second
has crowds of two camps that read a share of the items differently: how often the camps are found, and the share of
annotators in the right camp. --check exits with 1 if camps are reported in more than 5 % of the crowds of one camp (plus three
standard errors), or seldom found with ten votes from ten annotators.
"""

import argparse
import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor


def other(draw, k, classes):
    return draw.choice([c for c in range(classes) if c != k])


def one_camp(draw, items=300, workers=20, votes=5, classes=4, accuracy=(0.8, 0.8), skew=0.0, hard=0.0, traps=0.0, soft=0.0, biased=0.0,
             copies=0.0, copied=1.0, blocks=1, habits=0.0):
    """Annotators who read items in the same way. accuracy: range; hard: share of items with .45 accuracy; traps: items on which
    most make the same mistake; soft: items whose votes are drawn from a distribution; biased: share of annotators who say class
    1 for class 0 in 4 of 10 cases; habits: each takes a class of their own for another one in this share of cases; copies: share
    of annotators who copy one person (of each block) with probability `copied`."""
    own = [draw.uniform(*accuracy) for _ in range(workers)]
    bias = [draw.random() < biased for _ in range(workers)]
    n_copies = round(copies * workers)
    source = [w % blocks if blocks <= w < blocks + n_copies else None for w in range(workers)]
    habit = [(draw.randrange(classes), draw.randrange(classes)) for _ in range(workers)]
    rows = []
    for i in range(items):
        true = 0 if draw.random() < skew else draw.randrange(classes)
        trap = other(draw, true, classes) if draw.random() < traps else None
        is_hard, shares = draw.random() < hard, [draw.gammavariate(0.7, 1) for _ in range(classes)] if draw.random() < soft else None
        answers = {}

        def answer(w):
            if shares:
                return draw.choices(range(classes), shares)[0]
            if trap is not None and draw.random() < 0.85:
                return trap
            if true == habit[w][0] and draw.random() < habits:
                return habit[w][1]
            if bias[w] and true == 0 and draw.random() < 0.4:
                return 1
            return true if draw.random() < (0.45 if is_hard else own[w]) else other(draw, true, classes)

        for w in draw.sample(range(workers), votes):
            s = source[w]
            if s is not None and draw.random() < copied:
                if s not in answers:
                    answers[s] = answer(s)
                label = answers[s]
            else:
                if w not in answers:
                    answers[w] = answer(w)
                label = answers[w]
            rows.append((f"t{i}", f"w{w}", f"c{label}"))
    return rows, None


def strictness(draw, items=300, workers=20, votes=5, spread=1.0):
    """Two classes; each annotator has a threshold of their own (normal), so there are no camps, but strict and lenient people."""
    threshold = [draw.gauss(0, spread) for _ in range(workers)]
    rows = []
    for i in range(items):
        x = draw.gauss(0, 1.5)
        rows += [(f"t{i}", f"w{w}", "yes" if x + draw.gauss(0, 0.7) > threshold[w] else "no") for w in draw.sample(range(workers), votes)]
    return rows, None


def noise(draw, items=300, workers=20, votes=5, shares=(1, 1, 1, 1)):
    rows = []
    for i in range(items):
        rows += [(f"t{i}", f"w{w}", f"c{draw.choices(range(len(shares)), shares)[0]}") for w in draw.sample(range(workers), votes)]
    return rows, None


def two_camps(draw, items=300, workers=20, votes=5, classes=4, first=0.6, contested=0.3, accuracy=0.85):
    """Annotators of two camps, which read a share `contested` of the items as different classes."""
    n = round(first * workers)
    rows = []
    for i in range(items):
        a = draw.randrange(classes)
        b = other(draw, a, classes) if draw.random() < contested else a
        for w in draw.sample(range(workers), votes):
            true = a if w < n else b
            rows.append((f"t{i}", f"w{w}", f"c{true if draw.random() < accuracy else other(draw, true, classes)}"))
    return rows, {f"w{w}": w < n for w in range(workers)}


NULL = {
    "one camp": lambda d: one_camp(d),
    "one camp, 2 classes": lambda d: one_camp(d, classes=2),
    "one camp, 10 annotators, all vote": lambda d: one_camp(d, workers=10, votes=10),
    "one camp, 40 annotators, 3 votes": lambda d: one_camp(d, workers=40, votes=3),
    "accuracy .5 to .98": lambda d: one_camp(d, accuracy=(0.5, 0.98)),
    "accuracy .55 to .98, 2 classes": lambda d: one_camp(d, classes=2, accuracy=(0.55, 0.98)),
    "hard items": lambda d: one_camp(d, hard=0.4, accuracy=(0.7, 0.95)),
    "items with soft truth": lambda d: one_camp(d, soft=0.4, accuracy=(0.7, 0.95)),
    "same mistakes on 20 % of the items": lambda d: one_camp(d, traps=0.2, accuracy=(0.7, 0.95)),
    "skewed classes": lambda d: one_camp(d, skew=0.9, classes=2, accuracy=(0.75, 0.95)),
    "each annotator has a habit": lambda d: one_camp(d, habits=0.4),
    "each annotator has a habit, 2 classes": lambda d: one_camp(d, classes=2, habits=0.4),
    "each annotator has a habit, 1,500 items": lambda d: one_camp(d, items=1500, habits=0.4),
    "3 of 20 copy one person": lambda d: one_camp(d, copies=0.15, accuracy=(0.7, 0.9)),
    "6 of 20 copy one person": lambda d: one_camp(d, copies=0.3, accuracy=(0.7, 0.9)),
    "6 of 20 copy in 7 of 10 votes": lambda d: one_camp(d, copies=0.3, copied=0.7, accuracy=(0.7, 0.9)),
    "8 of 20 copy two people": lambda d: one_camp(d, copies=0.4, blocks=2, accuracy=(0.7, 0.9)),
    "12 of 40 copy one person, 10 votes": lambda d: one_camp(d, workers=40, votes=10, copies=0.3, accuracy=(0.7, 0.9)),
    "6 of 20 copy one person, 1,500 items": lambda d: one_camp(d, items=1500, copies=0.3, accuracy=(0.7, 0.9)),
    "6 of 20 copy in 7 of 10 votes, 1,500 items": lambda d: one_camp(d, items=1500, copies=0.3, copied=0.7, accuracy=(0.7, 0.9)),
    "8 of 20 copy two people, 1,500 items": lambda d: one_camp(d, items=1500, copies=0.4, blocks=2, accuracy=(0.7, 0.9)),
    "accuracy .5 to .98, 1,500 items": lambda d: one_camp(d, items=1500, accuracy=(0.5, 0.98)),
    "noise": lambda d: noise(d),
    "noise, 95 % in one class": lambda d: noise(d, shares=(0.95, 0.05)),
}
POWER = {
    "half of the annotators say class 1 for class 0 in 4 of 10 cases": lambda d: (one_camp(d, biased=0.5)[0], None),
    "the same, 2 classes": lambda d: (one_camp(d, classes=2, biased=0.5)[0], None),
    "strict and lenient annotators, normal": lambda d: strictness(d),
}
POWER |= {f"{w} annotators, {v} votes, K = {k}, {round(100 * f)}/{round(100 - 100 * f)}, {round(100 * c)} % contested":
         (lambda d, w=w, v=v, k=k, f=f, c=c: two_camps(d, workers=w, votes=v, classes=k, first=f, contested=c))
         for w in (10, 40) for v in (3, 5, 10) for k in (2, 4) for f in (0.6, 0.5) for c in (0.15, 0.3)}


def one(dissent, make, key):
    rows, truth = make(random.Random(key))
    with tempfile.TemporaryDirectory() as folder:
        votes, camps, summary = (os.path.join(folder, n) for n in ("votes.csv", "camps.csv", "summary.json"))
        with open(votes, "w", newline="") as f:
            csv.writer(f).writerows([("task", "worker", "label"), *rows])
        done = subprocess.run([dissent, "review", votes, "--camps", camps, "--json", summary, "-o", os.path.join(folder, "items.csv"), "-q",
                               "--threads", "1"], check=True, capture_output=True, text=True)
        with open(summary) as f:
            result = json.load(f)["camps"]
        with open(camps, newline="") as f:
            camp = {r["worker"]: r["camp"] for r in csv.DictReader(f)}
    right = None
    if truth and result["found"]:
        same = sum((camp[w] == "1") == t for w, t in truth.items())
        right = max(same, len(truth) - same) / len(truth)
    p = result["p"]
    return result["found"], p is not None and p <= 0.05, right, done.stderr


def run(dissent, cases, runs, jobs):
    for name, make in cases.items():
        with ThreadPoolExecutor(jobs) as pool:
            results = list(pool.map(lambda r: one(dissent, make, f"{name} {r}"), range(runs)))
        found = sum(r[0] for r in results) / runs
        low = sum(r[1] for r in results) / runs
        right = [r[2] for r in results if r[2] is not None]
        yield name, found, low, sum(right) / len(right) if right else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dissent", default="build/dissent")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--part", choices=["null", "power"])
    parser.add_argument("--match", default="")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    dissent, failed = os.path.abspath(args.dissent), 0
    if args.part != "power":
        print("| one camp | reported | p ≤ .05 |\n|---|---|---|")
        limit = 0.05 + 3 * math.sqrt(0.05 * 0.95 / args.runs)
        for name, found, low, _ in run(dissent, {k: v for k, v in NULL.items() if args.match in k}, args.runs, args.jobs):
            print(f"| {name} | {found:.3f} | {low:.3f} |", flush=True)
            if found > limit:
                print(f"{name}: two camps are reported in {found:.3f} of the crowds", file=sys.stderr)
                failed = 1
    if args.part != "null":
        print("\n| two camps | found | p ≤ .05 | right camp |\n|---|---|---|---|")
        for name, found, low, right in run(dissent, {k: v for k, v in POWER.items() if args.match in k}, args.runs, args.jobs):
            print(f"| {name} | {found:.3f} | {low:.3f} | {'' if right is None else f'{right:.3f}'} |", flush=True)
            if "10 annotators, 10 votes" in name and "30 %" in name and found < 0.7:
                print(f"{name}: found in {found:.3f} of the crowds", file=sys.stderr)
                failed = 1
    return 1 if failed and args.check else 0


if __name__ == "__main__":
    sys.exit(main())
