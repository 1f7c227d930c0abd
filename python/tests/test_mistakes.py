"""Tables and arguments as people get them wrong: each is handled, or an exception that says what to do."""

from __future__ import annotations

import inspect
import math
import re

import numpy as np
import pytest

import dissent
from dissent import DataError, OptionError, Votes

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

GOOD = {"task": ["a", "a", "b"], "worker": ["x", "y", "x"], "label": ["p", "q", "p"]}


def frame(**columns):
    return pd.DataFrame({**GOOD, **columns})


MISSING = {
    "Int64": pd.array([2, None, 1], dtype="Int64"),
    "Float64": pd.array([2.5, None, 1.5], dtype="Float64"),
    "boolean": pd.array([True, None, False], dtype="boolean"),
    "string": pd.array(["q", None, "p"], dtype="string"),
    "objects with pd.NA": pd.Series(["q", pd.NA, "p"], dtype=object),
    "objects with NaN": pd.Series(["q", math.nan, "p"], dtype=object),
    "objects with None": pd.Series([2, None, 1], dtype=object),
    "floats": pd.Series([2.0, math.nan, 1.0]),
    "dates": pd.Series(pd.to_datetime(["2020-01-02", None, "2020-01-01"])),
    "categories": pd.Categorical([2, None, 1], [2, 1]),
}


@pytest.mark.parametrize("values", MISSING.values(), ids=MISSING.keys())
def test_missing_values_are_errors_and_na_makes_them_no_vote(values):
    for role in ("task", "worker", "label"):
        with pytest.raises(DataError, match=f"row 1: no {role}"):
            Votes(frame(**{role: values}))
    with pytest.raises(DataError, match='list "" in na'):
        Votes(frame(label=values))
    for nothing in (None, "", math.nan, pd.NA):
        votes = Votes(frame(label=values), na=[nothing])
        assert len(votes) == 2 and votes.notes["na"] == 1
        assert set(votes.classes.tolist()) == {v for v in pd.Series(values).tolist() if not pd.isna(v)}
    assert len(Votes(frame(label=values), lenient=True)) == 2


def test_nullable_columns_come_back_as_numbers():
    fit = dissent.MajorityVote().fit(frame(label=pd.array([10, 9, 2], dtype="Int64")))
    assert fit.classes_.tolist() == [2, 9, 10] and fit.labels_.dtype == np.int64
    fit = dissent.MajorityVote().fit(Votes(frame(label=pd.array([10, None, 2], dtype="Int64")), na=[None]))
    assert fit.classes_.tolist() == [2, 10] and fit.labels_.dtype == np.int64
    fit = dissent.MajorityVote().fit(frame(label=pd.array([True, True, False], dtype="boolean")))
    assert fit.labels_.dtype == bool and fit.classes_.tolist() == [False, True]


WRONG = {
    "lists": (lambda: Votes(frame(label=pd.Series([["p"]] * 3))), DataError, "multi-label"),
    "dicts": (lambda: Votes(frame(label=pd.Series([{"p": 1}] * 3))), DataError, "row 0.*dict"),
    "arrays": (lambda: Votes(frame(label=pd.Series([np.array([1, 2])] * 3))), DataError, "row 0.*ndarray"),
    "a number and its text": (lambda: Votes(frame(label=pd.Series([1, "1", 2], dtype=object))), DataError, "one type"),
    "a column twice": (
        lambda: Votes(pd.DataFrame([list("axpq")], columns=["task", "worker", "label", "label"])),
        DataError,
        "2 columns are called 'label'",
    ),
    "an Arrow column twice": (
        lambda: Votes(pa.Table.from_arrays([pa.array(GOOD[c]) for c in ("task", "worker", "label", "task")], ["task", "worker", "label", "task"])),
        DataError,
        "2 columns are called 'task'",
    ),
    "other names": (lambda: Votes(frame().rename(columns={"task": "what"})), KeyError, "task="),
    "other Arrow names": (lambda: Votes(pl.DataFrame(GOOD).rename({"label": "what"})), KeyError, "'what'; .*label="),
    "the index": (lambda: Votes(frame().set_index("task")), KeyError, "reset_index"),
    "a Series": (lambda: Votes(pd.Series(["p"])), TypeError, "one column"),
    "nothing": (lambda: Votes(None), TypeError, "give a table"),
    "an empty table": (lambda: Votes(frame()[:0]), DataError, "no votes"),
    "a path": (lambda: Votes("votes.csv"), TypeError, "read_votes"),
    "no Unicode": (lambda: Votes({**GOOD, "label": ["p", "\ud800", "q"]}), DataError, "row 1"),
    "no classes": (lambda: Votes(GOOD, classes=[]), OptionError, "list every class"),
    "a missing class": (lambda: Votes(GOOD, classes=["p", "q", None]), OptionError, "list every class"),
    "classes as one text": (lambda: Votes(GOOD, classes="pq"), TypeError, "list of classes"),
    "na as one text": (lambda: Votes(GOOD, na="p"), TypeError, "list of labels"),
    "min_votes below 0": (lambda: Votes(GOOD, min_votes=-1), OptionError, "min_votes=-1"),
    "half a vote": (lambda: Votes(GOOD, min_votes=1.5), OptionError, "min_votes=1.5"),
    "n_jobs as a text": (lambda: Votes(GOOD, n_jobs="x"), OptionError, "n_jobs='x'"),
    "n_jobs too large": (lambda: Votes(GOOD, n_jobs=10**12), OptionError, "n_jobs=1000000000000"),
    "a seed as a text": (lambda: dissent.MACE(random_state="x").fit(GOOD), OptionError, "random_state='x'"),
    "a seed below 0": (lambda: dissent.agreement(GOOD, random_state=-1), OptionError, "random_state=-1"),
    "resamples below 0": (lambda: dissent.agreement(GOOD, resamples=-1), OptionError, "resamples=-1"),
    "a device as a number": (lambda: dissent.agreement(GOOD, device=0), TypeError, "device=0"),
}


