"""Prediction sets: the same as of the command line, what comes back, errors."""

import csv

import numpy as np
import pytest
from tool import needs_tool, put_csv, run

import dissent


@pytest.fixture
def votes_and_model():
    rng = np.random.default_rng(1)
    k = 3
    truth = rng.dirichlet(np.ones(k), 120)
    votes = [(f"t{i}", f"w{rng.integers(8)}-{j}", "abc"[rng.choice(k, p=truth[i])]) for i in range(80) for j in range(4)]
    model = truth**1.5 / (truth**1.5).sum(axis=1, keepdims=True)
    return dissent.SoftLabels([f"t{i}" for i in range(120)], list("abc"), model), votes


@needs_tool
def test_same_as_the_tool(votes_and_model, tmp_path):
    pred, votes = votes_and_model
    dissent.write_labels(pred, tmp_path / "pred.csv")
    table = put_csv(tmp_path / "votes.csv", ["task", "worker", "label"], votes)
    sets = tmp_path / "sets.csv"
    for score in ("lac", "aps"):
        run("conformal", tmp_path / "pred.csv", "--votes", table, "--score", score, "--seed", "4", "-o", sets)
        found = dissent.prediction_sets(pred, dissent.Votes(votes), score=score, random_state=4)
        with sets.open(newline="") as f:
            rows = {r["task"]: r["set"] for r in csv.DictReader(f)}
        assert rows == {t: "+".join(found[t]) for t in found.tasks}
        assert list(rows) == [f"t{i}" for i in range(80, 120)]


def test_result(votes_and_model):
    pred, votes = votes_and_model
    found = dissent.prediction_sets(pred, dissent.Votes(votes), coverage=0.8)
    assert len(found) == 40 and found.n_calibration == 80 and found.min_items == 4
    assert found.in_set.shape == found.p_values.shape == (40, 3)
    inside = found.p_values > 0.2
    assert ((inside == found.in_set) | ~inside.any(axis=1)[:, None]).all()
    assert (found.sizes == found.in_set.sum(axis=1)).all()
    assert found.coverage is None and 0 < found.new_annotators.ci_low < found.new_annotators.value
    assert set(found.rows["by"]) >= {"all", "class", "size", "entropy", "annotator", "new_annotators"}
    assert "40 sets, coverage 0.8" in repr(found)
    assert len(found.to_frame("pandas")) == 40


def test_calibration_apart(votes_and_model):
    pred, votes = votes_and_model
    one = dissent.prediction_sets(pred, dissent.Votes(votes))
    both = dissent.prediction_sets(pred[80:], dissent.Votes(votes), calibration=pred[:80])
    assert (one.in_set == both.in_set).all() and list(one.tasks) == list(both.tasks)
    tested = dissent.prediction_sets(pred[40:], dissent.Votes(votes), calibration=pred[:40])
    assert tested.coverage.n == 40 and tested.n_calibration == 40
    with pytest.raises(dissent.DataError, match="in pred and in calibration"):
        dissent.prediction_sets(pred, dissent.Votes(votes), calibration=pred)


def test_errors(votes_and_model):
    pred, votes = votes_and_model
    with pytest.raises(dissent.DataError, match="'z' is not among the classes"):
        dissent.prediction_sets(pred, dissent.Votes([*votes, ("t1", "x", "z")]))
    found = dissent.prediction_sets(pred, dissent.Votes([*votes, ("t1", "x", "z")]), lenient=True)
    assert 0 < found.unmatched < 0.01
    with pytest.raises(ValueError, match="lac"):
        dissent.prediction_sets(pred, dissent.Votes(votes), score="raps")
    with pytest.raises(ValueError, match="coverage"):
        dissent.prediction_sets(pred, dissent.Votes(votes), coverage=1.5)
    with pytest.raises(dissent.DataError, match="no item with predictions has votes"):
        dissent.prediction_sets(pred, dissent.Votes([("other", "x", "a")]))
