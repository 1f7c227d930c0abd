#!/usr/bin/env python3
"""Numbers of runs that stay with the project, in papers/runs: stores, with their predictions and curves, do not.

    papers/tools/kept_runs.py STORES             takes in the runs of STORES/*.results, those of experiments that want a GPU
                                          (size: large)
    papers/tools/kept_runs.py --lines FOLDER COMMIT DEVICE
                                          takes in what a GPU machine sent back: FOLDER/runs.tsv, a line per run and metric,
                                          and FOLDER/EXPERIMENT.json of `experiment table`, figures over all folds
    papers/tools/kept_runs.py --restore STORES   makes STORES/NAME.results of what is kept, without predictions and curves:
                                          `dissent experiment table` and `report` read it

NAME.tsv has a line per run: cell, seed, fold and what was measured; of lines that were taken in with --lines also the
run's key (the hash of all that determines it), the commit and the device. Fold "all": measured on the predictions of all
folds of the seed together, which stands for the seed where it is there. earlier.tsv has what is left of runs that were made
before single runs were kept: of a cell the number of its seeds (the first ones: 0, 1, ...), their mean and standard
deviation; of a comparison ("against", paired by seed) by how much the cell is better and the ends of the 95 % interval.
Later seeds are joined to these: mean and spread of two groups give those of both. papers/runs/README.md says where
the numbers come from. --restore asks the tool for the runs of a file (DISSENT, else build/dissent), which wants its data
and its encoder.
"""

import collections
import csv
import functools
import json
import math
import os
import pathlib
import re
import sqlite3
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAPERS = ROOT / "papers"
DATA = pathlib.Path(os.environ.get("DISSENT_DATA") or ROOT / "../shared/data")
FOLDER = PAPERS / "runs"
ON_GPU = {
    "cifar10h",
    "encoder-chaosnli",
    "encoder-popquorn",
    "lewidi-2025-encoder",
    "why-inverse-kl",
    "why-mtl-pos",
    "why-rte",
    "why-stemming-silver",
}
Summary = collections.namedtuple("Summary", "n mean sd low high", defaults=(None, None, None))


def on_gpu(file):
    """Whether the runs of an experiment were made on a GPU, which is part of their keys."""
    return file.startswith("large-") or file in ON_GPU


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
    """`before` and the values of seeds that are not among its own; without it where all of these were run again."""
    if not before or all(seed in by_seed for seed in range(before.n)):
        return None, list(by_seed.values())
    return before, [x for seed, x in by_seed.items() if seed >= before.n]


class Kept:
    """What papers/runs has."""

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
            found, together = {}, {}
            for r in rows_of(file):
                for measure, x in r.items():
                    if "." in measure and x:
                        where = together if r["fold"] == "all" else found
                        seeds = where.setdefault(r["cell"], {}).setdefault(measure, {})
                        seeds.setdefault(int(r["seed"]), []).append(float(x))
            for name, cell in found.items():
                for measure, seeds in cell.items():
                    folds = max(map(len, seeds.values()))
                    cell[measure] = {s: sum(x) / folds for s, x in sorted(seeds.items()) if len(x) == folds}
                    for s, (x,) in together.get(name, {}).get(measure, {}).items():
                        cell[measure][s] = x
            self.files[file] = found
        return self.files[file]

    def n_runs(self, file):
        return sum(r["fold"] != "all" for r in rows_of(file))

    def table(self, file):
        """Cells as `experiment table` says them, later seeds joined to earlier ones; None: nothing is kept."""
        found = {cell: dict(by) for cell, by in self.runs(file).items()}
        for name, cell, against, measure in self.earlier:
            if name == file and not against:
                found.setdefault(cell, {}).setdefault(measure, {})
        table = {}
        for cell, measures in found.items():
            told = []
            for measure, by_seed in measures.items():
                before, later = later_seeds(self.earlier.get((file, cell, "", measure)), by_seed)
                told.append(measured(measure, joined(before, summary(later)), by_seed))
            table[cell] = {"measures": told, "runs": 0, "done": max(m["seeds"] for m in told)}
        return table or None


def measured(measure, s, by_seed):
    """As `dissent experiment table --json` says it."""
    name, _, metric = measure.partition(".")
    return {"set": name, "metric": metric, "seeds": s.n, "mean": s.mean, "sd": s.sd, "values": list(by_seed.values())}