@pytest.mark.parametrize("call, error, match", WRONG.values(), ids=WRONG.keys())
def test_mistakes_raise_what_says_how_to_fix_them(call, error, match):
    with pytest.raises(error, match=match):
        call()


LABELS = dissent.MajorityVote().fit(GOOD)
TABLES = {
    "votes as predictions": (lambda: dissent.evaluate(frame(), {"a": "p"}), DataError, "'worker' holds 'x', not prob"),
    "labels as predictions": (lambda: dissent.evaluate({"a": "p"}, {"a": "p"}), TypeError, "one label per task"),
    "a Series of labels": (lambda: dissent.evaluate(pd.Series({"a": "p"}), {"a": "p"}), TypeError, "one label per task"),
    "gold of other tasks": (lambda: dissent.evaluate(LABELS, {"z": "p"}, lenient=True), DataError, "ids match"),
    "gold as lists": (lambda: dissent.evaluate(LABELS, {"a": ["p"]}, lenient=True), DataError, "list; a task has one"),
    "gold with other columns": (lambda: dissent.evaluate(LABELS, pd.DataFrame({"id": ["a"], "y": ["p"]})), DataError, "rename"),
    "gold with a column twice": (
        lambda: dissent.evaluate(LABELS, pd.DataFrame([list("apq")], columns=["task", "label", "label"])),
        DataError,
        "2 columns",
    ),
    "gold as a path": (lambda: dissent.evaluate(LABELS, "gold.csv"), TypeError, "read a file"),
    "ids against rows": (lambda: dissent.evaluate(np.array([[0.5, 0.5]]), {"a": "p"}), DataError, "as a list"),
    "probabilities as votes": (lambda: dissent.agreement(LABELS.result_.to_pandas()), TypeError, "looks like prob"),
    "names of methods": (lambda: dissent.Average(["mace"]).fit(GOOD), TypeError, "'mace'; list label methods"),
    "classes of methods": (lambda: dissent.Average([dissent.MACE]).fit(GOOD), TypeError, "list label methods"),
    "counts of texts": (lambda: Votes.from_counts([["a", "b"]]), DataError, "give numbers"),
    "counts with a class twice": (lambda: Votes.from_counts([[1, 2]], classes=["a", "a"]), DataError, "twice"),
    "a model as one text": (lambda: dissent.panel(GOOD, "x"), TypeError, "list of worker ids"),
    "a table to read": (lambda: dissent.read_votes(frame()), TypeError, "Votes\\(table\\)"),
    "sets in a column twice": (
        lambda: Votes(pd.DataFrame([["a", "x", ["p"], ["q"]]], columns=["task", "worker", "label", "label"]), scale="multi-label"),
        DataError,
        "2 columns",
    ),
}


@pytest.mark.parametrize("call, error, match", TABLES.values(), ids=TABLES.keys())
def test_tables_of_another_kind_raise_what_says_how_to_fix_them(call, error, match):
    with pytest.raises(error, match=match):
        call()


