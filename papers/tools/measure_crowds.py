#!/usr/bin/env python3
"""Statistics of the papers' annotations, in which nothing is random: writes papers/runs/crowds.tsv.

    papers/tools/measure_crowds.py DATA [TOOL]

Agreement and annotator statistics come from `dissent agree`; entropies are those of the votes of each item.
"""

import csv
import math
import pathlib
import subprocess
import sys
import tempfile

from kept_runs import ROOT, write_rows

MEASURES = [
    "votes_per_item",
    "coder_to_label_ratio",
    "agreement_with_singles",
    "worker_accuracy",
    "workers_at_75",
    "workers_above_75",
    "vote_accuracy",
    "gold_never_voted",
    "percent",
    "fleiss",
    "alpha_nominal",
]
COUNTS = {
    "SNLI": ("chaosnli/snli_items.csv", ["c_e", "c_n", "c_c"]),
    "MNLI": ("chaosnli/mnli_m_items.csv", ["c_e", "c_n", "c_c"]),
    "alphaNLI": ("chaosnli/alphanli_items.csv", ["c_1", "c_2"]),
    "CIFAR-10H": ("cifar10h/counts.csv", [f"c{k}" for k in range(10)]),
}


def first_five(path, to):
    """The first five votes of each item, as Uma et al. use them on POS."""
    seen = {}
    with open(path, newline="") as f, open(to, "w", newline="") as out:
        rows = csv.reader(f)
        written = csv.writer(out)
        written.writerow(next(rows))
        for r in rows:
            seen[r[0]] = seen.get(r[0], 0) + 1
            if seen[r[0]] <= 5:
                written.writerow(r)


def agreement(tool, *line):
    done = subprocess.run(
        [tool, "agree", *map(str, line), "-q", "--resamples", "0"], capture_output=True, text=True, check=True
    )
    found = {r["measure"]: r["value"] for r in csv.DictReader(done.stdout.splitlines())}
    return {f"crowd.{m}": found[m] for m in MEASURES if found.get(m)}


def entropy_statistics(path, columns):
    """Normalized entropies of the votes: items without disagreement, mean, share above .9."""
    with open(path, newline="") as f:
        rows = [[int(r[c]) for c in columns] for r in csv.DictReader(f)]
    shares = [[v / sum(r) for v in r if v] for r in rows]
    found = [-sum(s * math.log(s) for s in x) / math.log(len(columns)) for x in shares]
    return {
        "entropy.items": len(found),
        "entropy.unanimous": sum(len(x) == 1 for x in shares),
        "entropy.mean": repr(sum(found) / len(found)),
        "entropy.above_90": repr(sum(e > 0.9 for e in found) / len(found)),
    }


def main():
    data = pathlib.Path(sys.argv[1])
    tool = sys.argv[2] if len(sys.argv) > 2 else str(ROOT / "build/dissent")
    with tempfile.TemporaryDirectory() as folder:
        first_five(data / "pos_gimpel/annotations.csv", f"{folder}/votes.csv")
        counts = (data / "cifar10h/counts.csv").read_text()
        pathlib.Path(folder, "counts.csv").write_text(counts.replace("c", "", 10))  # classes as gold.csv names them
        rows = {
            "POS, five votes": agreement(tool, f"{folder}/votes.csv", "--gold", data / "pos_gimpel/gold.csv"),
            "LabelMe": agreement(tool, data / "labelme/annotations.csv", "--gold", data / "labelme/gold.csv"),
            "CIFAR-10H": agreement(
                tool, f"{folder}/counts.csv", "--input", "counts", "--gold", data / "cifar10h/gold.csv"
            ),
            "RTE": agreement(tool, data / "rte_snow/annotations.csv"),
            "MRE": agreement(tool, data / "mre_crowdtruth/annotations_cause_expert_subset.csv"),
            "POS": agreement(tool, data / "pos_gimpel/annotations.csv"),
        }
    for name, (file, columns) in COUNTS.items():
        rows.setdefault(name, {}).update(entropy_statistics(data / file, columns))
    write_rows("crowds", [{"cell": c, "seed": 0, "fold": "0", "source": "data", **found} for c, found in rows.items()])


if __name__ == "__main__":
    main()
