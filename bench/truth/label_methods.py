#!/usr/bin/env python3
"""Label methods and combinations against gold on 13 real crowds: accuracy and log-loss.

    bench/truth/label_methods.py                                    every method, the default, the usual combinations
    bench/truth/label_methods.py ebcc dawid-skene:smoothing=0       these methods
    bench/truth/label_methods.py --sets "name=--method standard --method ebcc --combine hybrid:fixed=2"
    bench/truth/label_methods.py --data FOLDER --tool build/dissent --json FILE default

A condition is `default` (no --method at all), NAME[:key=value,...] of a method, or NAME=OPTIONS with any options of
`dissent labels`. Repeated (task, worker) pairs keep the first vote. Accuracy: an item with m best classes (within
1e-9), gold among them, counts 1/m. Log-loss: -log p(gold) in nats, p floored at 1e-12. Gold of items without votes is
left out. Means are over sets, every set counting the same. The data (--data, DISSENT_DATA, ../shared/data) is not part
of this repository: a set that is not there is named and left out.

Standard library only; the tool does the work. Cost: a run of the tool for each condition and set."""
import argparse
import csv
import json
import math
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLOOR = 1e-12
TIE = 1e-9

SETS = {  # name: votes, gold
    "rte": ("rte_snow/annotations.csv", "rte_snow/gold.csv"),
    "temp": ("snow2008/annotations_temp.csv", "snow2008/gold_temp.csv"),
    "wsd": ("snow2008/annotations_wsd.csv", "snow2008/gold_wsd.csv"),
    "mre-cause": ("mre_crowdtruth/annotations_cause_expert_subset.csv", "mre_crowdtruth/gold_cause.csv"),
    "mre-treat": ("mre_crowdtruth/annotations_treat_expert_subset.csv", "mre_crowdtruth/gold_treat.csv"),
    "pos": ("pos_gimpel/annotations.csv", "pos_gimpel/gold.csv"),
    "labelme": ("labelme/annotations.csv", "labelme/gold.csv"),
    "toxicity": ("toxicity_pipa/annotations.csv", "toxicity_pipa/gold_jigsaw.csv"),
    "bluebird": ("benchmarks/bluebird/annotations.csv", "benchmarks/bluebird/gold.csv"),
    "dog": ("benchmarks/dog/annotations.csv", "benchmarks/dog/gold.csv"),
    "product": ("benchmarks/d_jn-product/annotations.csv", "benchmarks/d_jn-product/gold.csv"),
    "sentiment": ("benchmarks/d_sentiment/annotations.csv", "benchmarks/d_sentiment/gold.csv"),
    "relevance": ("benchmarks/s4_Relevance/annotations.csv", "benchmarks/s4_Relevance/gold.csv"),
}


def data_folder(given):
    for folder in (given, os.environ.get("DISSENT_DATA"), ROOT.parent / "shared" / "data"):
        if folder and Path(folder).is_dir():
            return Path(folder)
    return None


def read_gold(path):
    with open(path, newline="", encoding="utf-8") as file:
        return {row["task"]: row["label"] for row in csv.DictReader(file)}


def score(labels, gold):
    """Accuracy and log-loss of a file of labels, and the number of items judged."""
    with open(labels, newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        header = next(rows)
        classes = [name[2:] for name in header if name.startswith("p:")]
        first = len(header) - len(classes)
        right = loss = n = 0
        for row in rows:
            truth = gold.get(row[0])
            if truth is None:
                continue
            p = dict(zip(classes, map(float, row[first:])))
            top = max(p.values())
            best = [k for k, x in p.items() if x >= top - TIE]
            right += (truth in best) / len(best)
            loss -= math.log(max(p.get(truth, 0.0), FLOOR))
            n += 1
    return right / n, loss / n, n


def options_of(condition):
    """(name, options of `dissent labels`)."""
    name, equals, rest = condition.partition("=")
    if equals and ":" not in name:
        return name, shlex.split(rest)
    return condition, [] if condition == "default" else ["--method", condition]


def all_conditions(tool):
    listed = subprocess.run([tool, "list", "methods"], capture_output=True, text=True, check=True).stdout
    methods = [line.split()[0] for line in listed.splitlines() if line and not line[0].isspace()]
    return ["default", *methods]


def measure(tool, options, votes, gold, threads):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "labels.csv"
        command = [tool, "labels", votes, "--duplicates", "first", "--threads", str(threads), "--quiet", "-o", out]
        begin = time.perf_counter()
        done = subprocess.run([*map(str, command), *options], capture_output=True, text=True)
        seconds = time.perf_counter() - begin
        if done.returncode:
            sys.exit(f"{' '.join(options)}: {done.stderr.strip()}")
        accuracy, loss, n = score(out, gold)
    return {"accuracy": accuracy, "log_loss": loss, "n": n, "seconds": seconds}


def number(x):
    return f"{x:.3f}".lstrip("0") if 0 <= x < 1 else f"{x:.2f}"


def print_table(results, names, per_set):
    head = ["condition", "accuracy", "log-loss", "seconds"] + (names if per_set else [])
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for condition, sets in results.items():
        mean = {key: sum(row[key] for row in sets.values()) / len(sets) for key in ("accuracy", "log_loss")}
        cells = [condition, number(mean["accuracy"]), number(mean["log_loss"])]
        cells.append(f"{sum(row['seconds'] for row in sets.values()):.1f}")
        if per_set:
            cells += [f"{number(sets[s]['accuracy'])} / {number(sets[s]['log_loss'])}" for s in names]
        print("| " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("condition", nargs="*", help="default: all")
    parser.add_argument("--data", help="folder of the sets")
    parser.add_argument("--tool", default=ROOT / "build" / "dissent")
    parser.add_argument("--only", help="sets, separated by commas")
    parser.add_argument("--sets", action="store_true", help="a column for each set besides the means")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", help="every figure into this file")
    args = parser.parse_args()
    folder = data_folder(args.data)
    if folder is None:
        print("skipped: no data (--data FOLDER, DISSENT_DATA or ../shared/data)", file=sys.stderr)
        return 0
    wanted = args.only.split(",") if args.only else list(SETS)
    names = [name for name in wanted if all((folder / path).is_file() for path in SETS[name])]
    for name in wanted:
        if name not in names:
            print(f"skipped: {name}, no {folder / SETS[name][0]}", file=sys.stderr)
    if not names:
        return 0
    gold = {name: read_gold(folder / SETS[name][1]) for name in names}
    results = {}
    for condition in args.condition or all_conditions(str(args.tool)):
        label, options = options_of(condition)
        results[label] = {
            name: measure(str(args.tool), options, folder / SETS[name][0], gold[name], args.threads) for name in names
        }
        print(f"{label}: done", file=sys.stderr)
    print_table(results, names, args.sets)
    if args.json:
        Path(args.json).write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
