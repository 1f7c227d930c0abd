"""People and models as voters: what the command line says."""

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
    theirs = summary(tmp_path, "panel", path, "--voter-type", "kind", "--resamples", 100, "--seed", 2, "--budget", 30)
    found = dissent.panel([(t, w, k) for t, w, _, k in rows], ["m0", "m1", "m2"], resamples=100, random_state=2, budget=30)
    assert found.models["winning_rate"].tolist() == [m["winning_rate"] for m in theirs["models"]]
    assert found.models["advantage_ci_low"].tolist() == [m["advantage"]["ci_low"] for m in theirs["models"]]
    assert found.rates["powered"].tolist() == [r["powered"]["value"] for r in theirs["rates"]]
    assert found.effective.to_dict() == theirs["effective"] and found.strength == theirs["strength"]
    assert found.items["buy"].sum() == theirs["spent"] == 30
    assert np.allclose(found.labels.p.sum(axis=1), 1) and found.loss_calibrated.value < found.loss_rates.value


def test_what_is_refused(rows):
    votes = [(t, w, k) for t, w, _, k in rows]
    with pytest.raises(dissent.DataError, match="cast no vote"):
        dissent.panel(votes, ["nobody"])
    with pytest.raises(dissent.DataError, match="no voter is a model"):
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
