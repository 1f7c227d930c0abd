"""Intervals that hold for other annotators."""

import dissent
import numpy as np
import pytest


def crowd(n_workers, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=80)
    label = x[:, None] + 0.5 * rng.normal(size=(80, n_workers)) > 0.6 * rng.normal(size=n_workers)
    task, worker = np.nonzero(rng.random(label.shape) < 0.7)
    p = 1 / (1 + np.exp(-x))
    model = {"task": list(range(80)), "p:0": 1 - p, "p:1": p}
    return model, {"task": task.tolist(), "worker": worker.tolist(), "label": label[task, worker].astype(int).tolist()}


def width(m):
    return m.ci_high - m.ci_low


def test_evaluate_knows_the_votes_of_an_aggregator():
    model, votes = crowd(8)
    human = dissent.Standard().fit(votes)
    new = dissent.evaluate(model, human=human, resamples=200)
    same = dissent.evaluate(model, human=human, resamples=200, over="items")
    labels = dissent.evaluate(model, human=human.result_, resamples=200)
    assert (new.over, same.over, labels.over) == ("annotators", "items", "items")
    assert new.n_annotators == 8 and same.n_annotators is None and not new.few_annotators
    assert width(new["cross_entropy"]) > width(same["cross_entropy"]) == width(labels["cross_entropy"])
    assert width(new["confidence"]) == width(same["confidence"])
    with pytest.raises((ValueError, dissent.OptionError), match="over"):
        dissent.evaluate(model, human=human, over="people")


def test_few_annotators_are_said():
    model, votes = crowd(3)
    found = dissent.evaluate(model, human=dissent.Smoothed().fit(votes), resamples=100, lenient=True)
    assert found.few_annotators and "3 annotators: others might reverse the result" in found._repr_html_()


def test_groups():
    _, votes = crowd(10)
    people = {w: "ab"[w % 2] for w in range(10)}
    new, same = (
        dissent.group_agreement(votes, people, permutations=0, resamples=200, over=over)
        for over in ("annotators", "items")
    )
    assert (new.over, same.over) == ("annotators", "items")
    for name in ("within", "across"):
        wide, narrow = (f.groups[name + "_ci_high"] - f.groups[name + "_ci_low"] for f in (new, same))
        assert (wide > narrow).all()
    assert new.pairs["difference"][0] == pytest.approx(new.groups["within"][0] - new.groups["within"][1])


def test_group_evaluation():
    model, votes = crowd(10)
    people = {w: "ab"[w % 2] for w in range(10)}
    new, same = (
        dissent.group_evaluation(model, votes, people, permutations=0, resamples=200, over=over)
        for over in ("annotators", "items")
    )
    for name in ("log_loss", "agreement", "apart"):
        wide, narrow = (f.groups[name + "_ci_high"] - f.groups[name + "_ci_low"] for f in (new, same))
        assert (wide > narrow).all()
