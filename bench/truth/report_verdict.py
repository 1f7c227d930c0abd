"""Does the answer at the top of a report hold? Simulated crowds with known labels, one report each.

usage: bench/truth/report_verdict.py [--dissent build/dissent] [--runs 40] [--check]

For each kind of crowd, prints how often each answer is given, the share of correct labels that the report states and the
true share, and how many annotators are named who are not bad. --check exits with 1 where an answer is wrong.
"""

import argparse
import csv
import os
import random
import re
import subprocess
import sys
import tempfile

ANSWERS = ("yes", "care", "no", "unknown")


def crowd(draw, items=300, workers=20, votes=5, classes=4, accuracy=0.8, skew=0.0, shared=0.0, bad=0):
    """Votes, true classes and the names of bad annotators. `skew`: extra share of class 0; `shared`: share of items on
    which most annotators make the same mistake; `bad`: annotators who vote at random."""
    rows, truth = [], {}
    for i in range(items):
        right = 0 if draw.random() < skew else draw.randrange(classes)
        trap = (right + 1) % classes if draw.random() < shared else None
        truth[f"t{i}"] = f"c{right}"
        for w in draw.sample(range(workers), votes):
            if w < bad:
                vote = draw.randrange(classes)
            elif trap is not None and draw.random() < 0.85:
                vote = trap
            elif draw.random() < accuracy:
                vote = right
            else:
                vote = draw.choice([k for k in range(classes) if k != right])
            rows.append((f"t{i}", f"w{w}", f"c{vote}"))
    return rows, truth, {f"w{w}" for w in range(bad)}


def noise(draw, items=300, workers=20, votes=5, shares=(1, 1, 1, 1)):
    """Votes that have nothing to do with the items."""
    rows, truth = [], {}
    for i in range(items):
        truth[f"t{i}"] = f"c{draw.choices(range(len(shares)), shares)[0]}"
        for w in draw.sample(range(workers), votes):
            rows.append((f"t{i}", f"w{w}", f"c{draw.choices(range(len(shares)), shares)[0]}"))
    return rows, truth, {f"w{w}" for w in range(workers)}


# name: what makes the crowd, the answers that are right for it, bounds of stated - true share of correct labels. The
# default labels are careful on independent errors (docs/evidence/default-labels.md), so they state too little there.
CROWDS = {
    "good": (lambda d: crowd(d), ("yes", "care"), (-0.14, 0.03)),
    "very good": (lambda d: crowd(d, accuracy=0.92), ("yes",), (-0.08, 0.03)),
    "weak": (lambda d: crowd(d, accuracy=0.45), ("care", "no"), (-0.1, 0.1)),
    "five bad annotators": (lambda d: crowd(d, bad=5), ("yes", "care"), (-0.18, 0.03)),
    "skewed classes": (lambda d: crowd(d, skew=0.9, classes=2, accuracy=0.85), ("yes", "care"), (-0.16, 0.03)),
    "same mistakes on 20 % of the items": (lambda d: crowd(d, shared=0.2), ("yes", "care"), (-0.1, 0.15)),
    "noise": (lambda d: noise(d), ("no", "unknown"), None),
    "noise, skewed classes": (lambda d: noise(d, shares=(0.95, 0.05)), ("no", "unknown"), None),
    "noise, two votes each": (lambda d: noise(d, items=60, votes=2), ("no", "unknown"), None),
    "one item": (lambda d: crowd(d, items=1, accuracy=0.9), ("unknown",), None),
    "one vote each": (lambda d: crowd(d, votes=1), ("unknown",), None),
}


def read(page):
    """Answer, stated share of correct labels (or None), named annotators."""
    found = re.search(r'data-verdict="(\w+)".*?<p>(.*?)</p>', page, re.S)
    text = re.sub("[\u2068\u2069]", "", found.group(2)).replace("\u00a0", " ")
    share = re.search(r"estimated ([\d.]+) % of the labels", text)
    named = re.search(r"alk to ([^.]*)", text)
    return found.group(1), share and float(share.group(1)) / 100, set(re.findall(r"\bw\d+\b", named.group(1) if named else ""))


def one(dissent, make, draw, folder):
    rows, truth, bad = make(draw)
    votes, page, labels = (os.path.join(folder, n) for n in ("votes.csv", "page.html", "labels.csv"))
    with open(votes, "w", newline="") as f:
        csv.writer(f).writerows([("task", "worker", "label"), *rows])
    subprocess.run([dissent, "report", votes, "--resamples", "0", "-q", "-o", page], check=True)
    subprocess.run([dissent, "labels", votes, "-q", "-o", labels], check=True)
    with open(labels, newline="") as f:
        head, *table = csv.reader(f)
    best = {row[0]: max((float(x), h[2:]) for h, x in zip(head, row) if h.startswith("p:"))[1] for row in table}
    correct = [best[task] == label for task, label in truth.items()]
    with open(page, encoding="utf-8") as f:
        return *read(f.read()), sum(correct) / len(correct), bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dissent", default="build/dissent")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    failed = 0
    print("| crowd | " + " | ".join(ANSWERS) + " | stated | true | wrongly named |\n|---|" + "---|" * (len(ANSWERS) + 3))
    with tempfile.TemporaryDirectory() as folder:
        for name, (make, right, bounds) in CROWDS.items():
            runs = [one(os.path.abspath(args.dissent), make, random.Random(f"{name} {r}"), folder) for r in range(args.runs)]
            count = [sum(r[0] == a for r in runs) for a in ANSWERS]
            stated = [r[1] for r in runs if r[1] is not None]
            true = sum(r[3] for r in runs) / len(runs)
            wrong = sum(len(r[2] - r[4]) for r in runs)
            mean = sum(stated) / len(stated) if stated else None
            print(f"| {name} | " + " | ".join(map(str, count)) + f" | {'' if mean is None else f'{mean:.3f}'} | {true:.3f} | {wrong} |",
                  flush=True)
            independent = not name.startswith("same mistakes")
            problems = [
                sum(r[0] in right for r in runs) < 0.95 * len(runs) and "answers",
                bounds and mean is not None and not bounds[0] <= mean - true <= bounds[1] and "stated share",
                wrong > 0.1 * len(runs) + 1 and "named annotators",
                independent and any(r[0] == "yes" and r[3] < 0.85 for r in runs) and "yes where labels are wrong",
            ]
            for problem in filter(None, problems):
                print(f"{name}: {problem}", file=sys.stderr)
                failed = 1
    return 1 if failed and args.check else 0


if __name__ == "__main__":
    sys.exit(main())
