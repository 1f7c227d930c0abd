"""Label methods: shapes, names, the same answers whatever votes come in, scikit-learn's manners."""

from __future__ import annotations

import inspect
import pickle
import warnings

import numpy as np
import pytest
from conftest import ALL
from tool import needs_tool, run

import dissent
from dissent import _core

COMBINATIONS = [getattr(dissent, name) for name in dissent.combination.__all__]


@pytest.mark.parametrize("cls", ALL + COMBINATIONS)
def test_pandas_in_pandas_out(cls, frame):
    import pandas as pd

    model = cls().fit(frame)
    assert isinstance(model.probas_, pd.DataFrame) and isinstance(model.labels_, pd.Series)
    assert model.probas_.shape == (60, 3) and model.probas_.index.name == "task" and model.probas_.columns.name == "label"
    assert list(model.probas_.columns) == [0, 1, 2]
    assert model.labels_.name == "agg_label" and model.labels_.index.name == "task"
    assert np.allclose(model.probas_.sum(axis=1), 1, atol=1e-12)
    assert (model.probas_.idxmax(axis=1) == model.labels_).all()
    assert model.skills_.name == "skill" and model.skills_.index.name == "worker" and len(model.skills_) == 9
    assert isinstance(model.n_iter_, int) and model.converged_ in (True, False)
    assert isinstance(model.loss_history_, list)
    pd.testing.assert_series_equal(cls().fit_predict(frame), model.labels_)
    pd.testing.assert_frame_equal(cls().fit_predict_proba(frame), model.probas_)


@pytest.mark.parametrize("cls", ALL)
def test_lists_give_the_same_numbers(cls, frame, columns):
    other_fit = cls().fit(frame)
    here = cls().fit(columns)
    assert isinstance(here.probas_, dissent.SoftLabels) and isinstance(here.labels_, dissent.Values)
    table = other_fit.probas_.loc[here.probas_.tasks.tolist()].to_numpy()
    assert np.array_equal(table, np.asarray(here.probas_))
    assert here.labels_.to_dict() == other_fit.labels_.to_dict()


@pytest.mark.parametrize("cls", ALL + COMBINATIONS)
def test_threads_change_nothing(cls, columns):
    one = np.asarray(cls(n_jobs=1).fit_predict_proba(columns))
    for n_jobs in (2, 3, -1):
        assert np.array_equal(one, np.asarray(cls(n_jobs=n_jobs).fit_predict_proba(columns)))


@pytest.mark.parametrize("cls", ALL + COMBINATIONS)
def test_manners(cls):
    model = cls(n_jobs=1)
    params = model.get_params()
    assert set(params) == set(inspect.signature(cls).parameters)
    assert model.set_params(**params) is model
    assert repr(model) == f"{cls.__name__}(n_jobs=1)"
    again = pickle.loads(pickle.dumps(model))
    assert again.get_params() == params
    with pytest.raises(dissent.OptionError, match="no parameter"):
        model.set_params(nonsense=1)
    with pytest.raises(AttributeError, match="fit"):
        model.probas_
    sklearn = pytest.importorskip("sklearn.base")
    assert sklearn.clone(model).get_params() == params


@pytest.mark.parametrize("cls", ALL)
def test_options_are_those_of_the_library(cls):
    """Every parameter that is handed on is an option of the method, and every default is one it takes."""
    rows = {o["key"]: o for o in {m["name"]: m for m in _core.methods()}[cls._method]["options"]}
    for name, key in cls._options.items():
        assert key in rows, f"{cls.__name__}.{name}"
        default = inspect.signature(cls).parameters[name].default
        if rows[key]["kind"] in ("int", "float") and default is not None:
            assert rows[key]["low"] <= default <= rows[key]["high"]
        assert rows[key]["summary"][1:] in cls.__doc__
    assert {m["summary"][1:] for m in _core.methods() if m["name"] == cls._method}.pop() in cls.__doc__


def test_every_method_has_a_class():
    assert {m["name"] for m in _core.methods()} - {"majority"} == {cls._method for cls in [*ALL, dissent.Crowdlab, dissent.KOS]}
    assert {c["name"] for c in _core.combiners()} == {cls._combiner for cls in COMBINATIONS}


def test_combining_is_what_it_says(columns):
    members = [dissent.Standard(), dissent.DawidSkene()]
    views = [m.clone().fit(columns).probas_ for m in members]
    average = dissent.Average(members).fit(columns)
    assert np.allclose(average.probas_, np.mean([np.asarray(v) for v in views], axis=0), atol=1e-15)
    assert np.allclose(dissent.Average(weights=[3, 1]).combine(views), (3 * views[0].p + views[1].p) / 4)
    assert np.array_equal(dissent.Average().combine(views), average.probas_)
    assert np.isclose(dissent.JensenShannonCentroid(members, weights="auto").fit(columns).weights_.sum(), 1)


