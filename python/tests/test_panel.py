"""panel() gives the results of `dissent panel`; noise, copies, swapped pairs, reports."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tool import needs_tool, put_csv, run, summary

import dissent


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    out = []
    for i in range(120):
        truth = int(rng.random() < 0.4)
        for w in range(3 if i < 80 else 0):
            out.append((f"t{i}", f"p{w}", "human", truth if rng.random() < 0.85 else 1 - truth))
        for m in range(3):
            out.append((f"t{i}", f"m{m}", "model", truth if rng.random() < 0.75 else 1 - truth))
    return out


@needs_tool
def test_is_dissent_panel(rows, tmp_path):
    path = put_csv(tmp_path / "votes.csv", ["task", "worker", "kind", "label"], rows)
    theirs = summary(tmp_path, "panel", path, "--voter-type", "kind", "--seed", 2, "--budget", 30)
    found = dissent.panel([(t, w, k) for t, w, _, k in rows], ["m0", "m1", "m2"], random_state=2, budget=30)
    assert found.models["winning_rate"].tolist() == [m["winning_rate"] for m in theirs["models"]]
    assert found.models["as_good_ci_low"].tolist() == [m["as_good"]["ci_low"] for m in theirs["models"]]
    assert found.rates["powered"].tolist() == [r["powered"]["value"] for r in theirs["rates"]]
    assert found.effective.to_dict() == theirs["effective"] and found.strength == theirs["strength"]
    assert found.rates["bias"].tolist() == [r["bias"]["value"] for r in theirs["rates"]]
    assert found.unknown is None is theirs["unknown"] and found.p_people == theirs["p_people"]
    assert found.few_people is theirs["few_people"] is True and found.p_labelled == theirs["p_labelled"]
    assert found.items["buy"].sum() == theirs["spent"] == 30
    assert np.allclose(found.labels.p.sum(axis=1), 1) and found.loss_calibrated.value < found.loss_rates.value


@needs_tool
def test_noise_is_reported_first(tmp_path):
    """People vote at random: text, JSON, the report and Python say so, and nothing else about judges."""
    rng = np.random.default_rng(3)
    rows = [(f"t{i}", f"p{w}", "human", int(rng.random() < 0.05)) for i in range(100) for w in range(6)]
    rows += [(f"t{i}", f"m{m}", "model", int(m == 0 or rng.random() < 0.5)) for i in range(100) for m in range(2)]
    path = put_csv(tmp_path / "votes.csv", ["task", "worker", "kind", "label"], rows)
    found = dissent.panel([(t, w, k) for t, w, _, k in rows], ["m0", "m1"], budget=5)
    assert "no more than chance" in found.unknown and "no more than chance" in repr(found)
    assert not found.models["passed"].any() and found.spent == 0 and np.isnan(found.models["agreement"]).all()
    theirs = summary(tmp_path, "panel", path, "--voter-type", "kind")
    assert theirs["unknown"] == found.unknown
    assert all(m[k]["value"] is None for m in theirs["models"] for k in ("agreement", "error", "as_good"))
    assert all(r["rogan_gladen"]["value"] is None and r["bias"]["value"] is None for r in theirs["rates"])
    text = run("panel", path, "--voter-type", "kind", "--format", "text")
    assert text.startswith("Unknown: people agree with each other no more than chance") and "m0" not in text
    run("report", "--votes", path, "--voter-type", "kind", "-q", "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    answer = re.search(r'<section class="verdict" data-verdict="unknown".*?</section>', page, re.S)[0]
    assert "no more than chance" in answer and '<section aria-labelledby="models">' not in page


def test_copies_and_labelled_items():
    rng = np.random.default_rng(4)
    truth = rng.integers(2, size=300)
    answers = {f"p{w}": np.where(rng.random(300) < 0.8, truth, 1 - truth) for w in range(5)}
    models = {"copy": answers["p3"], "own": np.where(rng.random(300) < 0.85, truth, 1 - truth)}
    rows = [(i, w, int(answers[w][i])) for w in answers for i in range(300)]
    found = dissent.panel(rows + [(i, m, int(models[m][i])) for m in models for i in range(300)], list(models))
    assert np.asarray(found.copies["model"]).tolist() == ["copy"]
    assert np.asarray(found.copies["source"]).tolist() == ["p3"] and not found.labelled_differ
    zeros = [row for row in rows if truth[row[0]] == 0]
    found = dissent.panel(zeros + [(i, m, int(models[m][i])) for m in models for i in range(300)], list(models))
    assert found.labelled_differ and found.p_labelled < 1e-6


def test_what_is_refused(rows):
    votes = [(t, w, k) for t, w, _, k in rows]
    with pytest.raises(dissent.DataError, match="cast no vote"):
        dissent.panel(votes, ["nobody"])
    with pytest.raises(dissent.DataError, match="no worker is a judge"):
        dissent.panel(votes, [])
    with pytest.raises(dissent.OptionError, match="mirror"):
        dissent.swaps(votes, votes, {"first": "second"})


@needs_tool
def test_report_has_the_panel(rows, tmp_path):
    path = put_csv(tmp_path / "votes.csv", ["task", "worker", "kind", "label"], rows)
    run("report", "--votes", path, "--voter-type", "kind", "--resamples", 50, "--seed", 2, "-q", "-o", tmp_path / "theirs.html")
    votes = [(t, w, k) for t, w, _, k in rows]
    dissent.report(tmp_path / "ours.html", votes, models=["m0", "m1", "m2"], resamples=50, random_state=2)
    section = [re.search(r'<section aria-labelledby="models">.*?</section>', (tmp_path / name).read_text(), re.S) for name in ("ours.html", "theirs.html")]
    assert section[0] and section[0][0] == section[1][0]
    with pytest.raises(dissent.OptionError, match="models .* give votes"):
        dissent.report(tmp_path / "none.html", labels=dissent.SoftLabels(["a"], ["x"], [[1.0]]), models=["m0"])
