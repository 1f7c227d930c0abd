"""Frames in and out: LazyFrames, to_frame() of every result, slices of labels, and the names of classes."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest

import dissent

pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
KINDS = {"pandas": (pd.DataFrame, pd.Series), "polars": (pl.DataFrame,), "pyarrow": (pa.Table,)}


@pytest.fixture(scope="module")
def results(crowd):
    """A result of each kind, from lists."""
    tasks, workers, labels, truth = crowd
    votes = dissent.Votes((tasks, workers, labels))
    fit = dissent.DawidSkene().fit(votes)
    groups = {w: "ab"[i % 2] for i, w in enumerate(votes.workers.tolist())}
    return {
        "fit": fit,
        "labels": fit.result_,
        "values": fit.labels_,
        "skills": fit.skills_,
        "votes": votes,
        "evaluation": dissent.evaluate(fit, truth, resamples=20),
        "agreement": dissent.agreement(votes, resamples=20),
        "review": dissent.review(votes),
        "groups": dissent.group_agreement(votes, groups, resamples=0, permutations=0),
        "panel": dissent.panel(votes, ["w1"]),
        "perspectives": dissent.perspectives(votes, votes, resamples=0),
        "table": dissent.review(votes).workers,
        "metric": dissent.agreement(votes, resamples=20)["percent"],
        "comparison": dissent.compare(fit, dissent.MajorityVote().fit(votes), truth, resamples=20),
        "significance": dissent.compare(fit, dissent.MajorityVote().fit(votes), truth, resamples=20).accuracy,
        "distances": dissent.view_distances({"a": fit, "b": dissent.Standard().fit(votes)}, resamples=0),
        "group evaluation": dissent.group_evaluation(fit, votes, groups, resamples=0, permutations=0),
        "plan": dissent.plan(votes),
        "judge": dissent.Judge.certify(votes, "w1"),
        "crowd": dissent.synth(20, texts=True, n_features=2),
        "sets": dissent.prediction_sets(fit.result_, dissent.Votes((tasks[::2], workers[::2], labels[::2])), coverage=0.8),
        "scaled": dissent.scaled([("a", "x", 1), ("a", "y", 2), ("b", "x", 3), ("b", "y", 5)], "numeric", resamples=0),
    }


@pytest.mark.parametrize("kind", list(KINDS))
def test_to_frame(kind, results):
    for name, result in results.items():
        frame = result.to_frame(kind)
        assert isinstance(frame, KINDS[kind]) and len(frame) > 0, name
    soft = results["labels"]
    column = results["labels"].to_frame("polars")["p:1"]
    assert np.array_equal(column.to_numpy(), soft.p[:, 1])
    votes = dissent.Votes(results["votes"].to_frame(kind))
    assert np.array_equal(votes.counts(), results["votes"].counts())
    figures = results["evaluation"].to_frame("pandas")
    assert figures.loc["accuracy", "value"] == results["evaluation"].accuracy
    with pytest.raises(dissent.OptionError, match="choose 'pandas'"):
        soft.to_frame("excel")


def test_pandas_results_have_frames_too(crowd):
    tasks, workers, labels, _ = crowd
    review = dissent.review(pd.DataFrame({"task": tasks, "worker": workers, "label": labels}))
    assert isinstance(review.to_frame(), pd.DataFrame)
    assert "task" in review.to_frame("polars").columns and "task" in review.to_frame("pyarrow").column_names


def test_results_of_every_class_are_here(results):
    """test_to_frame covers every public class that is a result."""
    others = {"Drift", "Groups", "SoftClassifier", "Tokenizer", "Tokens", "Watch", "WatchRow"}  # tested below, or no results
    for name in dissent.__all__:
        thing = getattr(dissent, name)
        if inspect.isclass(thing) and not issubclass(thing, (Exception, dissent._base.Aggregator)) and name not in others:
            assert any(type(r) is thing for r in results.values()), name
    for name in others - {"Drift", "Groups"}:
        assert hasattr(getattr(dissent, name), "_repr_html_"), name


def test_frames_of_comparisons_and_tokens(results):
    comparison, frame = results["comparison"], results["comparison"].to_frame("pandas")
    assert frame.loc["accuracy", "difference"] == comparison.accuracy.difference.value
    assert frame.loc["macro_f1", "ci_low"] == comparison.macro_f1.difference.ci_low
    assert np.array_equal(results["distances"].to_frame("pandas").to_numpy(), results["distances"].matrix())
    crowd = results["crowd"].to_frame("polars")
    assert crowd.columns == ["task", "gold", "text", "x0", "x1"] and crowd["task"].to_list() == list(results["crowd"].gold)
    groups = dissent.Groups({"ann": "north", "bob": "south", "eve": "south"})
    assert "<td style=\"text-align:right\">2</td>" in groups._repr_html_()
    watch = dissent.Watch(power=0, classes=["a", "b"])
    rows = watch.add("<t1>", "ann", "a") + watch.add("<t1>", "bob", "a")
    assert "&lt;t1&gt;" in rows[0]._repr_html_() and "votes</td>" in watch._repr_html_()
    tokens = dissent.Tokens({"start": [0, 2, 3], "id": [5, 6, 7], "type": [0, 0, 1], "from": None, "to": None, "first_token": None})
    assert tokens.to_frame("polars")["text"].to_list() == [0, 0, 1] and "3 tokens" in tokens._repr_html_()


def test_html_of_every_result(results):
    for name, result in results.items():
        assert "<" in result._repr_html_(), name
    assert "votes" in results["votes"]._repr_html_() and "<script" not in results["votes"]._repr_html_()


def test_lazy_frames(columns):
    lazy = pl.LazyFrame(columns).with_columns(pl.col("label") + 1)
    eager = dissent.Votes(lazy.collect())
    assert np.array_equal(dissent.Votes(lazy).counts(), eager.counts())
    fit = dissent.DawidSkene().fit(lazy)
    assert fit.classes_.tolist() == [1, 2, 3]
    out = fit.to_frame("lazy")
    assert isinstance(out, pl.LazyFrame) and out.collect().equals(fit.to_frame("polars"))
    assert np.array_equal(dissent.Votes(fit.votes_.to_frame("lazy")).counts(), eager.counts())


def test_slices_of_labels():
    soft = dissent.SoftLabels(["a", "b", "c"], ["no", "yes"], [[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]])
    assert soft[["c", "a"]].tasks.tolist() == ["c", "a"] and soft[["c", "a"]].p.tolist() == [[0.5, 0.5], [0.25, 0.75]]
    assert soft[1:].tasks.tolist() == ["b", "c"] and soft[soft.entropy > 0.6]["c"] == {"no": 0.5, "yes": 0.5}
    assert len(soft[soft.entropy > 0.6]) == 1 and soft["a"] == {"no": 0.25, "yes": 0.75}
    with pytest.raises(KeyError, match="'x'"):
        soft[["a", "x"]]


def test_public_classes_are_those_of_the_package(results):
    for name in dissent.__all__:
        thing = getattr(dissent, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert thing.__module__ == "dissent", name
    again = pickle.loads(pickle.dumps(results["labels"]))
    assert np.array_equal(again.p, results["labels"].p)


def test_resamples_have_one_name():
    for name in dissent.__all__:
        thing = getattr(dissent, name)
        if inspect.isfunction(thing):
            assert "n_resamples" not in inspect.signature(thing).parameters, name