def test_known_labels_stay(frame, crowd):
    truth = crowd[3]
    known = {t: truth[t] for t in list(truth)[:20]}
    model = dissent.DawidSkene().fit(frame, known)
    assert all(model.labels_[t] == c and model.probas_.loc[t, c] == 1 for t, c in known.items())


def test_weighted_majority_vote():
    votes = [("t1", "p1", 0), ("t1", "p2", 0), ("t1", "p3", 1), ("t2", "p1", 1), ("t2", "p2", 0), ("t2", "p3", 1)]
    result = dissent.MajorityVote().fit(votes, {"p1": 0.5, "p2": 0.7, "p3": 0.4})
    assert np.allclose(result.probas_, [[1.2 / 1.6, 0.4 / 1.6], [0.7 / 1.6, 0.9 / 1.6]])
    with pytest.raises(dissent.DataError, match="p3"):
        dissent.MajorityVote().fit(votes, {"p1": 0.5, "p2": 0.7})
    model = dissent.MajorityVote(1.0, "value").fit(votes, {"p1": 0.5, "p2": 0.7})
    assert np.allclose(model.probas_, [[1.2 / 2.2, 1 / 2.2], [0.7 / 2.2, 1.5 / 2.2]])


def test_html(columns):
    model = dissent.DawidSkene().fit({**columns, "task": ["<script>" + t for t in columns["task"]]})
    page = model._repr_html_() + model.skills_._repr_html_() + model.labels_._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;" in page and "<svg" in page


def test_progress_and_stopping(columns):
    seen = []
    dissent.MACE(progress=lambda what, done: seen.append((what, done))).fit(columns)
    assert seen and all(0 <= done <= 1 for _, done in seen)

    class Enough(Exception):
        pass

    def stop(what, done):
        raise Enough

    with pytest.raises(Enough):
        dissent.MACE(progress=stop).fit(columns)


def test_warnings_of_a_fit():
    votes = [(f"t{i}", f"w{w}", (i * 7 + w * 3 + i * w) % 3) for i in range(60) for w in range(4)]
    with pytest.warns(dissent.FitWarning, match="DawidSkene: did not converge in 2 iterations"):
        dissent.DawidSkene(n_iter=2).fit(votes)
    with warnings.catch_warnings():
        warnings.simplefilter("error", dissent.FitWarning)
        dissent.Standard().fit(votes)


def test_smoothed_predicts_the_next_vote(columns):
    votes = [("a", "w1", "x"), ("a", "w2", "x"), ("b", "w1", "y"), ("b", "w2", "x")]
    fixed = dissent.Smoothed(strength=2).fit(votes)
    rates = np.array([(1.5 + 0.5) / 3, (0.5 + 0.5) / 3])  # mean shares of the classes, with a task of equal shares
    assert fixed.strength_ == pytest.approx(2) and np.allclose(np.asarray(fixed.priors_), rates)
    assert np.allclose(np.asarray(fixed.probas_), (np.array([[2, 0], [1, 1]]) + 2 * rates) / 4)
    fit = dissent.Smoothed().fit(columns)
    assert fit.strength_ > 0 and fit.converged_ and (fit.result_.p > 0).all()
    with pytest.warns(dissent.FitWarning, match="strength 2 was assumed"):
        dissent.Smoothed().fit(votes[::2])


@needs_tool
def test_calibrated_gives_the_default_labels(tmp_path):
    votes, labels = tmp_path / "votes.csv", tmp_path / "labels.npy"
    run("synth", "--items", 200, "--workers", 12, "--classes", 3, "-o", votes)
    run("labels", votes, "-o", labels)
    rows = [tuple(line.split(",")) for line in votes.read_text().split()[1:]]
    np.testing.assert_array_equal(dissent.Calibrated().fit(rows).result_.p, np.load(labels))


def test_device(columns):
    """A device is asked for by its name; without one, auto is the processor, and a fit says where it was."""
    other_fit = dissent.DawidSkene(device="auto").fit(columns)
    assert np.allclose(np.asarray(other_fit.probas_), np.asarray(dissent.DawidSkene().fit(columns).probas_), rtol=0, atol=1e-10)
    assert other_fit._fitted["fit"].summary()["device"] in ("cpu", "cuda:0")
    with pytest.raises(_core.OptionError, match="abacus"):
        dissent.MACE(device="abacus").fit(columns)
