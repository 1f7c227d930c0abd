#!/usr/bin/env python3
"""Official scores of the conditions of lewidi-2025-encoder.yaml that have one item per item and annotator ("own").

    papers/tools/lewidi_own_scores.py STORE DATA OUT.tsv [DISSENT]

STORE has the runs, DATA has SET/orig/SET_test.json. An annotator's answer is the most probable class (VariErrNLI) or the
median (Paraphrase) of the item ITEM#ANNOTATOR. The soft label of an item is the mean over its annotators. `dissent eval
--perspectives` computes both scores. OUT.tsv has a line per run and score, as `kept_runs.py --lines` reads them.
"""

import csv
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

import numpy

MEDIAN = {"Paraphrase"}


def answers(name, p):
    if name not in MEDIAN:
        return p.argmax(1)
    return (numpy.cumsum(p, 1) < 0.5).sum(1).clip(max=p.shape[1] - 1)


def scores(name, data, tasks, classes, p, tool):
    soft, rows = {}, []
    for task, row, answer in zip(tasks, p, answers(name, p)):
        item, worker = task.rsplit("#", 1)
        rows.append((item, worker, classes[answer]))
        soft.setdefault(item, []).append(row)
    with tempfile.TemporaryDirectory() as folder:
        hard, mean, out = (pathlib.Path(folder) / f for f in ("answers.csv", "soft.csv", "scores.json"))
        with hard.open("w", newline="") as f:
            csv.writer(f).writerows([("task", "worker", "label"), *rows])
        with mean.open("w", newline="") as f:
            table = csv.writer(f)
            table.writerow(["task", "label", "entropy", *(f"p:{c}" for c in classes)])
            for item, found in soft.items():
                q = numpy.mean(found, 0)
                q = q / q.sum()
                table.writerow([item, classes[q.argmax()], 0, *map(repr, q.tolist())])
        official = data / name / "orig" / f"{name}_test.json"
        command = [tool, "eval", "--perspectives", name, "--official", official, "--annotators", hard, "--soft", mean]
        subprocess.run([*command, "--json", out, "--quiet"], check=True, stdout=subprocess.DEVNULL)
        return json.loads(out.read_text())["metrics"]


def main(store, data, out, tool="dissent"):
    store, data = pathlib.Path(store), pathlib.Path(data)
    db = sqlite3.connect(f"file:{store}/results.sqlite?mode=ro", uri=True)
    query = """select experiment, cell, seed, fold, set_name, path, truth, key from runs join sets using(key)
               where state = 'done' and cell like '%-own,%' order by cell, seed"""
    with open(out, "w", newline="") as f:
        table = csv.writer(f, delimiter="\t", lineterminator="\n")
        table.writerow(["experiment", "cell", "seed", "fold", "set", "metric", "value", "key"])
        for experiment, cell, seed, fold, where, path, truth, key in db.execute(query):
            tasks, classes = ((store / f"truth/{truth}.{e}.txt").read_text().splitlines() for e in ("tasks", "classes"))
            found = scores(cell.partition("-")[0], data, tasks, classes, numpy.load(store / path), tool)
            for metric, value in found.items():
                table.writerow([experiment, cell, seed, fold, where, f"official_{metric}", repr(value), key])


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])
