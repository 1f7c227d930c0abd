#!/usr/bin/env python3
"""Lines of single runs in papers/runs: reading them, and adding the runs of stores.

    papers/tools/kept_runs.py STORES COMMIT DEVICE      add the completed runs of STORES/*.results

papers/runs/NAME.tsv has one line per run of papers/experiments/NAME.yaml: cell, seed, fold, measured values, the start of
the run's key (SHA-256 of everything that determines its result), commit, device and source. Fold "all" stands for a seed:
its values are computed from the predictions of all folds together. papers/runs/README.md explains the sources.
"""

import csv
import json
import os
import pathlib
import sqlite3
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAPERS = pathlib.Path(os.environ.get("DISSENT_PAPERS") or ROOT / "papers")
DATA = pathlib.Path(os.environ.get("DISSENT_DATA") or ROOT / "../shared/data")
FOLDER = PAPERS / "runs"
PROVENANCE = ["key", "commit", "device", "source"]


def rows_of(file):
    """The lines of an experiment; empty if there are none."""
    path = FOLDER / f"{file}.tsv"
    if not path.exists():
        return []
    with path.open(newline="") as f:
        return list(csv.DictReader(f, delimiter="\t"))


def read_runs(file):
    """{cell: {measure: {seed: value}}}. A value is the mean over the folds, or that of fold "all". Seeds that lack folds are
    left out."""
    by_fold, together = {}, {}
    for row in rows_of(file):
        where = together if row["fold"] == "all" else by_fold
        for measure, text in row.items():
            if "." in measure and text:
                seeds = where.setdefault(row["cell"], {}).setdefault(measure, {})
                seeds.setdefault(int(row["seed"]), []).append(float(text))
    for name, cell in by_fold.items():
        for measure, seeds in cell.items():
            folds = max(map(len, seeds.values()))
            cell[measure] = {s: sum(x) / folds for s, x in sorted(seeds.items()) if len(x) == folds}
            for s, (x,) in together.get(name, {}).get(measure, {}).items():
                cell[measure][s] = x
    return by_fold


def write_rows(file, rows):
    """Writes lines in the order of cell, seed and fold."""
    columns = sorted({m for r in rows for m in r if "." in m})
    order = lambda r: (r["cell"], int(r["seed"]), (r["fold"] == "all", int(r["fold"]) if r["fold"] != "all" else 0))
    with (FOLDER / f"{file}.tsv").open("w", newline="") as f:
        out = csv.DictWriter(
            f, ["cell", "seed", "fold", *columns, *PROVENANCE], delimiter="\t", lineterminator="\n", restval=""
        )
        out.writeheader()
        out.writerows(sorted(rows, key=order))
    print(f"papers/runs/{file}.tsv: {sum(r['fold'] != 'all' for r in rows)} runs")


def stored(file, store):
    """The completed runs of a store: {(cell, seed, fold): line}."""
    db = sqlite3.connect(f"file:{store}/results.sqlite?mode=ro", uri=True)
    rows = {}
    runs = "select key, cell, seed, fold, best_epoch from runs where state = 'done' and experiment = ?"
    for key, cell, seed, fold, epoch in db.execute(runs, (file,)):
        row = {"cell": cell, "seed": seed, "fold": str(fold), "key": key[:16]}
        if epoch is not None:
            row["curve.best_epoch"] = epoch + 1
        measures = "select set_name, metric, value from measures where key = ? and value is not null"
        for name, metric, value in db.execute(measures, (key,)):
            row[f"{name}.{metric}"] = repr(value)
        rows[cell, seed, str(fold)] = row
    return rows


def over_all_folds(file, store):
    """{(cell, seed, "all"): line} of cells with several folds, as `dissent experiment table` computes them."""
    tool = os.environ.get("DISSENT", str(ROOT / "build/dissent"))
    text = (PAPERS / f"experiments/{file}.yaml").read_text()
    if "pool_folds" not in text:
        return {}
    line = [
        tool,
        "experiment",
        "table",
        str(PAPERS / f"experiments/{file}.yaml"),
        "--data",
        str(DATA),
        "--store",
        str(store),
    ]
    line += ["--json", "-", "-q"] + (["--device", "cuda"] if "size: large" in text else [])
    cells = json.loads(subprocess.run(line, capture_output=True, text=True, check=True).stdout)["cells"]
    rows, known = {}, stored(file, store)
    for cell in cells:
        seeds = sorted({s for c, s, _ in known if c == cell["name"]})
        for m in cell["measures"]:
            for s, x in zip(seeds, m["values"]) if len(m["values"]) == len(seeds) else ():
                row = rows.setdefault((cell["name"], s, "all"), {"cell": cell["name"], "seed": s, "fold": "all"})
                row[f"{m['set']}.{m['metric']}"] = repr(x)
    return rows


def keep(file, store, commit, device):
    """Adds the runs of a store; a line of the same cell, seed and fold is replaced."""
    from derived_metrics import derived

    rows = {(r["cell"], int(r["seed"]), r["fold"]): r for r in rows_of(file)}
    new = stored(file, store)
    for place, more in derived(file, store).items():
        if place in new:  # a run may end while the store is read
            new[place].update({m: repr(x) for m, x in more.items()})
    for place, row in {**new, **over_all_folds(file, store)}.items():
        rows[place] = {**row, "commit": commit, "device": device, "source": "run"}
    write_rows(file, list(rows.values()))


def main():
    if len(sys.argv) != 4 or sys.argv[1].startswith("-"):
        sys.exit("usage: papers/tools/kept_runs.py STORES COMMIT DEVICE")
    for store in sorted(pathlib.Path(sys.argv[1]).glob("*.results")):
        db = sqlite3.connect(f"file:{store}/results.sqlite?mode=ro", uri=True)
        for (file,) in db.execute("select distinct experiment from runs where state = 'done' order by experiment"):
            if (PAPERS / f"experiments/{file}.yaml").exists():
                keep(file, store, *sys.argv[2:])


if __name__ == "__main__":
    main()
