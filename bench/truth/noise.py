#!/usr/bin/env python3
"""The test of agreement against chance: how often it calls votes `beyond` chance, `unknown` or `noise`.

    bench/truth/noise.py level [REPEATS]     on votes that ignore the items, by class balance, items and votes per item
    bench/truth/noise.py power [REPEATS]     on 13 real crowds, whole and thinned

Level: annotators vote by the rates of the balance, or each by rates of their own (Dirichlet with the balance as mean and
a concentration of 5). `beyond` is the error of the test, nominal .005. Thinned: random items, of each the first votes of
a random order. The verdicts are those of `dissent agree --json`.

Standard library only. Cost: a run of the tool (some ms) for each set of votes."""
import csv
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from label_methods import ROOT, SETS, data_folder  # noqa: E402

TOOL = ROOT / "build" / "dissent"
VERDICTS = ("beyond", "unknown", "noise")
BALANCES = {
    "50/50": [0.5, 0.5],
    "80/20": [0.8, 0.2],
    "95/5": [0.95, 0.05],
    "98/2": [0.98, 0.02],
    "4 equal": [0.25] * 4,
    "8 equal": [0.125] * 8,
    "94/2/2/2": [0.94, 0.02, 0.02, 0.02],
}
SIZES = [(50, 2), (50, 10), (300, 2), (300, 5), (1000, 2), (1000, 10), (5000, 3)]
WORKERS = 20


def verdict(rows, classes):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        path.write_text("task,worker,label\n" + "".join(f"{t},{w},{k}\n" for t, w, k in rows), encoding="utf-8")
        command = [TOOL, "agree", path, "--classes", ",".join(classes), "--resamples", "0", "--threads", "1", "-q"]
        done = subprocess.run([*map(str, command), "-o", "/dev/null", "--json", "-"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr.strip())
    return json.loads(done.stdout)["chance"]["verdict"]


def noise(rng, items, votes, rates, own):
    classes = [f"c{k}" for k in range(len(rates))]
    of = []
    for _ in range(WORKERS):
        g = [rng.gammavariate(5 * r, 1) for r in rates] if own else rates
        of.append([x / sum(g) for x in g])
    rows = [(f"t{i}", f"w{w}", rng.choices(classes, of[w])[0]) for i in range(items) for w in rng.sample(range(WORKERS), votes)]
    return rows, classes


def level(repeats):
    print("| balance | rates | " + " | ".join(f"{i} x {n}" for i, n in SIZES) + " |")
    print("|---" * (len(SIZES) + 2) + "|")
    total = {v: 0 for v in VERDICTS}
    for name, rates in BALANCES.items():
        for own in (False, True):
            cells = []
            for items, votes in SIZES:
                rng = random.Random(f"{name} {own} {items} {votes}")
                found = [verdict(*noise(rng, items, votes, rates, own)) for _ in range(repeats)]
                for v in found:
                    total[v] += 1
                cells.append(f"{found.count('beyond') / repeats:.3f}, {found.count('noise') / repeats:.2f}")
            print(f"| {name} | {'own' if own else 'common'} | " + " | ".join(cells) + " |", flush=True)
    n = sum(total.values())
    print("all: " + ", ".join(f"{v} {total[v] / n:.4f}" for v in VERDICTS))


def read_votes(path):
    votes = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            votes.setdefault((row["task"], row["worker"]), row["label"])
    items = {}
    for (task, worker), label in votes.items():
        items.setdefault(task, []).append((worker, label))
    return items, sorted(set(votes.values()))


def thinned(rng, items, n_items, n_votes):
    numbered = rng.sample(list(items.values()), min(n_items or len(items), len(items)))
    return [(f"t{i}", w, k) for i, v in enumerate(numbered) for w, k in (rng.sample(v, min(n_votes, len(v))) if n_votes else v)]


def power(repeats):
    data = data_folder(None)
    if data is None:
        sys.exit("no data: set DISSENT_DATA")
    sizes = [(50, None), (50, 3), (50, 2), (300, 3), (300, 2)]
    print("| crowd | whole | " + " | ".join(f"{i} items, {n or 'all'} votes" for i, n in sizes) + " |")
    print("|---" * (len(sizes) + 2) + "|")
    for name, (path, _) in SETS.items():
        if not (data / path).is_file():
            print(f"{name}: not here", file=sys.stderr)
            continue
        items, classes = read_votes(data / path)
        cells = [verdict([(f"t{i}", w, k) for i, v in enumerate(items.values()) for w, k in v], classes)]
        for n_items, n_votes in sizes:
            rng = random.Random(f"{name} {n_items} {n_votes}")
            found = [verdict(thinned(rng, items, n_items, n_votes), classes) for _ in range(repeats)]
            cells.append(" / ".join(f"{found.count(v) / repeats:.2f}" for v in VERDICTS))
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in ("level", "power"):
        sys.exit(__doc__)
    {"level": level, "power": power}[sys.argv[1]](int(sys.argv[2]) if len(sys.argv) == 3 else 200)


if __name__ == "__main__":
    main()
