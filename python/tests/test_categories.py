"""Declared orders: a Categorical of pandas, an Enum of polars, an ordered Arrow dictionary give the classes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from tool import needs_tool, put_csv, summary

import dissent

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

ORDER = ["never", "rarely", "often", "always"]  # not alphabetical; "always" has no votes


def rows(seed: int = 3) -> list[tuple[int, str, str]]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=40)
    return [
        (t, f"w{w}", ORDER[int(np.clip(truth[t] + rng.integers(-1, 2), 0, 2))]) for t in range(40) for w in range(5)
    ]


FRAME = pd.DataFrame(rows(), columns=["task", "worker", "label"])
ORDERED = FRAME.assign(label=pd.Categorical(FRAME.label, ORDER, ordered=True))
TYPED = {
    "ordered Categorical": ORDERED,
    "unordered Categorical": FRAME.assign(label=pd.Categorical(FRAME.label, ORDER)),
    "polars Enum": pl.DataFrame(FRAME).with_columns(pl.col("label").cast(pl.Enum(ORDER))),
    "Arrow of an ordered Categorical": pa.Table.from_pandas(ORDERED),
    "Arrow of an unordered Categorical": pa.Table.from_pandas(FRAME.assign(label=pd.Categorical(FRAME.label, ORDER))),
    "Arrow from polars": pa.table(pl.DataFrame(FRAME).with_columns(pl.col("label").cast(pl.Enum(ORDER)))),
    "tuple with a Categorical": (FRAME.task, FRAME.worker, pd.Categorical(FRAME.label, ORDER, ordered=True)),
    "dict with an Enum": {"task": FRAME.task, "worker": FRAME.worker, "label": pl.Series(FRAME.label, dtype=pl.Enum(ORDER))},
}


@pytest.mark.parametrize("table", TYPED.values(), ids=TYPED.keys())
def test_declared_categories_are_the_classes_in_their_order(table):
    votes = dissent.Votes(table)
    assert votes.classes.tolist() == ORDER
    assert votes.counts()[:, 3].sum() == 0 and len(votes) == 200
    fit = dissent.MajorityVote().fit(votes)
    assert fit.result_.classes.tolist() == ORDER and np.asarray(fit.probas_).shape == (40, 4)
    plain = dissent.Votes(FRAME)
    assert (votes.counts()[:, :3] == plain.counts()[:, [plain.classes.tolist().index(c) for c in ORDER[:3]]]).all()


def test_plain_texts_and_unordered_arrow_dictionaries_stay_in_byte_order():
    encoded = pa.table({**{c: FRAME[c].tolist() for c in ("task", "worker")}, "label": pa.array(FRAME.label.tolist()).dictionary_encode()})
    polars = pl.DataFrame(FRAME).with_columns(pl.col("label").cast(pl.Categorical))
    for table in (FRAME, encoded, polars):
        assert dissent.Votes(table).classes.tolist() == ["never", "often", "rarely"]


@needs_tool
def test_ordinal_alpha_equals_the_command_line_with_classes_in_order(tmp_path):
    path = put_csv(tmp_path / "votes.csv", ["task", "worker", "label"], rows())
    classes = tmp_path / "classes.txt"
    classes.write_text("\n".join(ORDER) + "\n")
    theirs = summary(tmp_path, "agree", path, "--ordinal", "--classes", classes, "--resamples", 0)["metrics"]["alpha_ordinal"]["value"]
    alphabetical = dissent.agreement(FRAME, ordinal=True, resamples=0).alpha_ordinal
    assert abs(theirs - alphabetical) > 0.02
    for name in ("ordered Categorical", "polars Enum", "Arrow of an ordered Categorical"):
        assert dissent.agreement(TYPED[name], resamples=0).alpha_ordinal == theirs
    scaled = dissent.Votes(ORDERED, scale="ordinal")
    assert dissent.agreement(scaled, resamples=0).alpha_ordinal == theirs


def test_labels_come_back_in_the_type_of_the_column():
    fit = dissent.DawidSkene().fit(ORDERED)
    assert fit.labels_.dtype == ORDERED.label.dtype
    assert pickle.loads(pickle.dumps(fit)).labels_.dtype == ORDERED.label.dtype
    assert fit.probas_.columns.tolist() == ORDER and fit.priors_.index.tolist() == ORDER
    assert dissent.review(ORDERED).items.label.dtype == ORDERED.label.dtype
    assert dissent.agreement(ORDERED, resamples=0).items.top.dtype == ORDERED.label.dtype
    fit = dissent.DawidSkene().fit(TYPED["polars Enum"])
    assert pl.DataFrame(fit.labels_)["agg_label"].dtype == pl.Enum(ORDER)
    assert pl.DataFrame(fit.result_)["label"].dtype == pl.Enum(ORDER)
    assert pl.DataFrame(fit.result_).columns[3:] == [f"p:{c}" for c in ORDER]
    assert pl.DataFrame(dissent.review(TYPED["polars Enum"]).items)["best"].dtype == pl.Enum(ORDER)
    arrow = pa.table(dissent.DawidSkene().fit(TYPED["Arrow of an ordered Categorical"]).labels_)["agg_label"]
    assert pa.types.is_dictionary(arrow.type) and arrow.type.ordered
    assert arrow.chunk(0).dictionary.to_pylist() == ORDER and arrow.to_pylist() == fit.labels_.values.tolist()


def test_every_method_keeps_the_order():
    for cls in dissent.aggregation.__all__:
        if cls not in ("Crowdlab", "GoldMajorityVote", "KOS"):
            fit = getattr(dissent, cls)().fit(ORDERED)
            assert fit.classes_.tolist() == ORDER and fit.labels_.dtype == ORDERED.label.dtype
    fit = dissent.Calibrated().fit(ORDERED)
    assert fit.labels_.dtype == ORDERED.label.dtype and fit.probas_.columns.tolist() == ORDER


def test_integer_categories_stay_integers():
    table = pd.DataFrame({"task": [1, 1, 2], "worker": ["a", "b", "a"], "label": pd.Categorical([3, 1, 1], [3, 2, 1], ordered=True)})
    fit = dissent.MajorityVote().fit(table)
    assert fit.classes_.tolist() == [3, 2, 1] and fit.classes_.dtype.kind == "i"
    assert fit.labels_.tolist() == [3, 1] and fit.labels_.dtype == table.label.dtype
    fit = dissent.MajorityVote().fit(pa.Table.from_pandas(table))
    back = pa.table(fit.labels_)["agg_label"]
    assert back.to_pylist() == [3, 1] and pa.types.is_integer(back.type.value_type)


def test_missing_labels_of_a_categorical_are_errors_unless_na_says_otherwise():
    for categories in (["b", "a"], [2, 1]):
        labels = pd.Categorical([categories[0], None, categories[1]], categories)
        table = {"task": [1, 1, 2], "worker": ["a", "b", "a"], "label": labels}
        with pytest.raises(dissent.DataError, match="row 1: no label"):
            dissent.Votes(table)
        votes = dissent.Votes(table, na=[None])
        assert len(votes) == 2 and votes.classes.tolist() == categories and votes.notes["na"] == 1


def test_intervals_of_pandas_cut_are_classes_in_order():
    values = pd.Series([1.0, 9.0, 5.0, 2.0, 8.0, 6.0])
    table = pd.DataFrame({"task": [1, 1, 2, 2, 3, 3], "worker": list("ababab"), "label": pd.cut(values, [0, 3, 7, 20])})
    fit = dissent.MajorityVote().fit(table)
    assert fit.classes_.tolist() == table.label.cat.categories.tolist() and fit.labels_.dtype == table.label.dtype


def test_given_classes_win_over_declared_ones():
    votes = dissent.Votes(ORDERED, classes=["often", "rarely", "never"])
    assert votes.classes.tolist() == ["often", "rarely", "never"]
    labels = dissent.MajorityVote().fit(votes).labels_
    assert labels.dtype == pd.CategoricalDtype(["often", "rarely", "never"], ordered=True)
    with pytest.raises(dissent.DataError, match="rarely"):
        dissent.Votes(ORDERED, classes=["often", "never"])
    for given in (ORDERED.label.dtype, ORDERED.label, pl.Enum(ORDER), pl.Series(ORDER, dtype=pl.Enum(ORDER))):
        assert dissent.Votes(FRAME, classes=given).classes.tolist() == ORDER
    with pytest.raises(TypeError, match="list of classes"):
        dissent.Votes(FRAME, classes="never")


def test_na_values_and_empty_categories_are_no_classes():
    table = pd.DataFrame({"task": [1, 1, 2], "worker": ["a", "b", "a"], "label": pd.Categorical(["b", "skip", "a"], ["skip", "b", "a", ""])})
    votes = dissent.Votes(table, na=["skip"])
    assert votes.classes.tolist() == ["b", "a"] and dissent.MajorityVote().fit(votes).labels_.dtype == table.label.dtype


def test_chunks_with_different_ordered_dictionaries_are_an_error():
    kind = pa.dictionary(pa.int32(), pa.string(), ordered=True)
    chunks = [pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array(v), ordered=True) for v in (["a", "b"], ["b", "a"])]
    table = pa.table({"task": [1, 1, 2, 2], "worker": list("xyxy"), "label": pa.chunked_array(chunks, kind)})
    with pytest.raises(dissent.DataError, match="unify_dictionaries"):
        dissent.Votes(table)
    growing = [pa.DictionaryArray.from_arrays(pa.array([0, 0], pa.int32()), pa.array(v), ordered=True) for v in (["b"], ["b", "a"])]
    votes = dissent.Votes(table.set_column(2, "label", pa.chunked_array(growing, kind)))
    assert votes.classes.tolist() == ["b", "a"]


def test_gold_and_predictions_follow_the_declared_order():
    gold = pd.Series(pd.Categorical([ORDER[t % 3] for t in range(40)], ORDER, ordered=True), index=pd.RangeIndex(40, name="task"))
    fit = dissent.DawidSkene().fit(ORDERED)
    found = dissent.evaluate(fit, gold, resamples=0, keep_items=True)
    assert found.classes.tolist() == ORDER and found.absolute_error is not None
    assert found.items.predicted.dtype == ORDERED.label.dtype and found.items.gold.dtype == ORDERED.label.dtype
    shuffled = fit.probas_[["often", "never", "always", "rarely"]]
    again = dissent.evaluate(shuffled, gold, resamples=0)
    assert again.classes.tolist() == ORDER and again.absolute_error == found.absolute_error
    texts = [f"item {t} {ORDER[t % 3]}" for t in range(40)]
    model = dissent.SoftClassifier(n_epochs=1).fit(pd.Series(texts), gold)
    assert model.classes_.tolist() == ORDER and model.predict(pd.Series(texts)).dtype == gold.dtype


def test_groups_keep_the_declared_classes():
    sides = dissent.Groups({f"w{w}": "ab"[w > 2] for w in range(5)}, min_group=2)
    parts = dissent.group_votes(ORDERED, sides)
    assert all(v.classes.tolist() == ORDER and v.ordered for v in parts.values())
    assert dissent.group_agreement(ORDERED, sides, resamples=0, permutations=0).divided.label_a.dtype == ORDERED.label.dtype


@pytest.mark.parametrize("how", ["parquet", "feather"])
def test_files_of_arrow_keep_the_declared_order(tmp_path, how):
    import pyarrow.feather
    import pyarrow.parquet

    plain = pa.Table.from_pandas(ORDERED).replace_schema_metadata(None)  # as R writes an ordered factor
    path = tmp_path / f"votes.{how}"
    (pyarrow.parquet.write_table if how == "parquet" else pyarrow.feather.write_feather)(plain, path)
    read = (pyarrow.parquet.read_table if how == "parquet" else pyarrow.feather.read_table)(path)
    assert dissent.Votes(read).classes.tolist() == ORDER


def test_duckdb_enums_keep_their_order():
    duckdb = pytest.importorskip("duckdb")
    con = duckdb.connect()
    con.execute("create type answer as enum ('never', 'rarely', 'often', 'always')")
    con.register("frame", FRAME)
    found = con.sql("select task, worker, label::answer as label from frame")
    assert dissent.Votes(found).classes.tolist() == ORDER


def test_a_table_that_cannot_be_exported_to_arrow_declares_no_order():
    """pandas exports Arrow data only if pyarrow is installed; a Series without categories is then plain."""
    from dissent import _categories

    class Column:
        def __arrow_c_stream__(self, requested_schema=None):
            raise ImportError("Import pyarrow failed")

    assert _categories.declared_by(Column()) is None
