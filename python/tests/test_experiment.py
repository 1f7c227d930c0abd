"""Experiments from Python: the table and the store of the command line."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from tool import needs_tool, put_csv, run

import dissent
from dissent import experiment

PLAN = """
name: small
data:
  crowd:
    items: items.csv
    votes: votes.csv
    gold: gold.csv
    split: {by: hold-out, size: .3}
    human: standard
defaults: {model: "text:width=8", epochs: 2, baseline: gold}
seeds: 2
measure:
  test: [accuracy, cross_entropy]
cells:
  - {name: gold, objective: gold}
  - {name: soft, objective: soft-ce, labels: standard}
"""


@pytest.fixture()
def plan(crowd, tmp_path):
    if any("yaml: absent" in p or "SQLite: absent" in p for p in dissent._core.version_parts()):
        pytest.skip("this build has no YAML or no SQLite")
    words = ["alpha beta", "gamma delta", "epsilon zeta"]
    put_csv(tmp_path / "items.csv", ["task", "text"], [(t, f"{words[c]} {t}") for t, c in crowd[3].items()])
    put_csv(tmp_path / "votes.csv", ["task", "worker", "label"], list(zip(*crowd[:3])))
    put_csv(tmp_path / "gold.csv", ["task", "label"], list(crowd[3].items()))
    (tmp_path / "small.yaml").write_text(PLAN)
    return tmp_path / "small.yaml"


def test_run_status_table_report(plan, tmp_path):
    store = tmp_path / "store"
    assert set(experiment.status(plan, store=store)["state"]) == {"missing"}
    seen: list = []
    done = experiment.run(plan, store=store, progress=lambda what, share: seen.append(share))
    assert (done["total"], done["done"], done["failed"], done["computed"]) == (4, 4, 0, 4)
    assert experiment.run(plan, store=store)["computed"] == 0
    assert set(experiment.status(plan, store=store)["state"]) == {"done"}
    t = experiment.table(plan, store=store)
    assert t["cell"].tolist() == ["gold", "gold", "soft", "soft"] and t["n"].tolist() == [2] * 4
    assert t["metric"].tolist() == ["accuracy", "cross_entropy"] * 2
    for i in range(4):
        assert t["mean"][i] == pytest.approx(np.mean(t["seeds"][i]))
    assert np.isnan(t["p"][0]) and 0 <= t["p"][2] <= 1 and t.row(0)["p"] is None
    some = experiment.table(plan, store=store, filters="cell=soft")
    assert set(some["cell"]) == {"soft"}
    experiment.report(plan, tmp_path / "page.html", store=store)
    assert "soft" in (tmp_path / "page.html").read_text()


@needs_tool
def test_the_table_of_the_command_line(plan, tmp_path):
    experiment.run(plan, store=tmp_path / "store")
    run("experiment", "table", plan, "--store", tmp_path / "store", "-o", tmp_path / "t.csv")
    with open(tmp_path / "t.csv", newline="") as f:
        theirs = list(csv.DictReader(f))
    ours = experiment.table(plan, store=tmp_path / "store")
    assert [float(r["mean"]) for r in theirs] == ours["mean"].tolist()


def test_refusals(plan, tmp_path):
    with pytest.raises(dissent.FileError):
        experiment.run(tmp_path / "nothing.yaml")
    with pytest.raises(dissent.OptionError):
        experiment.table(plan, filters=["no such cell"])
    plan.write_text(PLAN.replace("objective: gold}", "objective: glod}"))
    with pytest.raises(dissent.DataError, match=r"small\.yaml:\d+:\d+"):
        experiment.status(plan)


def test_stores_are_merged(plan, tmp_path):
    one, two, both = (tmp_path / name for name in ("one", "two", "both"))
    experiment.run(plan, store=one, filters="cell=gold", n_jobs=1)
    experiment.run(plan, store=two, filters="cell=soft", n_jobs=1)
    assert experiment.merge(both, one, two) == {"added": 4, "known": 0, "differ": 0, "waiting": 0}
    assert experiment.merge(both, one)["known"] == 2
    complete = tmp_path / "whole"
    experiment.run(plan, store=complete, n_jobs=1)
    assert experiment.table(plan, store=both)["mean"].tolist() == experiment.table(plan, store=complete)["mean"].tolist()
    with pytest.raises(dissent.FileError, match="not a store"):
        experiment.merge(both, tmp_path / "nowhere")


RELEASED = PLAN.replace("split: {by: hold-out, size: .3}", "split: {by: folds, folds: 3}").replace("seeds: 2", "seeds: 2\npool_folds: yes")
RELEASED = RELEASED.replace("[accuracy, cross_entropy]", "[accuracy, macro_f1]").replace("epochs: 2", "epochs: 3, optimizer: adam")
RELEASED += "  - {name: carried, objective: gold, carry_moments: yes}\n"
RELEASED += "  - {name: silver, objective: silver, labels: standard, judge: labels, test_by: labels}\n"


def test_folds_together_moments_and_labels_of_the_test_part(plan, tmp_path):
    from sklearn.metrics import f1_score

    plan.write_text(RELEASED)
    store = tmp_path / "store"
    assert experiment.run(plan, store=store)["failed"] == 0
    t = experiment.table(plan, store=store, filters="seed=0")
    value = {(c, m): s[0] for c, m, s in zip(t["cell"], t["metric"], t["seeds"])}
    votes = {}
    with open(tmp_path / "votes.csv", newline="") as f:
        for row in csv.DictReader(f):
            votes.setdefault(row["task"], []).append(row["label"])
    gold = {r["task"]: r["label"] for r in csv.DictReader(open(tmp_path / "gold.csv", newline=""))}
    majority = {}
    for task, labels in votes.items():
        best = sorted({labels.count(x) for x in labels})[-1]
        most = [x for x in set(labels) if labels.count(x) == best]
        if len(most) == 1:
            majority[task] = most[0]
    states = experiment.status(plan, store=store)
    for cell, truth in (("gold", gold), ("carried", gold), ("silver", majority)):
        predicted = {}
        for c, seed, key in zip(states["cell"], states["seed"], states["key"]):
            if c != cell or seed != 0:
                continue
            where = store / "predictions" / key
            p = np.load(where / "test.npy")
            tasks = (where / "test.tasks.txt").read_text().splitlines()
            names = (where / "test.classes.txt").read_text().splitlines()
            predicted |= {task: names[k] for task, k in zip(tasks, p.argmax(1))}
        both = [task for task in predicted if task in truth]
        assert len(both) > 30
        have = value[cell, "macro_f1"]
        assert have == pytest.approx(f1_score([truth[t] for t in both], [predicted[t] for t in both], average="macro"), abs=1e-12)
        assert value[cell, "accuracy"] == pytest.approx(np.mean([truth[t] == predicted[t] for t in both]), abs=1e-12)
    first = {(c, f): k for c, s, f, k in zip(states["cell"], states["seed"], states["fold"], states["key"]) if s == 0}
    p = {c: [np.load(store / "predictions" / first[c, f] / "test.npy") for f in range(3)] for c in ("gold", "carried")}
    assert np.array_equal(p["gold"][0], p["carried"][0])  # nothing is carried into the first fold
    assert not np.array_equal(p["gold"][1], p["carried"][1])
