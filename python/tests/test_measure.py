"""Agreement, evaluation, comparison, review, distances, report: what the command line says, whatever comes in."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest
from conftest import make_crowd
from hypothesis import given, settings
from hypothesis import strategies as st
from tool import needs_tool, put_csv, run, same_metrics, summary

import dissent
from dissent import DissentError, SoftLabels, _core

FINE = (DissentError, TypeError, ValueError, KeyError, OverflowError)


@pytest.fixture(scope="module")
def labels(crowd):
    votes = dissent.Votes(dict(zip(("task", "worker", "label"), crowd[:3])))
    return {
        "votes": votes,
        "truth": crowd[3],
        "model": dissent.DawidSkene().fit(votes).result_,
        "people": dissent.Standard().fit(votes).result_,
        "other": dissent.Softmax().fit(votes).result_,
    }


@pytest.fixture()
def files(labels, crowd, tmp_path):
    paths = {name: tmp_path / f"{name}.csv" for name in ("model", "people", "other")}
    for name, path in paths.items():
        dissent.write_labels(labels[name], path)
    paths["gold"] = put_csv(tmp_path / "gold.csv", ["task", "label"], list(crowd[3].items()))
    paths["votes"] = put_csv(tmp_path / "votes.csv", ["task", "worker", "label"], list(zip(*crowd[:3])))
    return paths


# ---- the same as the command line ----


@needs_tool
def test_evaluate_is_dissent_eval(labels, files, tmp_path):
    theirs = summary(tmp_path, "eval", files["model"], "--gold", files["gold"], "--human", files["people"], "--seed", 3)
    ours = dissent.evaluate(labels["model"], labels["truth"], labels["people"], random_state=3)
    same_metrics(ours.to_dict()["metrics"], theirs["predictions"][0]["metrics"])
    assert ours.confusion.tolist() == theirs["predictions"][0]["confusion"]
    assert [t["value"] for t in ours.temperatures] == [t["value"] for t in theirs["predictions"][0]["temperatures"]]
    by_class = theirs["predictions"][0]["by_class"]
    assert ours.by_class["f1"].tolist() == [c["f1"]["value"] for c in by_class]
    assert str(ours.majority_class) == theirs["predictions"][0]["majority_class"]


@needs_tool
def test_agreement_is_dissent_agree(labels, files, tmp_path):
    theirs = summary(tmp_path, "agree", files["votes"], "--gold", files["gold"], "--seed", 5)
    ours = dissent.agreement(labels["votes"], labels["truth"], random_state=5)
    same_metrics(ours.to_dict()["metrics"], theirs["metrics"])


@needs_tool
def test_compare_is_dissent_compare(labels, files, tmp_path):
    theirs = summary(
        tmp_path, "compare", "--a", files["model"], files["other"], "--b", files["people"], files["people"],
        "--gold", files["gold"], "--human", files["people"], "--resamples", 500, "--seed", 9,
    )  # fmt: skip
    ours = dissent.compare(
        [labels["model"], labels["other"]], [labels["people"], labels["people"]], labels["truth"], labels["people"],
        resamples=500, random_state=9,
    )  # fmt: skip
    for name in ("accuracy", "macro_f1"):
        s, t = getattr(ours, name).to_dict(), theirs["metrics"][name]
        same_metrics({k: s[k] for k in ("a", "b", "difference")}, {k: t[k] for k in ("a", "b", "difference")})
        assert all(s[k] == t[k] for k in ("sd_a", "sd_b", "p", "p_two_sided")) and "*" * s["stars"] == t["stars"]
    assert ours.cells == theirs["cells"] and [m["p"] for m in ours.mcnemar] == [m["p"] for m in theirs["mcnemar"]]
    for name, t in theirs["soft_labels"].items():
        assert {c: m.value for c, m in ours.statistics[name]["mean"].items()} == {c: t[c]["value"] for c in ours.cells}
    assert ours.n_items == theirs["items"]


@needs_tool
def test_review_is_dissent_review(labels, files, tmp_path):
    out = tmp_path / "review.csv"
    run("review", files["votes"], "--budget", 30, "-o", out)
    rows = [line.split(",") for line in out.read_text().splitlines()]
    ours = dissent.review(labels["votes"], 30)
    at = rows[0].index("task")
    listed = [r[at] for r in rows[1:]]
    assert len(listed) > 5 and listed == ours.items["task"].tolist()[: len(listed)]
    assert int(ours.items["buy"].sum()) == ours.spent == 30


def test_texts_stand_beside_ids(labels, tmp_path):
    votes = [("t1", "a", "x"), ("t1", "b", "y"), (2, "a", "y"), (2, "b", "x"), ("t3", "a", "y"), ("t3", "b", "y")]
    texts_by_task = {"t1": "one </script><script>alert(1)</script>", "2": "two", "unused": "nothing"}
    want = {"t1": texts_by_task["t1"], 2: "two", "t3": ""}
    for given in (texts_by_task, {"task": list(texts_by_task), "text": list(texts_by_task.values())}, list(texts_by_task.items())):
        table = dissent.review(votes, texts=given).items
        assert {t: s for t, s in zip(table["task"], table["text"])} == {k: want[k] for k in table["task"]}
    assert "text" not in dissent.review(votes).items.columns
    page = tmp_path / "texts.html"
    dissent.report(page, votes, texts=texts_by_task)
    html = page.read_text(encoding="utf-8")
    assert "one &lt;/script&gt;&lt;script&gt;" in html and "</script><script>alert" not in html
    with pytest.raises(dissent.DataError, match="2 texts without task ids for 3 tasks"):
        dissent.review(votes, texts=["one", "two"])
    with pytest.raises(dissent.OptionError, match="give votes or labels"):
        dissent.report(page, predictions=None, texts=texts_by_task)


@needs_tool
def test_report_is_dissent_report(labels, files, tmp_path):
    votes = dissent.read_votes(files["votes"])
    fits = {m._method: m.fit(votes) for m in (dissent.Standard(), dissent.Softmax())}
    dissent.report(tmp_path / "ours.html", votes, fits, gold=labels["truth"])
    page = (tmp_path / "ours.html").read_text()
    assert page.startswith("<!") and "standard" in page and len(page) > 10000
    with pytest.raises(dissent.OptionError):
        dissent.report(tmp_path / "empty.html")
    assert not (tmp_path / "empty.html").exists()


@needs_tool
def test_distances_are_dissent_views(labels, files, tmp_path):
    theirs = summary(tmp_path, "views", files["model"], files["people"], files["other"])
    ours = dissent.view_distances({n: labels[n] for n in ("model", "people", "other")})
    flat = repr(theirs)
    for value in (ours.jsd[0][1].value, ours.jsd[1][2].value, ours.hub_over_items.value, ours.entropy[2].value):
        assert repr(value) in flat


def test_label_files_come_back(labels, tmp_path):
    for name in ("l.csv", "l.jsonl", "l.npy"):
        dissent.write_labels(labels["model"], tmp_path / name)
        again = dissent.read_labels(tmp_path / name)
        assert np.array_equal(again.p, labels["model"].p)
        assert again.tasks.tolist() == labels["model"].tasks.tolist() and again.classes.tolist() == ["0", "1", "2"]
        assert dissent.evaluate(tmp_path / name, labels["truth"], resamples=0).accuracy > 0.5


# ---- the same as scikit-learn ----


def test_against_sklearn(labels):
    sk = pytest.importorskip("sklearn.metrics")
    truth = [labels["truth"][t] for t in labels["model"].tasks.tolist()]
    predicted = labels["model"].labels.tolist()
    e = dissent.evaluate(labels["model"], labels["truth"], resamples=0)
    assert e.accuracy == pytest.approx(sk.accuracy_score(truth, predicted), abs=1e-15)
    for average in ("macro", "micro", "weighted"):
        assert getattr(e, f"{average}_f1") == pytest.approx(sk.f1_score(truth, predicted, average=average), abs=1e-14)
    smooth = dissent.evaluate(labels["other"], labels["truth"], resamples=0)  # no probability near the floors, which differ
    assert smooth.log_loss == pytest.approx(sk.log_loss(truth, labels["other"].p), rel=1e-12)
    assert np.array_equal(e.confusion, sk.confusion_matrix(truth, predicted))
    assert np.allclose(e.by_class["recall"], sk.recall_score(truth, predicted, average=None), atol=1e-15)


# ---- whatever comes in ----


def test_inputs_give_the_same(labels, crowd):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    model, truth = labels["model"], labels["truth"]
    frame = model.to_pandas()
    order = [labels["model"].tasks.tolist().index(t) for t in sorted(truth)]
    preds = [
        model,
        dissent.DawidSkene().fit(labels["votes"]),
        frame,
        frame.iloc[::-1][frame.columns[::-1]],
        frame.reset_index(),
        pl.DataFrame(model),
        pa.table(model),
        {t: model[t] for t in model.tasks.tolist()},
        SoftLabels(model.tasks[order], model.classes, model.p[order]),
    ]
    golds = [
        truth,
        pd.Series(truth),
        list(truth.items()),
        dissent.Values(list(truth), list(truth.values()), "label", "task"),
        {"task": list(truth), "label": list(truth.values())},
        pd.DataFrame({"task": list(truth), "label": list(truth.values())}),
        pl.DataFrame({"task": list(truth), "label": list(truth.values())}),
    ]
    expected = dissent.evaluate(model, truth, labels["people"], resamples=0)
    for pred in preds:
        e = dissent.evaluate(pred, truth, labels["people"], resamples=0)
        assert e.accuracy == expected.accuracy and e.jsd == pytest.approx(expected.jsd, abs=1e-14)
    for gold in golds:
        e = dissent.evaluate(model, gold, labels["people"], resamples=0)
        assert e.to_dict() == expected.to_dict()
    array = dissent.evaluate(model.p, [truth[t] for t in model.tasks.tolist()], labels["people"].p, resamples=0)
    assert array.to_dict()["metrics"] == expected.to_dict()["metrics"]
    assert isinstance(dissent.evaluate(frame, truth, resamples=0).by_class, pd.DataFrame)
    assert isinstance(expected.by_class, dissent.Table)
    assert pl.DataFrame(expected.by_class).columns == expected.by_class.columns


def test_pandas_in_pandas_out(frame, labels):
    import pandas as pd

    a = dissent.agreement(frame, resamples=0)
    r = dissent.review(frame, 5, top=7)
    for table in (a.items, a.workers, a.pairs, a.classes, r.items, r.workers):
        assert isinstance(table, pd.DataFrame)
    assert a.workers.index.name == "worker" and r.items.index.name == "task" and len(r.items) == 7
    plain = dissent.agreement(labels["votes"], resamples=0)
    assert plain.to_dict() == a.to_dict() and np.array_equal(plain.workers["agreement"], a.workers["agreement"])


def test_single_items(labels):
    e = dissent.evaluate(labels["model"], labels["truth"], labels["people"], keep_items=True, resamples=0)
    assert len(e.items) == 60 and e.items["task"].tolist() == labels["model"].tasks.tolist()
    assert e.items["jsd"].mean() == pytest.approx(e.jsd, abs=1e-15)
    assert (e.items["gold"] == e.items["predicted"]).mean() == e.accuracy
    row = e.items.row(0)
    assert row["task"] == labels["model"].tasks[0] and "wasserstein" not in row


def test_undefined_is_none_with_a_reason(labels):
    e = dissent.evaluate(labels["model"], labels["truth"], resamples=0)
    assert e.top_k_accuracy is None and "always 1" in e["top_k_accuracy"].reason and not e["top_k_accuracy"]
    assert e["accuracy"].ci_low is None and "jsd" not in e.keys()
    with pytest.raises(AttributeError, match="figures are"):
        e.jsd
    with pytest.raises(ValueError, match="no value"):
        float(e["top_k_accuracy"])
    a = dissent.agreement([("t1", "a", "x"), ("t2", "b", "y")], resamples=0)
    assert a.alpha_nominal is None and a["alpha_nominal"].reason
    assert a.items.row(0)["agreement"] is None and math.isnan(a.items["agreement"][0])
    assert "Metric(None" in repr(a["alpha_nominal"])


def test_lenient(labels):
    model, truth = labels["model"], labels["truth"]
    some = SoftLabels(model.tasks[5:], model.classes, model.p[5:])
    known = {t: c for t, c in truth.items() if t != model.tasks[7]}
    with pytest.raises(dissent.DataError, match="lenient"):
        dissent.evaluate(model, truth, some)
    with pytest.raises(dissent.DataError, match="lenient"):
        dissent.evaluate(some, truth)
    with pytest.raises(dissent.DataError, match="no label for task"):
        dissent.evaluate(model, known)
    e = dissent.evaluate(model, known, some, lenient=True, resamples=0)
    assert (e.n_items, e.n_gold, e.left_out) == (55, 54, 5)
    more = dissent.evaluate(model, {**truth, "task0": "new"}, lenient=True, resamples=0)
    assert len(more.classes) == 4


def test_compare_labels_and_tables(labels):
    model, people, truth = labels["model"], labels["people"], labels["truth"]
    by_table = dissent.compare(model, people, truth, people, resamples=200)
    hard = dissent.Values(model.tasks, model.labels, "label", "task")
    by_label = dissent.compare(hard, dict(zip(people.tasks.tolist(), people.labels.tolist())), truth, people, resamples=200)
    assert by_table.to_dict() == by_label.to_dict()
    assert sum(by_table.cells.values()) == 60 and set(by_table.statistics) == {"kurtosis", "entropy", "max_probability"}
    assert by_table.accuracy.difference.value == pytest.approx(by_table.accuracy.a.value - by_table.accuracy.b.value)
    none = dissent.compare(hard, hard, truth, resamples=0)
    assert none.accuracy.p is None or none.accuracy.p == 1


# ---- bad input ----


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda d: dissent.evaluate(d["model"].p * 2, resamples=0), dissent.DataError, "sum to 2"),
        (lambda d: dissent.evaluate(-d["model"].p), dissent.DataError, "0 or more"),
        (lambda d: dissent.evaluate(np.full((3, 2), np.nan)), dissent.DataError, "0 or more"),
        (lambda d: dissent.evaluate(np.zeros((0, 2))), dissent.DataError, "are not labels"),
        (lambda d: dissent.evaluate(d["model"].p[0]), dissent.DataError, "dimensions"),
        (lambda d: dissent.evaluate("there is no such file.csv"), dissent.FileError, "no such file"),
        (lambda d: dissent.evaluate(object()), TypeError, "holds no distributions"),
        (lambda d: dissent.evaluate(d["model"], {"task0": "purple"}, lenient=False), dissent.DataError, "purple"),
        (lambda d: dissent.evaluate(d["model"], [1, 2]), dissent.DataError, "2 labels"),
        (lambda d: dissent.evaluate(d["model"], 7), TypeError, "labels cannot be read from int"),
        (lambda d: dissent.evaluate(d["model"], [("task0", 0), ("task0", 1)], lenient=True), dissent.DataError, "two labels"),
        (lambda d: dissent.evaluate(d["model"], metrics=["cleverness"]), ValueError, "no metric"),
        (lambda d: dissent.evaluate(d["model"], resamples=-1), dissent.OptionError, "resamples"),
        (lambda d: dissent.evaluate(d["model"], fraction=2, resamples=5), dissent.OptionError, "fraction"),
        (lambda d: dissent.evaluate(d["model"], n_bins=10**6), dissent.OptionError, "bins"),
        (lambda d: dissent.evaluate(d["model"], n_splits=-4), dissent.OptionError, "splits"),
        (lambda d: dissent.evaluate(d["model"], groups={"task0": 1}), dissent.DataError, "groups"),
        (lambda d: dissent.compare(d["model"], d["people"], None), dissent.OptionError, "true labels"),
        (lambda d: dissent.compare([d["model"]] * 65, d["people"], d["truth"]), ValueError, "65"),
        (lambda d: dissent.compare(d["model"], d["people"], d["truth"], alternative="other"), ValueError, "alternative"),
        (lambda d: dissent.compare([d["model"]] * 2, d["people"], d["truth"], pool_seeds=True), dissent.OptionError, "pooled"),
        (lambda d: dissent.review(d["votes"], by="luck"), ValueError, "gain"),
        (lambda d: dissent.review(d["votes"], method="magic"), dissent.OptionError, "magic"),
        (lambda d: dissent.review(d["votes"], -1), dissent.OptionError, "budget"),
        (lambda d: dissent.agreement("votes.csv"), TypeError, "read_votes"),
        (lambda d: dissent.view_distances([d["model"]]), dissent.OptionError, "views"),
        (lambda d: dissent.view_distances({}), dissent.OptionError, "no views"),
        (lambda d: dissent.report("/nowhere/at/all.html", d["votes"]), dissent.FileError, "nowhere"),
        (lambda d: dissent.write_labels(d["model"], "/nowhere/at/all.csv"), dissent.FileError, "nowhere"),
        (lambda d: dissent.write_labels(d["model"], "x.csv", format="xls"), dissent.OptionError, "xls"),
    ],
)  # fmt: skip
def test_refusals(labels, call, error, message):
    with pytest.raises(error, match=message):
        call(labels)


numbers = st.one_of(
    st.none(),
    st.text(max_size=3),
    st.lists(st.floats(), max_size=6),
    st.lists(st.lists(st.floats(0, 1), min_size=2, max_size=2), max_size=4),
    st.integers(),
    st.dictionaries(st.text(max_size=2), st.one_of(st.integers(), st.floats(), st.text(max_size=2)), max_size=3),
    st.just([[0.5, 0.5], [1.0, 0.0]]),
)


@settings(deadline=None, max_examples=60)
@given(numbers, numbers, numbers)
def test_anything_is_measured_or_refused(pred, gold, human):
    for call in (
        lambda: dissent.evaluate(pred, gold, human, resamples=3),
        lambda: dissent.compare(pred, human, gold, resamples=3),
        lambda: dissent.view_distances([pred, human], resamples=3),
    ):
        try:
            call()
        except (*FINE, AttributeError, OSError):
            pass


@settings(deadline=None, max_examples=60)
@given(st.one_of(numbers, st.integers(-5, 2**65)), st.integers(-3, 2**64))
def test_core_takes_no_nonsense(thing, n):
    votes = dissent.Votes([("a", "x", 0), ("b", "x", 1)]).core
    array = np.array([[0.5, 0.5], [1.0, 0.0]])
    for call in (
        lambda: _core.evaluate(thing, 2, 2),
        lambda: _core.evaluate(array, n, 2),
        lambda: _core.evaluate(array, 2, 2, gold=thing, human=thing, group=thing),
        lambda: _core.evaluate(array, 2, 2, gold=np.array([0, 5], dtype=np.int32)),
        lambda: _core.evaluate(array, 2, 2, gold=np.array([0, 1], dtype=np.int32), n_bins=n, n_splits=n, top_k=n),
        lambda: _core.evaluate(array, 2, 2, group=np.array([7, 1], dtype=np.uint32), n_groups=n),
        lambda: _core.compare((thing,), (thing,), thing, 2),
        lambda: _core.compare((np.array([0, 9], dtype=np.int32),), (thing,), np.array([0, 1], dtype=np.int32), n),
        lambda: _core.agreement(votes, gold=thing, min_common=n),
        lambda: _core.review(votes, gold=thing, top=n, method=thing),
        lambda: _core.distances((array, thing), 2, 2),
        lambda: _core.distances((array, array), n, n),
        lambda: _core.report("/nowhere/x.html", thing, thing, thing),
        lambda: _core.report("/nowhere/x.html", (votes, ["a"], ["0"], None, (("v", None, array),)), None, ()),
        lambda: _core.report("/nowhere/x.html", (None, ["a", "b"], ["0", "1"], None, (("v", thing, None),)), None, ()),
        lambda: _core.report("/nowhere/x.html", None, (2, ["0", "1"], thing, thing, (("v", thing),)), ()),
        lambda: _core.report("/nowhere/x.html", None, None, (("m", thing),)),
        lambda: _core.write_labels("/nowhere/x.csv", thing, thing, thing),
    ):
        try:
            call()
        except (*FINE, BufferError, OSError):
            pass


# ---- threads ----


def test_threads_change_nothing(labels):
    def all_of(n_jobs):
        e = dissent.evaluate(labels["model"], labels["truth"], labels["people"], resamples=50, n_jobs=n_jobs).to_dict()
        c = dissent.compare(labels["model"], labels["people"], labels["truth"], resamples=50, n_jobs=n_jobs).to_dict()
        a = dissent.agreement(labels["votes"], resamples=50, n_jobs=n_jobs).to_dict()
        r = dissent.review(labels["votes"], 10, n_jobs=n_jobs)
        v = dissent.view_distances([labels["model"], labels["people"]], resamples=50, n_jobs=n_jobs).to_dict()
        return e, c, a, r.items["task"].tolist(), r.to_dict(), v

    one = all_of(1)
    assert all_of(3) == one
    found: list = []
    threads = [threading.Thread(target=lambda: found.append(all_of(1))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [one] * 4


def test_html_is_inert():
    votes = [(f"<b>{t}", f"<i>{w}", f"<u>{c}") for t, w, c in zip(*make_crowd(12)[:3])]
    labels = {f"<b>{t}": f"<u>{c}" for t, c in make_crowd(12)[3].items()}
    fit = dissent.Standard().fit(votes)
    results = [
        dissent.agreement(votes, resamples=0),
        dissent.review(votes),
        dissent.evaluate(fit, labels, resamples=0),
        dissent.compare(fit, fit, labels, resamples=0),
        dissent.view_distances({"<s>": fit, "b": fit}, resamples=0),
    ]
    sides = {w: "<s>ab"[: 3 + i % 2] for i, w in enumerate(sorted({w for _, w, _ in votes}))}
    results.append(dissent.group_agreement(votes, dissent.Groups(sides, min_group=1), resamples=0, permutations=0))
    results.append(dissent.panel(votes, [votes[0][1]]))
    for r in results:
        page = r._repr_html_()
        for table in (getattr(r, name, None) for name in ("items", "workers", "classes", "by_class")):
            page += table._repr_html_() if isinstance(table, dissent.Table) else ""
        assert "<table" in page and not any(tag in page for tag in ("<b>", "<i>", "<u>", "<s>"))
        assert repr(r)


def test_docs_come_from_the_tables():
    for row in dissent.metrics():
        assert row["name"] in dissent.evaluate.__doc__ and row["summary"] in dissent.evaluate.__doc__
    for row in dissent.agreement_measures():
        assert row["name"] in dissent.agreement.__doc__


def test_review_of_given_labels():
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, 300)
    votes = [
        (f"t{i}", f"w{w}", int(truth[i]) if rng.random() < 0.8 else int(rng.integers(0, 3)))
        for i in range(300)
        for w in rng.choice(12, 6, replace=False)
    ]
    labels = {f"t{i}": int(truth[i] + (i < 20)) % 3 for i in range(300)}
    r = dissent.review(votes, labels=labels, accept=0.8)
    first = {str(t) for t in r.items["task"][:20]}
    assert len(first & {f"t{i}" for i in range(20)}) >= 15
    assert r.n_accepted == int(np.sum(r.items["accepted"])) and 0 < r.n_accepted < 300
    assert r.expected_accuracy_accepted >= 0.8 and r.beyond_chance
    assert int(np.sum(r.workers["shared"])) == len(votes)
    with pytest.raises(dissent.OptionError):
        dissent.review(votes, accept=2)


def test_device_of_resamples():
    """Resamples of many items are drawn on a device that is asked for by its name; few are always the processor's."""
    gold, p = ["a", "b"] * 20, np.tile([[0.7, 0.3], [0.4, 0.6]], (20, 1))
    here = dissent.evaluate(p, [0, 1] * 20, resamples=50)
    assert dissent.evaluate(p, [0, 1] * 20, resamples=50, device="auto").to_dict() == here.to_dict()
    with pytest.raises(dissent.OptionError, match="abacus"):
        dissent.evaluate(p, [0, 1] * 20, resamples=50, device="abacus")
    assert dissent.compare(gold, gold[::-1], gold, resamples=50, device="auto").accuracy.a.value == 1


def test_two_camps():
    """Two camps that read a third of the tasks differently are found; one camp is not divided."""
    rng = np.random.default_rng(4)
    rows = []
    for i in range(240):
        contested = rng.random() < 0.4
        for w in rng.permutation(10)[:8]:
            label = (i + (contested and w >= 6)) % 3
            rows.append((f"t{i}", f"w{w}", f"c{label if rng.random() < 0.85 else rng.integers(3)}"))
    found = dissent.review(rows, camps=True)
    assert found.camps is not None and found.camps["found"] and found.camps["p"] < 0.01
    assert found.camps["agreement_within"] > found.camps["agreement_across"] + 0.1
    camp = dict(zip(found.workers["worker"].tolist(), found.workers["camp"].tolist()))
    assert {w for w, c in camp.items() if c == 2} == {"w6", "w7", "w8", "w9"}
    one = dissent.review([row for row in rows if row[1] < "w6"], camps=True)
    assert one.camps is not None and not one.camps["found"] and set(one.workers["camp"].tolist()) == {0}
    assert dissent.review(rows).camps is None and "camps" in found.to_dict()
