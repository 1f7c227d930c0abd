"""Rows are matched by task or refused, records are read as records, and a pickled fit is a fit."""

import copy
import io
import pickle
import warnings

import numpy as np
import pytest

import dissent
from dissent import SoftLabels

RNG = np.random.default_rng(7)
TASKS = [f"t{i}" for i in range(40)]
VOTES = [(t, f"w{w}", ["no", "so", "yes"][RNG.integers(3)]) for t in TASKS for w in range(4)]


def soft(seed):
    p = np.random.default_rng(seed).dirichlet([1, 1, 1], len(TASKS))
    return SoftLabels(TASKS, ["no", "so", "yes"], p)


def shuffled(labels):
    order = np.random.default_rng(3).permutation(len(labels))
    return SoftLabels(labels.tasks[order], labels.classes, labels.p[order])


PRED, HUMAN = soft(1), soft(2)
GOLD = dict(zip(TASKS, PRED.labels[::-1].tolist()))


def figures(e):
    return {k: m.value for k, m in e._figures.items()}


@pytest.mark.parametrize("kind", ["softlabels", "pandas", "task column", "polars", "arrow", "records", "dict of dicts"])
def test_rows_in_another_order_are_matched(kind):
    expected = figures(dissent.evaluate(PRED, GOLD, HUMAN, resamples=0))
    other = shuffled(HUMAN)
    if kind == "pandas":
        other = other.to_pandas()
    elif kind == "task column":
        other = other.to_pandas().reset_index()
    elif kind == "polars":
        other = pytest.importorskip("polars").DataFrame(other)
    elif kind == "arrow":
        other = pytest.importorskip("pyarrow").table(other)
    elif kind == "records":
        other = [{"task": t, **{f"p:{c}": x for c, x in other[t].items()}} for t in other.tasks.tolist()]
    elif kind == "dict of dicts":
        other = {t: other[t] for t in other.tasks.tolist()}
    found = figures(dissent.evaluate(PRED, GOLD, other, resamples=0))
    assert found == pytest.approx(expected)
    assert found["jsd"] == pytest.approx(expected["jsd"])


def test_rows_that_cannot_be_matched_are_refused():
    other = shuffled(HUMAN)
    for pred, human in ((PRED, other.p), (PRED.p, other), (PRED.p, other.to_pandas())):
        with pytest.raises(dissent.DataError, match="task ids"):
            dissent.evaluate(pred, human=human, resamples=0)
        with pytest.raises(dissent.DataError, match="task ids"):
            dissent.view_distances([pred, human], resamples=0)
        with pytest.raises(dissent.DataError, match="task ids"):
            dissent.Average().combine([pred, human])
        with pytest.raises(dissent.DataError, match="task ids"):
            dissent.report("/dev/null", labels={"a": pred, "b": human}, resamples=0)
    with pytest.raises(dissent.DataError, match="task ids"):
        dissent.evaluate(PRED, list(GOLD.values()), resamples=0)
    with pytest.raises(dissent.DataError, match="task ids"):
        dissent.compare(PRED, shuffled(PRED), list(GOLD.values()), resamples=0)
    with pytest.raises(dissent.DataError, match="task ids"):
        dissent.compare(PRED.labels, shuffled(PRED), GOLD, resamples=0)
    for measure in (dissent.agreement, dissent.review):
        with pytest.raises(dissent.DataError, match="task ids"):
            measure(VOTES, gold=list(GOLD.values()))
    with pytest.raises(dissent.DataError, match="task ids"):
        dissent.DawidSkene().fit(VOTES, list(GOLD.values()))


def test_arrays_alone_are_in_one_order():
    codes = [PRED.classes.tolist().index(g) for g in GOLD.values()]
    with_ids = dissent.evaluate(PRED, GOLD, HUMAN, resamples=0)
    plain = dissent.evaluate(PRED.p, codes, HUMAN.p, resamples=0)
    assert plain.jsd == pytest.approx(with_ids.jsd) and plain.accuracy == with_ids.accuracy
    numbered = PRED.to_pandas().reset_index(drop=True)  # the index says no more than the order
    numbered.columns = range(3)
    assert dissent.evaluate(numbered, codes, HUMAN.p, resamples=0).jsd == pytest.approx(with_ids.jsd)


def test_combination_matches_rows():
    other = shuffled(HUMAN)
    expected = dissent.Average().combine([PRED, HUMAN])
    for a, b in ((PRED, other), (PRED.to_pandas(), other), (PRED.to_pandas(), other.to_pandas())):
        found = dissent.Average().combine([a, b])
        assert type(found) is type(a)
        np.testing.assert_allclose(np.asarray(found), expected.p)
    with pytest.raises(dissent.DataError, match="t0"):
        dissent.Average().combine([PRED, SoftLabels(["x", *TASKS[1:]], PRED.classes, PRED.p)])