# ---- taking runs in, and giving them out ----


def rows_of(file):
    path = FOLDER / f"{file}.tsv"
    if not path.exists():
        return []
    with path.open(newline="") as f:
        return list(csv.DictReader(f, delimiter="\t"))


@functools.lru_cache
def gold_of(store, truth):
    """Which items of a set have gold labels, and which of them these call yes, the last class."""
    import numpy

    read = lambda end: (store / f"truth/{truth}.{end}.txt").read_text().splitlines()
    with open(store / f"truth/{truth}.gold.csv", newline="") as f:
        gold = {r["task"]: r["label"] for r in csv.DictReader(f)}
    yes = read("classes")[-1]
    return numpy.array([t in gold for t in read("tasks")]), numpy.array([gold.get(t) == yes for t in read("tasks")])


def area_of(store, path, truth):
    """Area under the ROC curve of predictions of two classes; None: there are more classes."""
    import numpy
    from scipy import stats

    p = numpy.load(store / path)
    if p.shape[1] != 2:
        return None
    known, yes = gold_of(store, truth)
    p, yes = p[known, 1], yes[known]
    ranks = stats.rankdata(p)
    return float((ranks[yes].sum() - yes.sum() * (yes.sum() + 1) / 2) / (yes.sum() * (~yes).sum()))


def keep(file, store):
    """Adds the runs of a store to NAME.tsv; one that is there already is replaced."""
    path = FOLDER / f"{file}.tsv"
    rows, columns = {}, []
    for r in rows_of(file):
        columns = [m for m in r if "." in m]
        rows[r["cell"], int(r["seed"]), int(r["fold"])] = r
    db = sqlite3.connect(f"file:{store}/results.sqlite?mode=ro", uri=True)
    asked = """select cell, seed, fold, set_name, metric, value from runs join measures using(key)
               where state = 'done' and experiment = ? and value is not null order by set_name, metric"""
    for cell, seed, fold, name, metric, value in db.execute(asked, (file,)):
        columns += [f"{name}.{metric}"] if f"{name}.{metric}" not in columns else []
        row = rows.setdefault((cell, seed, fold), {"cell": cell, "seed": seed, "fold": fold})
        row[f"{name}.{metric}"] = repr(value)
    asked = """select cell, seed, fold, set_name, path, truth, best_epoch from runs join sets using(key)
               where state = 'done' and experiment = ? and path is not null"""
    for cell, seed, fold, name, predictions, truth, epoch in db.execute(asked, (file,)):
        area = area_of(store, predictions, truth)
        if area is not None:  # how well it ranks, and whether one of the first two epochs was kept
            columns += [c for c in (f"{name}.area", f"{name}.early") if c not in columns]
            rows[cell, seed, fold].update({f"{name}.area": repr(area), f"{name}.early": int(epoch < 2)})
    with path.open("w", newline="") as f:
        out = csv.DictWriter(f, ["cell", "seed", "fold", *columns], delimiter="\t", lineterminator="\n", restval="")
        out.writeheader()
        out.writerows(rows[k] for k in sorted(rows))
    print(f"{path.relative_to(ROOT)}: {len(rows)} runs")


def keep_lines(folder, commit, device):
    """Adds runs that came as lines, and the figures over all folds of a seed."""
    runs = {}
    with (folder / "runs.tsv").open(newline="") as f:
        for r in csv.DictReader(f, delimiter="\t"):
            row = runs.setdefault(r["experiment"], {}).setdefault((r["cell"], int(r["seed"]), r["fold"]), {})
            row[f"{r['set']}.{r['metric']}"] = r["value"]
            row["key"] = r["key"][:16]
    for file, new in runs.items():
        table = folder / f"{file}.json"
        for cell in json.loads(table.read_text())["cells"] if table.exists() else ():
            seeds = sorted({s for c, s, _ in new if c == cell["name"]})
            folds = len({fold for c, _, fold in new if c == cell["name"]})
            whole = [s for s in seeds if sum(c == cell["name"] and q == s for c, q, _ in new) == folds]
            for m in cell["measures"]:
                for s, x in zip(seeds, m["values"]) if folds > 1 and len(m["values"]) == len(seeds) else ():
                    if s in whole:
                        new.setdefault((cell["name"], s, "all"), {})[f"{m['set']}.{m['metric']}"] = repr(x)
        rows = {(r["cell"], int(r["seed"]), r["fold"]): r for r in rows_of(file)}
        for (cell, seed, fold), row in new.items():
            rows[cell, seed, fold] = {"cell": cell, "seed": seed, "fold": fold, "commit": commit, "device": device, **row}
        columns = sorted({m for r in rows.values() for m in r if "." in m})
        with (FOLDER / f"{file}.tsv").open("w", newline="") as f:
            names = ["cell", "seed", "fold", *columns, "key", "commit", "device"]
            out = csv.DictWriter(f, names, delimiter="\t", lineterminator="\n", restval="")
            out.writeheader()
            out.writerows(rows[k] for k in sorted(rows))
        print(f"papers/runs/{file}.tsv: {sum(fold != 'all' for _, _, fold in rows)} runs")


