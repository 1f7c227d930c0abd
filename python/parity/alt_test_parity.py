"""The alternative-annotator test of `dissent panel` beside a direct implementation of the published rules, on the
authors' data.

    python python/parity/alt_test_parity.py build/dissent DATA        (needs numpy and scipy)

DATA is the folder `data` of the authors' repository (github.com/nitaytech/AltTest): a folder per set with
human_annotations.json and llm_annotations.json. Exit 1 when a winning rate or a share `as_good` differs by more than 1e-9.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy import stats

SETS = {
    "wax": (0.1, False),
    "lgbteen": (0.2, False),
    "mtbench": (0.2, False),
    "framing": (0.15, False),
    "cebab_aspects": (0.1, False),
    "summeval": (0.2, True),
    "10k_prompts": (0.15, True),
    "cebab_stars": (0.1, True),
    "lesion": (0.15, True),
}


def score(label, others, numbers):
    if numbers:
        return -np.sqrt(np.mean([(label - x) ** 2 for x in others]))
    return np.mean([label == x for x in others])


def by_the_rules(people, model, epsilon, numbers):
    voters: dict = {}
    for name, votes in people.items():
        for task, label in votes.items():
            voters.setdefault(task, {})[name] = label
    p, as_good = [], []
    for name, votes in people.items():
        stands, apart = [], []
        for task, label in votes.items():
            others = [x for who, x in voters[task].items() if who != name]
            if not others or task not in model:
                continue
            a, b = score(model[task], others, numbers), score(label, others, numbers)
            stands.append(a >= b)
            apart.append(float(b >= a) - float(a >= b))
        if len(stands) >= 30:
            p.append(stats.ttest_1samp(apart, epsilon, alternative="less").pvalue)
            as_good.append(np.mean(stands))
    q = stats.false_discovery_control(p, method="by")
    return np.mean(q <= 0.05), np.mean(as_good)


def main(tool: str, data: str) -> int:
    worst, count = 0.0, 0
    for name, (epsilon, numbers) in SETS.items():
        people, models = (json.loads((Path(data) / name / f).read_text()) for f in ("human_annotations.json", "llm_annotations.json"))
        with tempfile.TemporaryDirectory() as folder:
            path, out = Path(folder) / "votes.csv", Path(folder) / "models.csv"
            with open(path, "w", newline="") as f:
                rows = csv.writer(f)
                rows.writerow(("task", "worker", "kind", "label"))
                for kind, voters in (("human", people), ("model", models)):
                    rows.writerows((t, w, kind, x) for w, votes in voters.items() for t, x in votes.items() if x is not None)
            more = ["--ordinal"] if numbers else []
            subprocess.run([tool, "panel", path, "--voter-type", "kind", "--epsilon", str(epsilon), "-q", "-o", out, *more], check=True)
            for row in csv.DictReader(open(out)):
                if not row["as_good"]:
                    continue  # no better than chance: no verdict
                omega, rho = by_the_rules(people, {t: x for t, x in models[row["model"]].items() if x is not None}, epsilon, numbers)
                worst = max(worst, abs(float(row["winning_rate"]) - omega), abs(float(row["as_good"]) - rho))
                count += 1
    print(f"{count} models on {len(SETS)} sets, largest difference {worst:.3g}")
    return int(worst > 1e-9)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