def test_records():
    rows = [{"label": label, "task": t, "worker": w, "note": None} for t, w, label in VOTES]
    expected = dissent.DawidSkene().fit(VOTES)
    found = dissent.DawidSkene().fit(rows)
    assert found.votes_.tasks.tolist() == expected.votes_.tasks.tolist() == TASKS
    np.testing.assert_array_equal(found.result_.p, expected.result_.p)
    np.testing.assert_array_equal(dissent.DawidSkene().fit(iter(rows)).result_.p, expected.result_.p)
    assert dissent.Votes([{"item": "a", "by": "x", "says": 1}], task="item", worker="by", label="says").tasks.tolist() == ["a"]
    with pytest.raises(dissent.DataError, match="no column 'task'"):
        dissent.Votes([{"thing": "a", "worker": "x", "label": 1}])
    with pytest.raises(dissent.DataError):
        dissent.Votes([*rows, {"task": "t", "worker": "x"}])  # a row without a label
    with pytest.raises(dissent.DataError, match="row 160"):
        dissent.Votes([*rows, ("t", "w", "yes")])
    gold = [{"task": t, "label": g} for t, g in GOLD.items()]
    assert dissent.evaluate(PRED, gold, resamples=0).accuracy == dissent.evaluate(PRED, GOLD, resamples=0).accuracy
    hard = [{"task": t, "label": label} for t, label in zip(TASKS, PRED.labels.tolist())]
    assert dissent.compare(hard, PRED, GOLD, resamples=0).accuracy.difference.value == 0


def test_unknown_true_labels_are_counted():
    known = {"t0": "yes", "t1": "no", "nobody": "yes"}
    with pytest.warns(UserWarning, match="1 of 3 tasks .* 'nobody'"):
        fit = dissent.DawidSkene().fit(VOTES, known)
    assert fit.result_.labels[0] == "yes"
    with pytest.raises(dissent.DataError, match="none of the 1 tasks"):
        dissent.DawidSkene().fit(VOTES, {"nobody": "yes"})
    for measure in (dissent.agreement, dissent.review):
        with pytest.warns(UserWarning, match="1 of 3 tasks"):
            measure(VOTES, gold=known)
    numbered = [(i, w, label) for i, (_, w, label) in enumerate(VOTES)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = dissent.DawidSkene().fit(numbered, {"0": "yes"})  # the same id as a text
    assert fit.result_.labels[0] == "yes"


def _copies(thing):
    yield pickle.loads(pickle.dumps(thing))
    yield copy.deepcopy(thing)
    joblib = pytest.importorskip("joblib")
    file = io.BytesIO()
    joblib.dump(thing, file)
    file.seek(0)
    yield joblib.load(file)


SPECIAL = ("GoldMajorityVote", "KOS")  # known labels, two classes: test_crowdkit_classes.py
AGGREGATORS = [
    getattr(dissent, name) for name in dissent.__all__ if hasattr(getattr(dissent, name), "fit_predict_proba") and name not in SPECIAL
]


@pytest.mark.parametrize("cls", AGGREGATORS)
@pytest.mark.parametrize("pandas", [False, True])
def test_a_fit_is_kept(cls, pandas):
    data = VOTES
    if pandas:
        data = pytest.importorskip("pandas").DataFrame(VOTES, columns=["task", "worker", "label"]).sample(frac=1, random_state=1)
    more = {"predictions": dissent.Standard().fit(data).result_} if cls is dissent.Crowdlab else {}
    fit = cls(n_jobs=1).fit(data, **more)
    for again in _copies(fit):
        assert again.get_params().keys() == fit.get_params().keys() and again._is_fitted()
        np.testing.assert_array_equal(again.result_.p, fit.result_.p)
        assert again.result_.tasks.tolist() == fit.result_.tasks.tolist()
        assert np.asarray(again.skills_).tolist() == np.asarray(fit.skills_).tolist()
        assert again.votes_.workers.tolist() == fit.votes_.workers.tolist()
        assert all(np.array_equal(a, b) for a, b in zip(again.votes_.rows(), fit.votes_.rows()))
        assert again.votes_.notes == fit.votes_.notes
        assert (again.n_iter_, again.converged_, again.loss_history_) == (fit.n_iter_, fit.converged_, fit.loss_history_)
        assert type(again.labels_) is type(fit.labels_) and np.array_equal(np.asarray(again.labels_), np.asarray(fit.labels_))
        assert dissent.evaluate(again, GOLD, resamples=0).accuracy == dissent.evaluate(fit, GOLD, resamples=0).accuracy
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(again)).result_.p, fit.result_.p)


def test_votes_are_kept():
    for votes in (dissent.Votes(VOTES), dissent.Votes.from_counts([[3, 1], [0, 4]], classes=["no", "yes"])):
        for again in _copies(votes):
            assert repr(again) == repr(votes) and again.classes.tolist() == votes.classes.tolist()
            np.testing.assert_array_equal(again.counts(), votes.counts())
            np.testing.assert_array_equal(dissent.Standard().fit(again).result_.p, dissent.Standard().fit(votes).result_.p)


def test_a_model_is_kept():
    x = np.random.default_rng(0).normal(size=(60, 3))
    model = dissent.SoftClassifier(model="mlp:hidden=4,dropout=0", n_epochs=2, random_state=1).fit(x, (x[:, 0] > 0).astype(int))
    for again in _copies(model):
        np.testing.assert_array_equal(again.predict_proba(x), model.predict_proba(x))
        assert again.classes_.tolist() == model.classes_.tolist() and again.history_ == model.history_


def test_results_are_kept():
    fit = dissent.DawidSkene().fit(VOTES)
    for thing in (dissent.evaluate(fit, GOLD, HUMAN, resamples=10, keep_items=True), dissent.agreement(VOTES, resamples=10)):
        for again in _copies(thing):
            assert again.to_dict() == thing.to_dict()
    for thing in (dissent.review(VOTES), dissent.compare(PRED, HUMAN, GOLD, resamples=10), dissent.view_distances([PRED, HUMAN], resamples=0)):
        for again in _copies(thing):
            assert again.to_dict() == thing.to_dict()
    for again in _copies(fit.result_):
        np.testing.assert_array_equal(again.p, fit.result_.p)
