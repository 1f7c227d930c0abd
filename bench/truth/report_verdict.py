"""Does the answer at the top of a report hold? Simulated crowds with known labels, one report each.

usage: bench/truth/report_verdict.py [--dissent build/dissent] [--runs 40] [--check]

For each kind of crowd, prints how often each answer is given, the share of correct labels that the report states and the
true share, and how many annotators are named who are not bad. A second table has votes of other scales and judges: how
often each answer is given, and how many annotators are said to be biased who are not. --check exits with 1 where an
answer is wrong.
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


# ---- other scales: each maker returns the header, rows, and options of the report ----


def ratings(draw, items=200, workers=20, votes=6, noise=0.7, bias=0.0):
    """Ratings from 1 to 5; `noise` None: they have nothing to do with the items. The first four annotators rate higher by
    `bias`."""
    rows = []
    for i in range(items):
        place = draw.gauss(3, 1.1)
        for w in draw.sample(range(workers), votes):
            x = draw.randrange(1, 6) if noise is None else round(place + (bias if w < 4 else 0) + draw.gauss(0, noise))
            rows.append((f"t{i}", f"w{w}", min(5, max(1, x))))
    return ("task", "worker", "label"), rows, ["--scale", "ordinal"]


def numbers(draw, items=150, workers=12, votes=4, spread=15, noise=8):
    """Numbers around a value of the item. With `spread` 0 they have nothing to do with the items."""
    rows = []
    for i in range(items):
        value = draw.gauss(50, spread)
        rows += [(f"t{i}", f"w{w}", round(value + draw.gauss(0, noise), 1)) for w in draw.sample(range(workers), votes)]
    return ("task", "worker", "label"), rows, ["--scale", "numeric"]


def sets(draw, items=150, workers=12, votes=4, accuracy=0.95, classes="abcde"):
    """Sets of classes; `accuracy` None: at random."""
    rows = []
    for i in range(items):
        true = {c for c in classes if draw.random() < 0.3} or {classes[0]}
        for w in draw.sample(range(workers), votes):
            chosen = [c for c in classes if (draw.random() < 0.3 if accuracy is None else (c in true) == (draw.random() < accuracy))]
            rows.append((f"t{i}", f"w{w}", "|".join(chosen)))
    return ("task", "worker", "label"), rows, ["--scale", "multi-label", "--label", "label[|]"]


def spans(draw, items=50, workers=5, found=0.9):
    """Three spans per text, each marked with probability `found`; None: spans at random."""
    rows = []
    for i in range(items):
        true = [(20 * k, 20 * k + draw.randint(4, 12), draw.choice("xy")) for k in range(3)]
        for w in range(workers):
            for start, end, label in true:
                if found is None:
                    start = draw.randrange(60)
                    rows.append((f"t{i}", start, start + draw.randint(4, 12), f"w{w}", draw.choice("xy")))
                elif draw.random() < found:
                    rows.append((f"t{i}", start, end, f"w{w}", label))
    return ("task", "start", "end", "worker", "label"), rows, ["--scale", "spans"]


def judges(draw, items=200, people=9, votes=4, skill=0.85, judge=0.85):
    """Votes of people and of two judges on two classes; `skill` .5: people vote at random."""
    rows = []
    for i in range(items):
        true = draw.random() < 0.5
        rows += [(f"t{i}", f"w{w}", "human", (draw.random() < skill) == true) for w in draw.sample(range(people), votes)]
        rows += [(f"t{i}", f"judge{j}", "llm", (draw.random() < judge) == true) for j in range(2)]
    return ("task", "worker", "kind", "label"), rows, ["--voter-type", "kind"]


# name: what makes the votes, the answers that are right
SCALES = {
    "ratings": (lambda d: ratings(d), ("yes", "care")),
    "ratings, four annotators rate higher by 1": (lambda d: ratings(d, bias=1), ("yes", "care")),
    "ratings at random": (lambda d: ratings(d, noise=None), ("no", "unknown")),
    "ratings, one item": (lambda d: ratings(d, items=1), ("unknown",)),
    "numbers": (lambda d: numbers(d), ("yes", "care")),
    "numbers at random": (lambda d: numbers(d, spread=0), ("no", "unknown")),
    "numbers at random, 12 items": (lambda d: numbers(d, items=12, spread=0), ("no", "unknown")),
    "numbers, one item": (lambda d: numbers(d, items=1), ("unknown",)),
    "sets": (lambda d: sets(d), ("yes", "care")),
    "sets at random": (lambda d: sets(d, accuracy=None), ("no", "unknown")),
    "sets at random, 12 items": (lambda d: sets(d, items=12, accuracy=None), ("no", "unknown")),
    "sets, one item": (lambda d: sets(d, items=1), ("unknown",)),
    "spans": (lambda d: spans(d), ("yes", "care")),
    "spans at random": (lambda d: spans(d, found=None), ("no", "unknown")),
    "spans, one text": (lambda d: spans(d, items=1), ("unknown",)),
    "judges like people": (lambda d: judges(d), ("yes", "care")),
    "judges at random": (lambda d: judges(d, judge=0.5), ("no", "care")),
    "judges of people at random": (lambda d: judges(d, skill=0.5), ("unknown",)),
}


def read_scale(page):
    """Answer, and how many annotators are said to be biased."""
    answer = re.search(r'data-verdict="(\w+)"', page).group(1)
    biased = re.search(r"(\d+) of \d+ annotators? votes? more than a quarter", page)
    clear = re.search(r"intervals of (\d+) of \d+ annotators? do not contain 0", page)
    return answer, int((biased or clear).group(1)) if biased or clear else None


def one_scale(dissent, make, draw, folder):
    head, rows, options = make(draw)
    votes, page = os.path.join(folder, "votes.csv"), os.path.join(folder, "page.html")
    with open(votes, "w", newline="") as f:
        csv.writer(f).writerows([head, *rows])
    subprocess.run([dissent, "report", "--votes", votes, *options, "--resamples", "200", "-q", "-o", page], check=True)
    with open(page, encoding="utf-8") as f:
        return read_scale(f.read())


def check_scales(dissent, runs):
    failed = 0
    print("\n| votes | " + " | ".join(ANSWERS) + " | called biased |\n|---|" + "---|" * (len(ANSWERS) + 1))
    with tempfile.TemporaryDirectory() as folder:
        for name, (make, right) in SCALES.items():
            found = [one_scale(dissent, make, random.Random(f"{name} {r}"), folder) for r in range(runs)]
            count = [sum(r[0] == a for r in found) for a in ANSWERS]
            biased = [r[1] for r in found if r[1] is not None]
            mean = f"{sum(biased) / len(biased):.2f}" if biased else ""
            print(f"| {name} | " + " | ".join(map(str, count)) + f" | {mean} |", flush=True)
            if sum(r[0] in right for r in found) < 0.95 * runs - 1:
                print(f"{name}: answers", file=sys.stderr)
                failed = 1
    return failed


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
    failed |= check_scales(os.path.abspath(args.dissent), args.runs)
    return 1 if failed and args.check else 0


if __name__ == "__main__":
    sys.exit(main())
