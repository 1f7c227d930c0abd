#!/usr/bin/env python3
"""What `dissent watch` is worth: the share of right labels among those retired, and the votes it took.

    bench/truth/watch.py real       thirteen crowds with gold (data not included), votes in random order
    bench/truth/watch.py synth      crowds drawn from the models of `dissent synth`
    bench/truth/watch.py fixed      votes against a fixed number per item at the same share of right labels, synth crowds
    bench/truth/watch.py speed      votes per second and memory with 1e6 items of which few are open

Standard library only; docs/evidence/watch.md has the results."""
import argparse
import csv
import random
import resource
import subprocess
import tempfile
from pathlib import Path

import default_labels as crowds
import label_methods as sets

MODELS = ("dawid-skene", "one-coin", "spammer", "difficulty")
RETIRE = (.9, .95, .99)
VOTES = 15  # per item in synth crowds, at most


def read_labels(path):
    with open(path, newline="", encoding="utf-8") as file:
        return {row["task"]: row["label"] for row in csv.DictReader(file)}


def watch(tool, votes, gold, options):
    """Share of items that were sure, share right and mean p among these, votes per sure item, votes used, right of
    all."""
    with tempfile.TemporaryDirectory() as folder:
        left = Path(folder) / "open.csv"
        out = subprocess.run([str(tool), "watch", str(votes), "-q", "--ask-from", "0", "-o", str(left), *options],
                             check=True, capture_output=True, text=True).stdout
        rows = list(csv.DictReader(out.splitlines()))
        sure = [row for row in rows if row["task"] in gold]
        still = {task: label for task, label in read_labels(left).items() if task in gold}
    right = sum(gold[row["task"]] == row["label"] for row in sure)
    n = max(1, len(sure))
    all_right = right + sum(gold[task] == label for task, label in still.items())
    return {"sure": len(sure) / (len(sure) + len(still)), "right": right / n,
            "said": sum(float(row["p"]) for row in sure) / n, "votes": sum(int(row["votes"]) for row in sure) / n,
            "all": all_right / (len(sure) + len(still))}


def show(name, retire, power, r):
    print(f"| {name} | {retire} | {power} | {r['sure']:.3f} | {r['right']:.3f} | {r['said']:.3f} | {r['votes']:.2f} |"
          f" {r['all']:.3f} |", flush=True)


HEAD = ("| crowd | P | power | share sure | right among these | p among these | votes per sure item | right of all |\n"
        "|---|---|---|---|---|---|---|---|")


def synth(tool, folder, model, items, workers, votes, seed=0):
    """Paths of votes, shuffled, and gold."""
    path, gold = Path(folder) / "votes.csv", Path(folder) / "gold.csv"
    subprocess.run([str(tool), "synth", "--model", model, "--items", str(items), "--workers", str(workers),
                    "--votes-per-item", str(votes), "--seed", str(seed), "--shuffle", "--gold", str(gold), "-o",
                    str(path), "-q"], check=True)
    return path, read_labels(gold)


def do_synth(args):
    print(HEAD)
    for model in MODELS:
        with tempfile.TemporaryDirectory() as folder:
            path, gold = synth(args.tool, folder, model, 5000, 200, VOTES)
            for retire in RETIRE:
                for power in (0, .7):
                    show(model, retire, power, watch(args.tool, path, gold,
                                                     ["--retire", str(retire), "--power", str(power)]))


def do_real(args):
    root = sets.data_folder(args.data)
    print(HEAD)
    total = {}
    for name, (votes, gold_path) in sets.SETS.items():
        gold = sets.read_gold(root / gold_path)
        rows = crowds.read_votes(root / votes)
        random.Random(args.seed).shuffle(rows)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "votes.csv"
            crowds.write_votes(path, rows)
            for retire in RETIRE:
                for power in args.power:
                    r = watch(args.tool, path, gold, ["--retire", str(retire), "--power", str(power)])
                    show(name, retire, power, r)
                    total.setdefault((retire, power), []).append(r)
    for (retire, power), results in total.items():
        some = [r for r in results if r["sure"] > 0]
        show(f"mean of {len(some)}", retire, power, {key: sum(r[key] for r in some) / len(some) for key in some[0]})


def do_fixed(args):
    print("| crowd | votes per item, watch | right | fixed number for as many right |\n|---|---|---|---|")
    for model in MODELS:
        with tempfile.TemporaryDirectory() as folder:
            path, gold = synth(args.tool, folder, model, 5000, 200, VOTES)
            r = watch(args.tool, path, gold, ["--retire", ".95", "--power", "0"])
            rows, n = crowds.read_votes(path), 1
            cut, out = Path(folder) / "cut.csv", Path(folder) / "labels.csv"
            while n < VOTES:
                crowds.write_votes(cut, crowds.cut(rows, n))
                subprocess.run([str(args.tool), "labels", str(cut), "-q", "-o", str(out)], check=True)
                labels = read_labels(out)
                if sum(gold[task] == labels[task] for task in gold) / len(gold) >= r["all"]:
                    break
                n += 1
            used = r["sure"] * r["votes"] + (1 - r["sure"]) * VOTES
            print(f"| {model} | {used:.2f} | {r['all']:.3f} | {n} |", flush=True)


def do_speed(args):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        subprocess.run([str(args.tool), "synth", "--items", "1e6", "--workers", "10000", "--votes-per-item", "10", "-q",
                        "-o", str(path)], check=True)
        subprocess.run([str(args.tool), "watch", str(path), "--retire", ".95", "--power", "0", "--max-votes", "10"],
                       check=True, stdout=subprocess.DEVNULL)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"1e7 votes, 1e6 items; the child that took most memory: {used.ru_maxrss / 1024:.0f} MiB; processor time of "
          f"synth and watch together {used.ru_utime + used.ru_stime:.2f} s")


def main():
    parts = {"real": do_real, "synth": do_synth, "fixed": do_fixed, "speed": do_speed}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=parts)
    parser.add_argument("--data", help="folder of the public data sets")
    parser.add_argument("--tool", default=sets.ROOT / "build" / "dissent")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--power", type=float, nargs="*", default=[0, .7])
    args = parser.parse_args()
    parts[args.part](args)


if __name__ == "__main__":
    main()
