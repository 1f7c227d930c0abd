"""Votes of every scale: as tables, lists and files, what comes back, and what is refused."""

import pickle

import numpy as np
import pytest

import dissent

PAIRS = {"q": ["q1", "q1", "q2"], "model_a": ["g", "l", "g"], "model_b": ["l", "g", "m"], "winner": ["model_a", "g", "tie"], "worker": ["j1", "j1", "j2"]}


def test_scales_are_listed():
    assert list(dissent.scales()) == ["nominal", "ordinal", "multi-label", "numeric", "pairwise", "spans"]


def test_ordinal():
    rng = np.random.default_rng(0)
    place, bias = rng.uniform(0, 4, 80), np.linspace(-1, 1, 6)
    rows = [(f"t{i}", w, int(np.clip(round(place[i] + bias[w] + rng.normal(0, 0.5)), 0, 4))) for i in range(80) for w in range(6)]
    votes = dissent.Votes(rows, scale="ordinal")
    fit = dissent.Ordinal().fit(votes)
    assert votes.scale == pickle.loads(pickle.dumps(votes)).scale == "ordinal"
    assert np.corrcoef([fit.biases_[w] for w in range(6)], bias)[0, 1] > 0.97
    assert np.corrcoef([fit.scores_[f"t{i}"] for i in range(80)], place)[0, 1] > 0.95
    assert dissent.agreement(votes, resamples=0).alpha_ordinal > 0.5
    with pytest.raises(dissent.OptionError, match="no number"):
        dissent.Votes([("t", "a", "low"), ("t", "b", "high")], scale="ordinal")


def test_numeric():
    s = dissent.scaled([("t1", "a", 3), ("t1", "b", 4.5), ("t2", "a", 7), ("t2", "b", 8)], "numeric", resamples=0)
    assert s["alpha_interval"].value == pytest.approx(0.8446, abs=1e-4)
    assert s.labels["mean"][1] > s.labels["mean"][0]
    with pytest.raises(dissent.DataError, match='row 1: the label "x" is not a number'):
        dissent.scaled([("t", "a", "1"), ("t", "b", "x")], "numeric")


def test_multi_label():
    s = dissent.scaled([("t", "a", ["x", "y"]), ("t", "b", {"x"}), ("u", "a", []), ("u", "b", ("y",))], "multi-label", method="standard", resamples=0)
    assert s.labels["label"].tolist() == ["x+y", "y"]
    assert s.labels["p:x"].tolist() == [1.0, 0.0]
    assert {"joint", "classes"} < set(s.tables)


def test_pairwise(tmp_path):
    votes = dissent.Votes(PAIRS, scale="pairwise", task="q")
    s = dissent.scaled(votes, method="bradley-terry:reliability=no", resamples=0)
    assert s.labels["thing"].tolist()[0] == "g"
    assert s.kept == 1.0
    with pytest.raises(dissent.DataError, match="row 0: the winner"):
        dissent.Votes([("a1", "b1", "c1", "w")], scale="pairwise")
    dissent.report(tmp_path / "r.html", votes=votes)
    assert "Bradley" not in (tmp_path / "r.html").read_text() and (tmp_path / "r.html").stat().st_size > 10000


def test_spans():
    rows = [("d", "a", 0, 4, "PER"), ("d", "b", 0, 4, "PER"), ("e", "a", "", "", ""), ("e", "b", 2, 5, "LOC")]
    s = dissent.scaled(rows, "spans", resamples=0)
    assert s.f1_spans == pytest.approx(2 / 3)
    with pytest.raises(dissent.DataError, match="row 0: a span has a start"):
        dissent.scaled([("d", "a", 4, 4, "PER")], "spans")


def test_files(tmp_path):
    path = tmp_path / "v.csv"
    path.write_text("task,worker,label\na,x,1\na,y,2\n")
    assert dissent.scaled(dissent.read_votes(path, scale="numeric"), resamples=0).labels["votes"].tolist() == [2]
    with pytest.raises(dissent.OptionError, match="of which scale"):
        dissent.scaled([("t", "a", 1)])
    with pytest.raises(dissent.OptionError, match="scale='numeric'"):
        dissent.scaled(dissent.Votes([("t", "a", 1)]), "numeric")


def test_review_of_ordered_classes():
    votes = [(f"t{i}", f"w{w}", min(4, max(0, i % 5 + (w == 0)))) for i in range(60) for w in range(4)]
    found = dissent.review(dissent.Votes(votes, scale="ordinal"))
    workers = {row: bias for row, bias in zip(found.workers["worker"], found.workers["bias"])}
    assert max(workers, key=workers.get) == "w0" and found.n_biased == 1
    assert all(found.workers["bias_low"] < found.workers["bias_high"]) and all(found.workers["spread"] > 0)
    assert {"place", "place_se"} <= set(found.items.columns if hasattr(found.items, "columns") else found.items)
    assert found.to_dict()["n_biased"] == 1
    plain = dissent.review(votes)
    assert plain.n_biased == 0 and "bias" not in (plain.workers.columns if hasattr(plain.workers, "columns") else plain.workers)
