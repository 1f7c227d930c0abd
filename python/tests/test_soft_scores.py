"""Scores of class shares, calibration against people, and sets of classes: the same as of the command line."""

import numpy as np
import pytest
from tool import needs_tool, put_csv, same_metrics, summary

import dissent


@pytest.fixture
def shares():
    rng = np.random.default_rng(2)
    human = rng.dirichlet(np.ones(3), 80)
    model = (human + 0.3) / (human + 0.3).sum(axis=1, keepdims=True)
    names = [f"t{i}" for i in range(80)]
    return dissent.SoftLabels(names, list("abc"), model), dissent.SoftLabels(names, list("abc"), human)


def test_class_shares(shares):
    pred, human = shares
    e = dissent.evaluate(pred, human=human, resamples=50)
    both = np.minimum(pred.p, human.p).sum(axis=0)
    f1 = 2 * both / (pred.p + human.p).sum(axis=0)
    assert np.allclose(e.by_class_share["f1"], f1)
    assert np.allclose(e.by_class_share["precision"], both / pred.p.sum(axis=0))
    assert np.allclose(e.by_class_share["brier"], ((pred.p - human.p) ** 2).mean(axis=0))
    assert e.soft_macro_f1 == pytest.approx(f1.mean())
    assert (e.by_class_share["f1_ci_low"] < f1).all() and (f1 < e.by_class_share["f1_ci_high"]).all()
    assert 0 < e["human_calibration_error"].ci_low < e.human_calibration_error
    assert len(e.human_bins) == 4 * 15
    assert "soft_jaccard" not in e.keys()


@needs_tool
def test_same_as_the_tool(shares, tmp_path):
    pred, human = shares
    dissent.write_labels(pred, tmp_path / "pred.csv")
    dissent.write_labels(human, tmp_path / "human.csv")
    theirs = summary(tmp_path, "eval", tmp_path / "pred.csv", "--human", tmp_path / "human.csv", "--resamples", "50")
    ours = dissent.evaluate(pred, human=human, resamples=50)
    same_metrics({name: ours[name].to_dict() for name in ours.keys()}, theirs["metrics"])


@needs_tool
def test_sets_of_classes(tmp_path):
    rng = np.random.default_rng(3)
    model = rng.random((30, 3))
    names = [f"t{i}" for i in range(30)]
    votes = [(t, w, "|".join(c for c, p in zip("abc", row) if rng.random() < p)) for t, row in zip(names, model) for w in "xyz"]
    table = put_csv(tmp_path / "votes.csv", ["task", "worker", "label"], votes)
    pred = put_csv(tmp_path / "pred.csv", ["task", "p:a", "p:b", "p:c"], [[t, *row] for t, row in zip(names, model.tolist())])
    options = ["--scale", "multi-label", "--label", "label[|]", "--human-labels", "standard", "--resamples", "50"]
    theirs = summary(tmp_path, "eval", pred, "--votes", table, *options)["metrics"]
    human = np.zeros((30, 3))
    for i, t in enumerate(names):
        for task, _, label in votes:
            human[i] += [(c in label.split("|")) / 3 for c in "abc"] if task == t else 0
    ours = dissent.evaluate(
        dissent.SoftLabels(names, list("abc"), model),
        human=dissent.SoftLabels(names, list("abc"), human),
        multi_label=True,
        resamples=50,
    )
    both = np.minimum(model, human)
    assert ours.soft_precision == pytest.approx(both.sum() / model.sum())
    assert ours.soft_jaccard == pytest.approx((both.sum(axis=1) / np.maximum(model, human).sum(axis=1)).mean())
    for name in ("soft_micro_f1", "soft_recall", "soft_jaccard", "cross_entropy", "po_jsd"):
        assert ours[name].value == pytest.approx(theirs[name]["value"], abs=1e-12)
    assert dissent.evaluate(pred, human=pred, multi_label=True, resamples=0).soft_micro_f1 == pytest.approx(1)


def test_errors(shares):
    pred, human = shares
    with pytest.raises(dissent.DataError, match="at most 1"):
        dissent.evaluate(dissent.SoftLabels(["t0"], ["a"], [[1.5]]), human=human, multi_label=True)
    with pytest.raises(dissent.OptionError, match="gold"):
        dissent.evaluate(pred, gold={"t0": "a"}, human=human, multi_label=True)
    with pytest.raises(dissent.DataError, match="sum to"):
        dissent.evaluate(dissent.SoftLabels(["t0"], ["a"], [[0.5]]), human=human)