TABLES = """  -- src/experiment/store/store_open.c
    pragma application_id = 1147753331;
    pragma user_version = 1;
    create table runs(key text primary key, experiment text, cell text, data text, settings text, fold integer,
                      seed integer, state text not null, owner text, message text, version text, finished text,
                      seconds real, best_epoch integer, parameters integer, examples integer) without rowid;
    create table measures(key text, set_name text, metric text, value real, primary key(key, set_name, metric))
                      without rowid;
    create table epochs(key text, epoch integer, loss real, rate real, dev real, dev_cross_entropy real,
                      primary key(key, epoch)) without rowid;
    create table sets(key text, set_name text, path text, truth text, primary key(key, set_name)) without rowid;
"""


def restore(file, store):
    """A store with the kept runs under the keys that the tool has for them now."""
    tool = os.environ.get("DISSENT", str(ROOT / "build/dissent"))
    line = [tool, "experiment", "status", str(PAPERS / f"experiments/{file}.yaml"), "--store", str(store)]
    line += ["--data", str(DATA)]
    line += ["--device", "cuda"] if on_gpu(file) else []
    done = subprocess.run([*line, "--json", "-"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    keys = {(r["cell"], r["seed"], r["fold"]): r for r in json.loads(done.stdout)["runs"]}
    store.mkdir(parents=True)
    db = sqlite3.connect(store / "results.sqlite")
    db.executescript(TABLES)
    for row in rows_of(file):
        run = row["fold"] != "all" and keys.get((row["cell"], int(row["seed"]), int(row["fold"])))
        if run:
            named = (run["key"], file, run["cell"], run["data"], run["fold"], run["seed"])
            db.execute(
                "insert into runs(key, experiment, cell, data, fold, seed, state) values(?, ?, ?, ?, ?, ?, 'done')", named
            )
            found = [(run["key"], *m.split(".", 1), float(x) if x else None) for m, x in row.items() if "." in m]
            db.executemany("insert into measures values(?, ?, ?, ?)", found)
    db.commit()


def main():
    words = sys.argv[1:]
    if len(words) == 4 and words[0] == "--lines":
        keep_lines(pathlib.Path(words[1]), *words[2:])
        return
    if len(words) not in (1, 2) or words[-1].startswith("-") or words[:-1] not in ([], ["--restore"]):
        sys.exit("usage:" + "".join(re.findall(r"(?m)^ +papers/tools/.*\n", __doc__)))
    stores = pathlib.Path(words[-1])
    if len(words) == 2:
        stores.mkdir(parents=True, exist_ok=True)
        for kept in sorted(FOLDER.glob("*.tsv")):
            store = stores / f"{kept.stem}.results"
            if kept.stem != "earlier" and not store.exists():
                restore(kept.stem, store)
                print(store)
        return
    FOLDER.mkdir(exist_ok=True)
    for store in sorted(stores.glob("*.results")):
        db = sqlite3.connect(f"file:{store}/results.sqlite?mode=ro", uri=True)
        for (file,) in db.execute("select distinct experiment from runs where state = 'done' order by experiment"):
            yaml = PAPERS / f"experiments/{file}.yaml"
            if yaml.exists() and re.search(r"(?m)^size: large", yaml.read_text()):  # two cores repeat the others
                keep(file, store)


if __name__ == "__main__":
    main()