def test_the_advice_about_wide_tables_works():
    ids = ["a", "b", "c"]
    wide = pd.DataFrame({"id": ids, "ann": ["p", "q", "p"], "bob": ["q", "q", None], "eve": ["p", "q", "q"]})
    for df in (wide, wide.set_index("id")):
        with pytest.raises(KeyError, match="melt") as caught:
            Votes(df)
        advice = re.search(r"Votes\(df.*\)$", str(caught.value))
        assert advice
        votes = eval(advice.group(0), {"Votes": Votes, "df": df})
        assert votes.tasks.tolist() == ids and votes.workers.tolist() == ["ann", "bob", "eve"] and len(votes) == 8
    with pytest.raises(KeyError) as caught:
        Votes(pd.DataFrame({"item": ids, "coder": ["x", "y", "z"], "text": ["k", "l", "m"]}))
    assert "melt" not in str(caught.value)


def test_missing_parts_of_spans_and_sets_are_handled():
    spans = pd.DataFrame({"task": ["d", "d"], "worker": ["x", "y"], "label": ["A", pd.NA]})
    spans = spans.assign(start=pd.array([1, None], dtype="Int64"), end=pd.array([3, None], dtype="Int64"))
    assert len(Votes(spans, scale="spans")) == 2
    assert len(Votes(frame(label=pd.Series([["p"], pd.NA, ["q", "p"]])), scale="multi-label")) == 3


def test_files_take_classes_and_na_of_any_type(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("task,worker,label\na,x,2\na,y,\nb,x,1\n")
    votes = dissent.read_votes(path, classes=[2, 1], na=[None])
    assert votes.classes.tolist() == ["2", "1"] and len(votes) == 2


def test_float_labels_are_in_numeric_order():
    for labels in (np.array([2.5, 10.0, -3.0]), [2.5, 10.0, -3.0], pa.array([2.5, 10.0, -3.0]), pd.Series([2.5, 10.0, -3.0])):
        assert Votes({**GOOD, "label": labels}).classes.tolist() == [-3.0, 2.5, 10.0]


def test_columns_may_have_numbers_or_tuples_as_names():
    plain = frame().set_axis([0, 1, 2], axis=1)
    assert len(Votes(plain, task=0, worker=1, label=2)) == 3
    nested = pd.concat({"v": frame()}, axis=1)
    assert len(Votes(nested, task=("v", "task"), worker=("v", "worker"), label=("v", "label"))) == 3


@pytest.mark.parametrize("name", ["min_votes", "ask_from", "max_votes", "remember", "memory"])
def test_watch_checks_its_counts(name):
    for value in (-1, 1.5, math.nan, "x", 2**70, None):
        with pytest.raises(OptionError, match=f"{name}="):
            dissent.Watch(**{name: value})
    assert dissent.Watch(**{name: 3.0})


def test_watch_takes_no_missing_values():
    watch = dissent.Watch()
    for vote in ((None, "w", "p"), ("t", math.nan, "p"), ("t", "w", pd.NA), ("t", "w", pd.NaT), ("", "w", "p")):
        with pytest.raises(DataError, match="every vote needs"):
            watch.add(*vote)
    with pytest.raises(DataError):
        watch.add("t", "w", "")
    assert watch.counts["votes"] == 0
    watch.add(np.int64(1), 1.0, True)
    assert watch.counts["votes"] == 1
    with pytest.raises(DataError, match="a class"):
        dissent.Watch(classes=["a", None])


ALL = [getattr(dissent, n) for n in (*dissent.aggregation.__all__, *dissent.combination.__all__) if n not in ("Crowdlab", "GoldMajorityVote", "KOS")]


@pytest.mark.parametrize("cls", ALL, ids=lambda c: c.__name__)
def test_numbers_out_of_range_are_option_errors_that_name_the_parameter(cls):
    """Every parameter whose default is a number; those of crowd-kit that mean nothing here are taken as they come."""
    unused = {"m_step_max_iter", "m_step_tol", "verbose"} | ({"random_state"} if cls is dissent.MMSR else set())
    votes = [(t, w, "pqr"[(t * 7 + w * w) % 3]) for t in range(6) for w in range(4)]
    for name, parameter in inspect.signature(cls).parameters.items():
        number = isinstance(parameter.default, (int, float)) and not isinstance(parameter.default, bool)
        if not number or name in unused or (name == "random_state" and issubclass(cls, dissent.combination._Combination)):
            continue
        for value in (-1e300, math.nan):
            with pytest.raises(OptionError, match=rf"{cls.__name__}: {name}=|^{name}="):
                cls(**{name: value}).fit(votes)
