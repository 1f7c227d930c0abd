"""An item has one label and one probability: what `labels` writes is what `review`, `report` and Python show."""

from __future__ import annotations

import csv
import html
import io
import os
import re
import sys
import urllib.parse
from pathlib import Path

import numpy as np
import pytest
from tool import needs_tool, run

import dissent

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "truth"))
from label_methods import SETS, data_folder  # noqa: E402

SYNTHETIC = [(model, votes, classes) for model in ("one-coin", "dawid-skene", "spammer", "difficulty") for votes, classes in ((2, 4), (5, 2))]


def _rows(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def _tables(page):
    found = re.findall(r'download="([^"]+)\.csv" href="data:text/csv;charset=utf-8,([^"]*)"', page.read_text(encoding="utf-8"))
    return {name: list(csv.DictReader(io.StringIO(urllib.parse.unquote(html.unescape(uri)), newline=""))) for name, uri in found}


def _agree(votes, folder, *options, gold=None):
    """Everything that shows an item's label or probability shows those of the label file."""
    known = ["--gold", gold] if gold else []
    run("labels", votes, *options, *known, "-o", folder / "labels.csv", "-q")
    run("review", votes, *options, *known, "-o", folder / "items.csv", "-q")
    run("review", votes, *options, *known, "--labels", folder / "labels.csv", "-o", folder / "given.csv", "-q")
    labels = {r["task"]: (r["label"], r[f"p:{r['label']}"]) for r in _rows(folder / "labels.csv")}
    for name in ("items.csv", "given.csv"):
        rows = _rows(folder / name)
        assert {r["task"]: r["label"] for r in rows} == {t: k for t, (k, _) in labels.items()}
        judged = [r for r in rows if r["p_correct"]]
        assert len(judged) in (0, len(rows)) or gold
        wrong = [(r["task"], r["p_correct"], labels[r["task"]]) for r in judged if float(r["p_correct"]) != float(labels[r["task"]][1])]
        assert wrong == []
    if gold is None:  # a report judges by gold labels; it does not pin to them
        run("report", votes, *options, "-o", folder / "page.html", "--resamples", "0", "-q")
        tables = _tables(folder / "page.html")
        shown = [(r["item"], r["label"], r["correct"]) for r in tables.get("label-next", [])]
        shown += [(r["item"], r["label"], r["its probability"]) for r in tables.get("most-disputed", [])]
        assert shown or not judged
        for item, label, p in shown:
            assert (label, float(p)) == (labels[item][0], pytest.approx(float(labels[item][1]), abs=5.1e-5)), item
    return labels, judged


def _python_agrees(votes, labels, judged, gold=None, **reading):
    table = dissent.read_votes(votes, **reading)
    known = None if gold is None else {r["task"]: r["label"] for r in _rows(gold) if r["task"] in labels and r["label"] in set(map(str, table.classes))}
    ours = dissent.labels(table, gold=known)
    for task, label, p in zip(ours.tasks.tolist(), ours.labels.tolist(), ours.p.max(axis=1).tolist()):
        assert (str(label), p) == (labels[str(task)][0], float(labels[str(task)][1]))
    review = dissent.review(table, gold=known)
    for task, label, right in zip(*(review.items[c] for c in ("task", "label", "p_correct"))):
        assert str(label) == labels[str(task)][0] and (not judged or right == float(labels[str(task)][1]))
    given = dissent.review(table, labels=ours, gold=known)
    assert given.expected_accuracy == review.expected_accuracy
    if review.expected_accuracy is not None:
        assert review.expected_accuracy == pytest.approx(np.mean([float(p) for _, p in labels.values()]), abs=1e-12)


@needs_tool
@pytest.mark.parametrize("name", SETS)
def test_real_crowds(name, tmp_path):
    data = data_folder(os.environ.get("DISSENT_DATA"))
    if data is None or not (data / SETS[name][0]).is_file():
        pytest.skip(f"the data set {name} is not here")
    votes = data / SETS[name][0]
    labels, judged = _agree(votes, tmp_path, "--duplicates", "first")
    assert len(judged) == len(labels)  # real crowds are not noise
    _python_agrees(votes, labels, judged, duplicates="first")


@needs_tool
@pytest.mark.parametrize(("model", "votes", "classes"), SYNTHETIC)
def test_synthetic_crowds(model, votes, classes, tmp_path):
    path, gold = tmp_path / "votes.csv", tmp_path / "gold.csv"
    run("synth", "--model", model, "--items", 300, "--workers", 15, "--votes-per-item", votes, "--classes", classes,
        "--seed", 5, "-o", path, "--gold", gold, "-q")  # fmt: skip
    labels, judged = _agree(path, tmp_path)
    _python_agrees(path, labels, judged)
    some = tmp_path / "some.csv"
    some.write_text("".join(gold.read_text().splitlines(keepends=True)[:41]))
    labels, judged = _agree(path, tmp_path, gold=some)
    _python_agrees(path, labels, judged, gold=some)


@needs_tool
def test_methods_mean_the_same(tmp_path):
    path = tmp_path / "votes.csv"
    run("synth", "--items", 200, "--workers", 12, "--votes-per-item", 3, "--seed", 2, "-o", path, "-q")
    for options in (["--method", "mace"], ["--method", "papers"], ["--method", "ibcc", "--method", "wawa", "--combine", "average"]):
        _agree(path, tmp_path, *options)


@needs_tool
def test_labels_without_probabilities_have_those_of_the_default(tmp_path):
    path = tmp_path / "votes.csv"
    run("synth", "--items", 200, "--workers", 12, "--votes-per-item", 3, "--seed", 3, "-o", path, "-q")
    run("labels", path, "-o", tmp_path / "labels.csv", "-q")
    default = {r["task"]: r for r in _rows(tmp_path / "labels.csv")}
    run("labels", path, "--method", "majority", "-o", tmp_path / "hard.csv", "-q")
    run("review", path, "--labels", tmp_path / "hard.csv", "-o", tmp_path / "items.csv", "-q")
    rows = _rows(tmp_path / "items.csv")
    assert len(rows) == 200
    for r in rows:
        assert float(r["p_correct"]) == float(default[r["task"]][f"p:{r['label']}"])
