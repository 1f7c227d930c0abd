#!/usr/bin/env python3
"""How well `dissent review` finds wrong labels: the default labels and majority labels of 13 real crowds against gold.

    bench/truth/wrong_labels.py                          both tables of docs/evidence/review.md
    bench/truth/wrong_labels.py --data FOLDER --tool build/dissent

Items are ranked by what a review shows of them: 1 - right (the default order), gain, surprise, and by the margin of
the vote shares. AUC: the probability that a wrong label is ranked above a correct one, ties counted half. Precision:
the share of wrong labels among the first 5 % of the items. Means are over the crowds with at least 10 wrong labels.

Standard library only; the tool does the work. Cost: two reviews of each crowd."""
import argparse
import csv
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from label_methods import ROOT, SETS, data_folder, read_gold  # noqa: E402

ORDERS = {
    "1 - p_correct": lambda r: 1 - float(r["p_correct"]),
    "margin of vote shares": lambda r: -abs(float(r["for_label"]) - float(r["for_other"])) / max(float(r["votes"]), 1),
    "gain": lambda r: float(r["gain"]),
    "surprise": lambda r: float(r["surprise"]),
}
FIRST = 0.05
MIN_WRONG = 10


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr.strip())


def area(score, wrong):
    """Area under the ROC curve by ranks, ties at their mean."""
    order = sorted(range(len(score)), key=score.__getitem__)
    rank, i = [0.0] * len(score), 0
    while i < len(order):
        j = i
        while j < len(order) and score[order[j]] == score[order[i]]:
            j += 1
        for k in order[i:j]:
            rank[k] = (i + j + 1) / 2
        i = j
    n = sum(wrong)
    return (sum(r for r, w in zip(rank, wrong) if w) - n * (n + 1) / 2) / (n * (len(wrong) - n))


def precision(score, wrong):
    """Of items that tie at the end of the first 5 %, each counts in part."""
    n = max(1, round(FIRST * len(score)))
    last = sorted(score, reverse=True)[n - 1]
    above = [w for s, w in zip(score, wrong) if s > last]
    level = [w for s, w in zip(score, wrong) if s == last]
    return (sum(above) + (n - len(above)) * sum(level) / len(level)) / n


def measure(tool, votes, gold, majority):
    with tempfile.TemporaryDirectory() as folder:
        common = [votes, "--duplicates", "first", "--threads", "1", "-q"]
        labels, items = Path(folder) / "labels.csv", Path(folder) / "items.csv"
        given = []
        if majority:
            run(tool, "labels", *common, "--method", "majority", "-o", labels)
            given = ["--labels", labels]
        run(tool, "review", *common, *given, "-o", items)
        with open(items, newline="", encoding="utf-8") as file:
            rows = [r for r in csv.DictReader(file) if r["task"] in gold]
    wrong = [r["label"] != gold[r["task"]] for r in rows]
    return {name: (area(score, wrong), precision(score, wrong)) if sum(wrong) else None
            for name, score in ((name, [of(r) for r in rows]) for name, of in ORDERS.items())}, sum(wrong)  # fmt: skip


def table(tool, data, majority):
    print(f"\n{'majority labels' if majority else 'default labels'}, AUC / precision at 5 %")
    print("| crowd | wrong |" + "".join(f" {name} |" for name in ORDERS))
    print("|---" * (len(ORDERS) + 2) + "|")
    sums, n = {name: [0.0, 0.0] for name in ORDERS}, 0
    for name, (votes, gold) in SETS.items():
        if not (data / votes).is_file():
            print(f"{name}: not here", file=sys.stderr)
            continue
        found, wrong = measure(tool, data / votes, read_gold(data / gold), majority)
        if wrong < MIN_WRONG:
            continue
        n += 1
        for order, (auc, share) in found.items():
            sums[order][0] += auc
            sums[order][1] += share
        print(f"| {name} | {wrong} |" + "".join(f" {a:.3f} / {p:.3f} |" for a, p in found.values()), flush=True)
    print("| mean | |" + "".join(f" {a / n:.3f} / {p / n:.3f} |" for a, p in sums.values()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data")
    parser.add_argument("--tool", default=ROOT / "build" / "dissent")
    given = parser.parse_args()
    data = data_folder(given.data)
    if data is None:
        sys.exit("no data: --data FOLDER or DISSENT_DATA")
    for majority in (False, True):
        table(given.tool, data, majority)


if __name__ == "__main__":
    main()
