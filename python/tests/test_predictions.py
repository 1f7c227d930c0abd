"""Votes and a model together: predictions as the prior of each task, Crowdlab, predictions out of fold."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import dissent
from dissent import _core

CLASSES = ["a", "b", "c"]
PRIORS = [dissent.DawidSkene(smoothing=0.5), dissent.OneCoinDawidSkene(), dissent.IBCC(), dissent.MACE(), dissent.FastDawidSkene(smoothing=0.5)]


@pytest.fixture(scope="module")
def world():
    """Three votes per task of workers who are right in .5 to .8, features that tell the classes apart, calibrated
    predictions."""
    rng = np.random.default_rng(5)
    n = 600
    truth = rng.integers(3, size=n)
    rows = []
    for i in range(n):
        for w in rng.choice(12, 3, replace=False):
            right = rng.random() < 0.5 + 0.025 * w
            rows.append((f"t{i}", f"w{w}", CLASSES[truth[i] if right else (truth[i] + rng.integers(1, 3)) % 3]))
    sure = rng.choice([0.5, 0.7, 0.9], n)
    predicted = np.where(rng.random(n) < sure, truth, (truth + rng.integers(1, 3, n)) % 3)
    p = np.repeat(((1 - sure) / 2)[:, None], 3, axis=1)
    p[np.arange(n), predicted] = sure
    tasks = [f"t{i}" for i in range(n)]
    x = np.eye(3)[truth] + rng.normal(0, 0.6, (n, 3))
    return {"rows": rows, "truth": truth, "tasks": tasks, "q": dissent.SoftLabels(tasks, CLASSES, p), "x": x}


def accuracy(labels, world):
    by_task = dict(zip(labels.tasks.tolist(), np.asarray(labels.classes)[np.asarray(labels.p).argmax(axis=1)]))
    return np.mean([by_task[t] == CLASSES[k] for t, k in zip(world["tasks"], world["truth"])])


@pytest.mark.parametrize("model", PRIORS, ids=lambda m: type(m).__name__)
def test_predictions_help(model, world):
    without = model.clone().fit(world["rows"])
    fit = model.clone().fit(world["rows"], predictions=world["q"])
    assert accuracy(fit.result_, world) > accuracy(without.result_, world) + 0.03
    assert 0.5 < fit.predictions_weight_ < 1.5 and without.predictions_weight_ is None
    assert fit.predictions_counts_ == {"matched": 600, "missing": 0, "without_votes": 0} and without.predictions_counts_ == {}
    shuffled = dissent.SoftLabels(world["tasks"][300:] + world["tasks"][:300], CLASSES, world["q"].p)
    useless = model.clone().fit(world["rows"], predictions=shuffled)
    assert useless.predictions_weight_ == 0 and np.array_equal(useless.result_.p, without.result_.p)
    again = pickle.loads(pickle.dumps(fit))
    assert again.predictions_weight_ == fit.predictions_weight_ and again.predictions_counts_ == fit.predictions_counts_


def test_matched_by_name(world):
    pd = pytest.importorskip("pandas")
    q = pd.DataFrame(world["q"].p, index=world["tasks"], columns=CLASSES)
    some = pd.concat([q.iloc[::-1].iloc[100:], pd.DataFrame([[1.0, 0.0, 0.0]], index=["other"], columns=CLASSES)])[["c", "a", "b"]]
    fit = dissent.IBCC().fit(world["rows"], predictions=some)
    assert fit.predictions_counts_ == {"matched": 500, "missing": 100, "without_votes": 1}
    all_rows = dissent.IBCC().fit(world["rows"], predictions=q)
    assert np.array_equal(all_rows.result_.p, dissent.IBCC().fit(world["rows"], predictions=world["q"]).result_.p)
    known = dissent.DawidSkene(smoothing=0.5).fit(world["rows"], {"t0": "b"}, predictions=q, predictions_weight=1)
    assert known.predictions_weight_ == 1 and known.result_.p[known.result_.tasks.tolist().index("t0")].tolist() == [0, 1, 0]


def test_what_is_refused(world):
    with pytest.raises(dissent.OptionError, match="cannot use predictions"):
        dissent.GLAD().fit(world["rows"], predictions=world["q"])
    with pytest.raises(dissent.OptionError, match="give them as predictions"):
        dissent.Crowdlab().fit(world["rows"])
    with pytest.raises(dissent.DataError, match="tasks and classes are not known"):
        dissent.IBCC().fit(world["rows"], predictions=world["q"].p)
    with pytest.raises(dissent.DataError, match="no column for the class"):
        dissent.IBCC().fit(world["rows"], predictions=dissent.SoftLabels(world["tasks"], ["a", "b", "d"], world["q"].p))
    with pytest.raises(dissent.DataError, match="no task of the votes"):
        dissent.IBCC().fit(world["rows"], predictions=dissent.SoftLabels([t + "x" for t in world["tasks"]], CLASSES, world["q"].p))


def test_crowdlab(world):
    fit = dissent.Crowdlab().fit(world["rows"], predictions=world["q"])
    assert accuracy(fit.result_, world) > accuracy(world["q"], world)
    assert fit.predictions_weight_ > 0 and len(fit.weights_) == 12 and (np.asarray(fit.skills_.values) <= 1).all()
    one, more = (dissent.Crowdlab(n_jobs=n).fit(world["rows"], predictions=world["q"]) for n in (1, 3))
    assert np.array_equal(one.result_.p, more.result_.p)
    assert {m["name"]: m["predictions"] for m in _core.methods()}["crowdlab"] == "needed"


def test_combinations_hand_predictions_on(world):
    members = [dissent.Standard(), dissent.IBCC()]
    fit = dissent.Average(members).fit(world["rows"], predictions=world["q"])
    by_hand = (dissent.Standard().fit(world["rows"]).result_.p + dissent.IBCC().fit(world["rows"], predictions=world["q"]).result_.p) / 2
    assert np.allclose(fit.result_.p, by_hand, atol=1e-15)


def test_the_loop(world):
    """Labels, a model that has not seen them, labels with its predictions: each better than what it came from."""
    model = dissent.SoftClassifier("soft-ce", "mlp:hidden=8,dropout=0", n_epochs=15, learning_rate=0.02)
    first = dissent.DawidSkene(smoothing=0.5).fit(world["rows"]).result_
    q = model.out_of_fold(world["x"], first, tasks=world["tasks"], folds=5)
    assert isinstance(q, dissent.SoftLabels) and q.tasks.tolist() == world["tasks"]
    second = dissent.DawidSkene(smoothing=0.5).fit(world["rows"], predictions=q)
    assert accuracy(second.result_, world) > accuracy(first, world) + 0.05
    assert not model._is_fitted()
    for n_jobs, jobs in ((1, 1), (2, 2), (2, 0)):
        again = model.clone().set_params(n_jobs=n_jobs)
        again = again.out_of_fold(world["x"], first, tasks=world["tasks"], folds=5, jobs=jobs)
        assert np.array_equal(again.p, q.p)
    assert model.out_of_fold(world["x"], np.asarray(first.p), folds=2, dev_share=0.2).shape == (600, 3)
    with pytest.raises(dissent.OptionError, match="2 or more"):
        model.out_of_fold(world["x"], np.asarray(first.p), folds=1)


def test_the_page():
    """docs/guides/labels-and-model.md shows code that runs."""
    page = (Path(__file__).parents[2] / "docs" / "guides" / "labels-and-model.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "labels-and-model.md", "exec"), {})
