#!/usr/bin/env python3
"""Numbers of runs that stay with the project, in experiments/runs: stores, with their predictions and curves, do not.

    tools/kept_runs.py STORES        takes in the runs of STORES/NAME.results for experiments/NAME.yaml

NAME.tsv has a line per run: cell, seed, fold and what was measured. earlier.tsv has what is left of runs that were made
before single runs were kept, as docs/results.md had it: of a cell the number of its seeds (the first ones: 0, 1, ...),
their mean and standard deviation; of a comparison ("against", paired by seed) by how much the cell is better and the
ends of the 95 % interval. Later seeds are joined to these: mean and spread of two groups give those of both.
"""

import collections
import csv
import math
import pathlib
import re
import sqlite3
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "experiments/runs"
Summary = collections.namedtuple("Summary", "n mean sd low high", defaults=(None, None, None))


def summary(values):
    """Of single seeds; None: there are none."""
    n = len(values)
    if n == 0:
        return None
    mean = sum(values) / n
    return Summary(n, mean, math.sqrt(sum((x - mean) ** 2 for x in values) / (n - 1)) if n > 1 else None)


def joined(before, later):
    """Two groups of seeds as one; of either there may be none. A spread that is not known stays so."""
    if not before or not later:
        return before or later
    n = before.n + later.n
    mean = (before.n * before.mean + later.n * later.mean) / n
    squares = [s.sd**2 * (s.n - 1) if s.sd is not None else (0 if s.n == 1 else None) for s in (before, later)]
    if None in squares:
        return Summary(n, mean)
    between = before.n * later.n / n * (before.mean - later.mean) ** 2
    return Summary(n, mean, math.sqrt((sum(squares) + between) / (n - 1)))


def later_seeds(before, by_seed):
    """Values of seeds that are not among those of `before`, or of all, and no `before`, where they are more."""
    if not before or len(by_seed) >= before.n:
        return None, list(by_seed.values())
    return before, [x for seed, x in by_seed.items() if seed >= before.n]


class Kept:
    """What experiments/runs has."""

    def __init__(self, spread):
        """`spread` gives the standard deviation of n seeds from half the length of their 95 % interval."""
        self.files, self.earlier = {}, {}
        path = FOLDER / "earlier.tsv"
        for r in csv.DictReader(path.open(newline=""), delimiter="\t") if path.exists() else ():
            n = int(r["seeds"])
            mean, sd, low, high = (float(r[k]) if r[k] else None for k in ("mean", "sd", "low", "high"))
            if sd is None and low is not None:
                sd = spread(n, (high - low) / 2)
            key = (r["experiment"], r["cell"], r["against"], r["measure"])
            self.earlier[key] = Summary(n, mean, sd, low, high)

    def runs(self, file):
        """Cell: measure: seed: value, the mean over folds; seeds that lack folds are left out. Empty: none are kept."""
        if file not in self.files:
            path, found = FOLDER / f"{file}.tsv", {}
            for r in csv.DictReader(path.open(newline=""), delimiter="\t") if path.exists() else ():
                for measure, x in r.items():
                    if "." in measure and x:
                        seeds = found.setdefault(r["cell"], {}).setdefault(measure, {})
                        seeds.setdefault(int(r["seed"]), []).append(float(x))
            for cell in found.values():
                for measure, seeds in cell.items():
                    folds = max(map(len, seeds.values()))
                    cell[measure] = {s: sum(x) / folds for s, x in sorted(seeds.items()) if len(x) == folds}
            self.files[file] = found
        return self.files[file]

    def completed(self, file, table):
        """The cells of `experiment table`, or where there is no store those that are kept, with earlier seeds."""
        if table is None:
            table = {
                cell: {"measures": [measured(m, summary(list(s.values())), s) for m, s in by.items()], "runs": 0}
                for cell, by in self.runs(file).items()
            }
        for (name, cell, against, measure), before in self.earlier.items():
            if name == file and not against:
                found = table.setdefault(cell, {"measures": [], "runs": 0})["measures"]
                at = next((m for m in found if f"{m['set']}.{m['metric']}" == measure and m["seeds"]), None)
                by_seed = self.runs(file).get(cell, {}).get(measure, {})
                before, later = later_seeds(before, by_seed)
                if before:  # else the later ones are all there is
                    found[:] = [m for m in found if m is not at]
                    found.append(measured(measure, joined(before, summary(later)), by_seed))
        for c in table.values():
            c["done"] = max((m["seeds"] for m in c["measures"]), default=0) if c["runs"] == 0 else c["done"]
        return table or None


def measured(measure, s, by_seed):
    """As `dissent experiment table --json` says it."""
    name, _, metric = measure.partition(".")
    return {"set": name, "metric": metric, "seeds": s.n, "mean": s.mean, "sd": s.sd, "values": list(by_seed.values())}


# ---- taking runs in ----


def keep(file, store):
    """Adds the runs of a store to NAME.tsv; one that is there already is replaced."""
    path = FOLDER / f"{file}.tsv"
    rows, columns = {}, []
    for r in csv.DictReader(path.open(newline=""), delimiter="\t") if path.exists() else ():
        columns = [m for m in r if "." in m]
        rows[r["cell"], int(r["seed"]), int(r["fold"])] = r
    db = sqlite3.connect(f"file:{store}/results.sqlite?mode=ro", uri=True)
    asked = """select cell, seed, fold, set_name, metric, value from runs join measures using(key)
               where state = 'done' and experiment = ? and value is not null order by set_name, metric"""
    for cell, seed, fold, name, metric, value in db.execute(asked, (file,)):
        columns += [f"{name}.{metric}"] if f"{name}.{metric}" not in columns else []
        row = rows.setdefault((cell, seed, fold), {"cell": cell, "seed": seed, "fold": fold})
        row[f"{name}.{metric}"] = repr(value)
    with path.open("w", newline="") as f:
        out = csv.DictWriter(f, ["cell", "seed", "fold", *columns], delimiter="\t", lineterminator="\n", restval="")
        out.writeheader()
        out.writerows(rows[k] for k in sorted(rows))
    print(f"{path.relative_to(ROOT)}: {len(rows)} runs")


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(re.search(r"(?m)^ +(tools/.*)$", __doc__)[1])
    FOLDER.mkdir(exist_ok=True)
    for store in sorted(pathlib.Path(sys.argv[1]).glob("*.results")):
        if (ROOT / f"experiments/{store.stem}.yaml").exists():
            keep(store.stem, store)


if __name__ == "__main__":
    main()
