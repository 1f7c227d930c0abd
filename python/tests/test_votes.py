"""Votes in: every kind of table gives the same votes, ids come back as what they were, odd rows are named."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pytest

import dissent
from dissent import DataError, DawidSkene, OptionError, SoftLabels, Values, Votes


def dump(votes: Votes) -> tuple:
    item, worker, label = votes.rows()
    names = [votes.tasks.tolist(), votes.workers.tolist(), votes.classes.tolist()]
    return names, sorted(zip(item.tolist(), worker.tolist(), label.tolist()))


@pytest.fixture()
def expected(columns):
    votes = Votes(columns)
    assert votes.tasks.tolist() == list(dict.fromkeys(columns["task"]))
    assert votes.workers.tolist() == list(dict.fromkeys(columns["worker"]))
    assert votes.classes.tolist() == [0, 1, 2] and votes.core.n_votes == len(votes) == 300
    return dump(votes)


def same(table, expected):
    assert dump(Votes(table)) == expected
    assert dump(Votes(table, n_jobs=1)) == expected


def test_plain_python(columns, expected):
    rows = list(zip(*columns.values()))
    same(rows, expected)
    same((columns["task"], columns["worker"], columns["label"]), expected)
    same({"label": columns["label"], "performer": columns["worker"], "task": columns["task"]}, expected)
    same({k: tuple(v) for k, v in columns.items()}, expected)
    assert dump(Votes(r for r in rows)) == expected


def test_numpy(columns, expected):
    same({k: np.array(v) for k, v in columns.items()}, expected)
    same({k: np.array(v, dtype=object) for k, v in columns.items()}, expected)
    for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, ">i4"):
        votes = Votes({**columns, "label": np.array(columns["label"], dtype=dtype)})
        assert dump(votes) == expected
    strided = np.repeat(np.array(columns["label"]), 2)[::2]
    assert not strided.flags.c_contiguous
    same({**columns, "label": strided}, expected)
    records = np.array(list(zip(*columns.values())), dtype=[("task", "U20"), ("worker", "U20"), ("label", "i4")])
    same(records, expected)
    texts = np.array([columns["task"], columns["worker"], columns["label"]]).T
    assert Votes(texts).classes.tolist() == ["0", "1", "2"]


def test_pandas(columns, expected):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(columns)
    same(frame, expected)
    same(frame.astype(object), expected)
    same(frame.astype({"task": "category", "worker": "category", "label": "category"}), expected)
    same(frame.astype({"label": "Int64"}), expected)
    same(frame.astype({"label": "int8"}), expected)
    same(frame.convert_dtypes(), expected)
    same(pd.concat([frame.iloc[:100], frame.iloc[100:]]), expected)
    same(frame.rename(columns={"worker": "performer"}), expected)
    shuffled = frame.iloc[::-1]
    assert set(Votes(shuffled).tasks) == set(Votes(frame).tasks)
    if pytest.importorskip("pyarrow"):
        same(pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"), expected)


def test_arrow(columns, expected):
    pa = pytest.importorskip("pyarrow")
    table = pa.table(columns)
    same(table, expected)
    same(table.to_batches()[0], expected)
    same(pa.concat_tables([table.slice(0, 7), table.slice(7, 0), table.slice(7)]), expected)
    for text in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.uint32(), pa.large_string())):
        cast = table.select(["task", "worker"])
        cast = pa.table([c.cast(pa.string()).dictionary_encode().cast(text) if pa.types.is_dictionary(text) else c.cast(text) for c in cast.columns], ["task", "worker"])
        same(cast.append_column("label", table["label"]), expected)
        same(cast.append_column("label", table["label"]).slice(0), expected)
    for number in (pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.uint64(), pa.float32(), pa.float64()):
        votes = Votes(table.set_column(2, "label", table["label"].cast(number)))
        assert dump(votes) == expected
    part = table.slice(13, 200)
    assert dump(Votes(part)) == dump(Votes({k: v[13:213] for k, v in columns.items()}))
    same({k: table[k] for k in table.column_names}, expected)
    same(tuple(table.columns), expected)


def test_a_stream_is_used_once(columns, expected):
    pa = pytest.importorskip("pyarrow")
    table = pa.table(columns)
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=11))
    assert dump(Votes(reader)) == expected
    with pytest.raises(Exception):
        Votes(reader)

    class Used:
        def __init__(self):
            self.capsule = table.__arrow_c_stream__()

        def __arrow_c_stream__(self, requested_schema=None):
            return self.capsule

    used = Used()
    assert dump(Votes(used)) == expected
    with pytest.raises(ValueError, match="used before"):
        Votes(used)


def test_polars(columns, expected):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(columns)
    same(frame, expected)
    same(frame.with_columns(pl.col("task").cast(pl.Categorical), pl.col("worker").cast(pl.Categorical)), expected)
    same(frame.with_columns(pl.col("worker").cast(pl.Enum(sorted(set(columns["worker"]))))), expected)
    same(pl.concat([frame[:50], frame[50:]], rechunk=False), expected)
    same({"task": frame["task"], "worker": frame["worker"], "label": frame["label"]}, expected)
    result = DawidSkene().fit(frame)
    back = pl.DataFrame(result.probas_)
    assert back.columns == ["task", "label", "entropy", "p:0", "p:1", "p:2"] and back.height == 60
    assert np.array_equal(back.select("p:0", "p:1", "p:2").to_numpy(), result.probas_.p)


def test_duckdb(columns, expected):
    duckdb = pytest.importorskip("duckdb")
    pa = pytest.importorskip("pyarrow")
    table = pa.table(columns)
    relation = duckdb.from_arrow(table) if hasattr(duckdb, "from_arrow") else duckdb.sql("select * from table")
    same(relation, expected)


def test_ids_come_back_as_they_were():
    day = [datetime.date(2020, 1, d) for d in (1, 2, 1, 2)]
    money = [decimal.Decimal(x) for x in ("1.5", "1.5", "2", "2")]
    votes = Votes({"task": day, "worker": money, "label": [True, False, False, True]})
    assert votes.tasks.tolist() == [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)]
    assert votes.workers.tolist() == [decimal.Decimal("1.5"), decimal.Decimal("2")]
    assert votes.classes.tolist() == [False, True]
    votes = Votes({"task": [1, "1", 1, "1"], "worker": [(0, 1), (0, 1), (2,), (2,)], "label": [2.5, 10.0, 2.5, 10.0]})
    assert votes.tasks.tolist() == [1, "1"] and votes.workers.tolist() == [(0, 1), (2,)]
    assert votes.classes.tolist() == [2.5, 10.0]
    votes = Votes({"task": np.array([2**64 - 1, 5], dtype=np.uint64), "worker": [1, 1], "label": ["a", "b"]})
    assert votes.tasks.tolist() == [2**64 - 1, 5]
    huge = Votes({"task": [2**100, -(2**70)], "worker": ["x", "y"], "label": [1, 0]})
    assert huge.tasks.tolist() == [2**100, -(2**70)]


def test_odd_rows():
    good = {"task": ["a", "b"], "worker": ["x", "y"], "label": ["p", "q"]}
    for column in good:
        bad = {**good, column: [good[column][0], None]}
        with pytest.raises(DataError, match=f"row 1: no {column}"):
            Votes(bad)
        assert len(Votes(bad, lenient=True)) == 1
        nan = {**good, column: [good[column][0], float("nan")]}
        with pytest.raises(DataError, match=f"row 1: no {column}"):
            Votes(nan)
    votes = Votes({**good, "label": ["p", None]}, na=[None])
    assert votes.notes["na"] == 1 and len(votes) == 1
    assert Votes({**good, "label": ["p", "?"]}, na=["?"]).notes["na"] == 1
    twice = {"task": ["a", "a"], "worker": ["x", "x"], "label": ["p", "q"]}
    with pytest.raises(DataError, match='row 1: worker "x" has already voted on task "a"'):
        Votes(twice)
    for rule, n in (("first", 1), ("last", 1), ("all", 2)):
        assert len(Votes(twice, duplicates=rule)) == n
    with pytest.raises(ValueError, match="duplicates"):
        Votes(twice, duplicates="maybe")
    assert Votes(good, classes=["q", "p", "r"]).classes.tolist() == ["q", "p", "r"]
    with pytest.raises(DataError, match="declared"):
        Votes(good, classes=["q"])
    with pytest.raises(DataError, match="no votes"):
        Votes({"task": [], "worker": [], "label": []})
    with pytest.raises(DataError, match="the same length"):
        Votes({**good, "label": ["p"]})
    with pytest.raises(DataError, match="no column 'label'"):
        Votes({"task": ["a"], "worker": ["x"]})
    with pytest.raises(DataError, match="NUL"):
        Votes({**good, "task": ["a\0", "b"]})
    with pytest.raises(OptionError):
        Votes(good, n_jobs=0)


@pytest.mark.parametrize("nonsense", [None, 5, "votes.csv", b"x", [1, 2], [(1, 2)], {}, np.zeros((2, 2)), np.float64(3), object()])
def test_nonsense(nonsense):
    with pytest.raises((TypeError, DataError)):
        Votes(nonsense)


def test_files(tmp_path, columns, expected):
    path = tmp_path / "votes.csv"
    path.write_text("task,worker,label\n" + "".join(f"{t},{w},{c}\n" for t, w, c in zip(*columns.values())))
    votes = dissent.read_votes(path)
    assert dump(votes)[1] == expected[1] and votes.classes.tolist() == ["0", "1", "2"]
    with pytest.raises(dissent.FileError, match="nowhere"):
        dissent.read_votes(tmp_path / "nowhere.csv")
    assert issubclass(dissent.FileError, OSError)


def test_counts():
    counts = np.array([[3.0, 1.0], [0.0, 4.0]])
    votes = Votes.from_counts(counts, tasks=["a", "b"], classes=["no", "yes"])
    assert np.array_equal(votes.counts(), counts)
    assert dissent.Standard().fit_predict_proba(votes)["a"] == {"no": 0.75, "yes": 0.25}
    with pytest.raises(DataError, match="needs annotator ids"):
        DawidSkene().fit(votes)
    with pytest.raises(DataError):
        Votes.from_counts([[-1.0, 2.0]])
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(counts, index=["a", "b"], columns=["no", "yes"])
    out = dissent.Softmax().fit_predict_proba(Votes.from_counts(frame))
    assert list(out.index) == ["a", "b"] and list(out.columns) == ["no", "yes"]


def test_results_are_tables(columns):
    model = DawidSkene().fit(columns)
    soft: SoftLabels = model.probas_
    assert np.asarray(soft) is soft.p and np.from_dlpack(soft).shape == (60, 3)
    assert isinstance(model.labels_, Values) and model.labels_["task0"] in (0, 1, 2)
    assert soft.labels.tolist() == list(model.labels_)
    pa = pytest.importorskip("pyarrow")
    table = pa.table(soft)
    assert table.column_names == ["task", "label", "entropy", "p:0", "p:1", "p:2"]
    assert table["task"].to_pylist() == soft.tasks.tolist()
    assert pa.table(model.skills_).column_names == ["worker", "skill"]
    pd = pytest.importorskip("pandas")
    pd.testing.assert_frame_equal(soft.to_pandas(), DawidSkene().fit_predict_proba(pd.DataFrame(columns)), check_index_type=False)


def test_messages_of_skipped_rows_name_arguments(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("task,worker,label\na,x,yes\na,y,\n")
    skipped = dissent.read_votes(path, lenient=True).core.skipped()
    assert len(skipped) == 1 and "set na" in skipped[0] and "`" not in skipped[0]
