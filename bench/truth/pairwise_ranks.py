"""Do 95 % rank intervals of comparisons hold? Simulated Bradley-Terry raters with known scores.

usage: bench/truth/pairwise_ranks.py [--dissent build/dissent] [--runs 200]

Prints the share of intervals that contain the true rank (any rank of a tie counts), and how often a thing is called the
winner although another one is at least as good.
"""

import argparse
import csv
import math
import os
import random
import subprocess
import tempfile

CASES = {  # true scores, comparisons, raters, share of raters who vote at random
    "all equal": ([0] * 6, 400, 8, 0),
    "all equal, two things": ([0] * 2, 60, 6, 0),
    "even steps": ([k * 0.4 for k in range(6)], 400, 8, 0),
    "one winner": ([1.0, 0, 0, 0, 0], 300, 8, 0),
    "even steps, a quarter at random": ([k * 0.4 for k in range(6)], 400, 8, 0.25),
    "even steps, few comparisons": ([k * 0.4 for k in range(6)], 60, 4, 0),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dissent", default="build/dissent")
    parser.add_argument("--runs", type=int, default=200)
    args = parser.parse_args()
    tool = os.path.abspath(args.dissent)
    print("| case | intervals that hold | mean width | winner named | wrongly named |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        votes, ranks, labels = (os.path.join(folder, n) for n in ("votes.csv", "ranks.csv", "labels.csv"))
        for name, (scores, n, raters, bad) in CASES.items():
            held = width = total = named = wrong = 0
            for run in range(args.runs):
                draw = random.Random(f"{name} {run}")
                with open(votes, "w", newline="") as f:
                    out = csv.writer(f)
                    out.writerow(("a", "b", "worker", "winner"))
                    for i in range(n):
                        a, b = draw.sample(range(len(scores)), 2)
                        w = draw.randrange(raters)
                        chance = 0.5 if w < bad * raters else 1 / (1 + math.exp(scores[b] - scores[a]))
                        out.writerow((f"t{a}", f"t{b}", f"w{w}", "a" if draw.random() < chance else "b"))
                subprocess.run([tool, "labels", votes, "--scale", "pairwise", "-q", "-o", labels, "--table", "ranks=" + ranks],
                               check=True)
                with open(ranks, newline="") as f:
                    for row in csv.DictReader(f):
                        k = int(row["thing"][1:])
                        best = 1 + sum(s > scores[k] for s in scores)
                        worst = len(scores) - sum(s < scores[k] for s in scores)
                        low, high = float(row["rank_low"]), float(row["rank_high"])
                        total += 1
                        held += low <= worst and best <= high and (low <= best and worst <= high)
                        width += high - low
                        if high == 1:
                            named += 1
                            wrong += worst > 1
            print(f"| {name} | {held / total:.3f} | {width / total:.2f} | {named} | {wrong} |", flush=True)


if __name__ == "__main__":
    main()
