"""Votes in: tables of any kind into the library's table of votes, and ids back out as what they were.

Ids are texts in the library. A column of integers, numbers or bools goes in as it lies in memory and its ids come back
as integers, numbers or bools; other objects (dates, tuples, mixed columns) are told apart here and go in under their
texts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._shapes import SHAPED, shaped

ProgressLike = bool | Callable[[str, float], object] | None
_ROLES = ("task", "worker", "label")


def _pandas() -> Any:
    """pandas when somebody has imported it; it is never imported for its own sake."""
    return sys.modules.get("pandas")


def is_pandas(data: object) -> bool:
    pd = _pandas()
    return pd is not None and isinstance(data, (pd.DataFrame, pd.Series))


def threads_of(n_jobs: int | None) -> int:
    """scikit-learn's n_jobs as a number of threads; None and -1 are all processors, for no result depends on it."""
    if n_jobs is None or n_jobs == -1:
        return 0
    if n_jobs < -1:
        return max(1, (os.cpu_count() or 1) + 1 + n_jobs)
    if n_jobs == 0:
        raise _core.OptionError("n_jobs is a number of threads, or -1 for all processors")
    return int(n_jobs)


class _Bar:
    """Progress on one line of standard error; tqdm's bar, which notebooks draw, where tqdm is there."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._what = ""

    def __call__(self, what: str, done: float) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            sys.stderr.write(f"\r{what} {100 * done:3.0f} %" + ("\n" if done >= 1 else ""))
            sys.stderr.flush()
            return
        if self._bar is None or what != self._what:
            self.close()
            self._what = what
            self._bar = tqdm(
                total=100, desc=what, bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}", leave=False
            )
        self._bar.n = round(100 * min(done, 1.0))
        self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def progress_of(progress: ProgressLike) -> Callable[[str, float], object] | None:
    """What is called with a text and a number while the library works."""
    if progress is True:
        return _Bar()
    return progress or None


def end_progress(watcher: object) -> None:
    """Takes a bar off the screen."""
    if isinstance(watcher, _Bar):
        watcher.close()


class Axis:
    """What the ids of one column were before they became texts."""

    def __init__(self, kind: str, dtype: Any = None, originals: dict[str, Any] | None = None) -> None:
        self.kind = kind  # "text", "int", "float", "bool" or "object"
        self.dtype = dtype  # NumPy's or pandas', when the column had one
        self.originals = originals  # by text, for "object"

    def decode(self, core: _core.Votes, role: str) -> np.ndarray:
        """All ids of a role as an array of what they were."""
        if self.kind == "int":
            numbers = core.integers(role)
            if numbers is None:  # beyond 64 bits with a sign
                return np.array([int(x) for x in core.names(role)], dtype=np.uint64)
            array = np.asarray(numbers)
            return array if self.dtype is None else array.astype(self.dtype, copy=False)
        names = core.names(role)
        if self.kind == "float":
            return np.array([float(x) for x in names], dtype=self.dtype or float)
        if self.kind == "bool":
            return np.array([x == "true" for x in names], dtype=bool)
        array = np.empty(len(names), dtype=object)
        array[:] = names if self.originals is None else [self.originals[x] for x in names]
        return array

    def encode(self, value: Any) -> str:
        """The text of an id."""
        if self.originals is not None:
            for text, original in self.originals.items():
                if original == value and type(original) is type(value):
                    return text
            return str(value)
        if self.kind == "bool":
            return "true" if value else "false"
        if self.kind == "float":
            value = float(value)
            return repr(int(value)) if value.is_integer() else repr(value)
        return str(value)


def _texts_of(values: Sequence[Any]) -> list[str]:
    """Different texts for different objects."""
    texts = [str(v) for v in values]
    return texts if len(set(texts)) == len(texts) and all(texts) else [f"{type(v).__name__} {v!r}" for v in values]


def _sorted(values: list[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda v: (type(v).__name__, str(v)))


def _is_missing(value: Any) -> bool:
    return value is None or value != value or type(value).__name__ in ("NAType", "NaTType")


def _object_column(values: Iterable[Any]) -> tuple[_core.Column, Axis]:
    """Objects of any kind that can be told apart by ==, None and NaN being nothing at all."""
    values = list(values)
    try:
        return _core.column(values), Axis("text")
    except TypeError:
        pass
    number: dict[Any, int] = {}
    codes = np.empty(len(values), dtype=np.int64)
    for i, value in enumerate(values):
        if hasattr(value, "item") and not isinstance(value, (str, bytes)):
            value = value.item()  # a NumPy scalar
        missing = _is_missing(value)
        codes[i] = -1 if missing else number.setdefault((type(value) is bool, value), len(number))
    found = [value for _, value in number]
    if found and all(type(v) is int and -(2**63) <= v < 2**63 for v in found) and codes.min() >= 0:
        return _core.column(np.array(found, dtype=np.int64)[codes]), Axis("int")
    order = _sorted(found)
    place = {id(v): k for k, v in enumerate(order)}
    texts = _texts_of(order)
    moved = np.array([place[id(v)] for v in found] + [len(order)], dtype=np.int64)
    column = _core.dictionary_column(moved[codes], _core.column([*texts, None]))
    return column, Axis("object", originals=dict(zip(texts, order)))


def _array_column(array: np.ndarray) -> tuple[_core.Column, Axis]:
    if array.ndim != 1:
        raise TypeError(f"a column of ids has one dimension, not {array.ndim}")
    if array.dtype.kind in "iub" and array.dtype.isnative:
        return _core.column(np.ascontiguousarray(array)), Axis(
            "bool" if array.dtype.kind == "b" else "int", array.dtype
        )
    if array.dtype in (np.float32, np.float64) and array.dtype.isnative:
        return _core.column(np.ascontiguousarray(array)), Axis("float", array.dtype)
    return _object_column(array.tolist())


def _pandas_column(series: Any) -> tuple[_core.Column, Axis]:
    pd = _pandas()
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        values, axis = _pandas_column(series.cat.categories.to_series())
        codes = series.cat.codes.to_numpy()
        if axis.kind == "text" or axis.kind == "object":
            texts = list(axis.originals) if axis.originals is not None else list(series.cat.categories)
            values = _core.column([*texts, None])
            codes = np.where(codes < 0, len(texts), codes)
        return _core.dictionary_column(np.ascontiguousarray(codes), values), Axis(axis.kind, None, axis.originals)
    if isinstance(dtype, np.dtype) and dtype.kind in "iubf":
        return _array_column(series.to_numpy())
    if isinstance(dtype, pd.StringDtype) or type(dtype).__name__ == "ArrowDtype":
        held = getattr(series.array, "_pa_array", None)  # Arrow memory: nothing is copied
        if held is not None:
            try:
                column = _core.column(held)
                return column, Axis(column.kind, dtype if column.kind == "text" else None)
            except TypeError:
                return _object_column(series.tolist())
        return _core.column([None if _is_missing(v) else v for v in series.tolist()]), Axis("text", dtype)
    column, axis = _object_column(series.tolist())
    axis.dtype = dtype if axis.kind == "text" else None
    return column, axis


def make_column(source: Any) -> tuple[_core.Column, Axis]:
    """A column of anything: Arrow data, a NumPy array, a pandas Series, a list."""
    if is_pandas(source):
        return _pandas_column(source)
    if isinstance(source, np.ndarray):
        return _array_column(source)
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__"):
        column = _core.column(source)
        return column, Axis(column.kind)
    if isinstance(source, (str, bytes)):
        raise TypeError("a column of ids is a list or an array, not one text")
    if isinstance(source, Iterable):
        return _object_column(source)
    return _array_column(np.asarray(source))


class ColumnError(_core.DataError, KeyError):
    """A table lacks a column."""

    def __str__(self) -> str:
        return str(self.args[0])


def _names_of(role: str, given: str | Sequence[str] | None) -> tuple[str, ...]:
    if given is None:
        return ("worker", "performer") if role == "worker" else (role,)
    return (given,) if isinstance(given, str) else tuple(given)


def _pick(columns: Iterable[str], role: str, names: tuple[str, ...]) -> str:
    columns = list(columns)
    for name in names:
        if name in columns:
            return name
    raise ColumnError(f"no column {' or '.join(map(repr, names))} for the {role} of a vote; there are {columns}")


def records(data: Any) -> dict[str, list[Any]] | None:
    """Columns of a list of dicts, one per row; None for something else. What a row does not have is missing there."""
    if not isinstance(data, (list, tuple)) or not data or not isinstance(data[0], Mapping):
        return None
    columns: dict[str, list[Any]] = {}
    for i, row in enumerate(data):
        if not isinstance(row, Mapping):
            raise _core.DataError(f"row {i}: a dict, as the first row is, not {type(row).__name__}")
        for name in row:
            columns.setdefault(name, [None] * len(data))
    for name, values in columns.items():
        values[:] = [row.get(name) for row in data]
    return columns


def _columns_of(data: Any, names: tuple[tuple[str, ...], ...]) -> list[tuple[_core.Column, Axis]]:
    """The three columns of a table of any kind."""
    if is_pandas(data):
        return [_pandas_column(data[_pick(data.columns, role, n)]) for role, n in zip(_ROLES, names)]
    if hasattr(data, "with_format") and hasattr(data, "features"):  # a Hugging Face dataset, in the order of its rows
        data = data.with_format("arrow")[:]
    if not hasattr(data, "__arrow_c_stream__") and hasattr(data, "fetch_arrow_table"):  # older DuckDB
        data = data.fetch_arrow_table()
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        try:
            columns = _core.columns(data, names)
        except KeyError as e:
            raise ColumnError(str(e.args[0])) from None
        return [(c, Axis(c.kind)) for c in columns]
    if isinstance(data, Mapping):
        return [make_column(data[_pick(data, role, n)]) for role, n in zip(_ROLES, names)]
    if isinstance(data, np.ndarray) and data.dtype.names:
        return [make_column(data[_pick(data.dtype.names, role, n)]) for role, n in zip(_ROLES, names)]
    if isinstance(data, np.ndarray):
        if data.ndim != 2 or data.shape[1] != 3:
            raise _core.DataError(f"an array of votes has three columns, not the shape {data.shape}")
        return [make_column(data[:, k]) for k in range(3)]
    if isinstance(data, tuple):
        if len(data) != 3:
            raise _core.DataError(f"columns of votes are tasks, workers and labels; here are {len(data)}")
        return [make_column(c) for c in data]
    if isinstance(data, (str, bytes, os.PathLike)):
        raise TypeError("this is a path; dissent.read_votes() reads files")
    if isinstance(data, Iterable):
        data = list(data)
        found = records(data)
        if found is not None:
            return _columns_of(found, names)
        rows = [tuple(row) for row in data]
        for i, row in enumerate(rows):
            if len(row) != 3:
                raise _core.DataError(f"row {i}: a vote is (task, worker, label), not {len(row)} values")
        return [make_column([row[k] for row in rows]) for k in range(3)]
    raise TypeError(f"{type(data).__name__} holds no votes: give a table with columns task, worker and label")


class Votes:
    """Who said what about which item: made once, read by any number of methods.

    Parameters
    ----------
    data : table
        polars, pyarrow, DuckDB, Hugging Face datasets and everything else that speaks Arrow; pandas; a dict of columns;
        a tuple (tasks, workers, labels); a list of (task, worker, label), or of dicts with these keys.
    task, worker, label : str
        Names of the columns. worker may also be called performer.
    classes : list, optional
        All classes in their order; else those found, integers by value, texts by bytes. A label that is not among them
        is an error.
    na : list, optional
        Labels that mean "no vote"; None among them stands for missing labels.
    duplicates : {"error", "first", "last", "all"}
        What to do when a worker voted on a task twice.
    lenient : bool
        Leave out rows that are no votes (no task, no worker, no label), and count them.
    min_votes : int
        Leave out tasks with fewer votes, and count them.
    scale : str
        What labels are (docs/kinds.md): "nominal", "ordinal", "multi-label" (a label is a list), "numeric",
        "pairwise", "spans"; ``dissent.scales()`` lists them.
    a, b : str
        Pairwise: names of the columns of what is compared; label is the winner: "a", "b", "tie", or one of the two.
    start, end : str
        Spans: names of the columns of the first place and the first one behind it.

    >>> votes = Votes([("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "no")])
    >>> votes
    Votes(2 tasks, 2 workers, 2 classes, 3 votes)
    >>> votes.classes
    array(['no', 'yes'], dtype=object)
    """

    def __init__(
        self,
        data: Any,
        *,
        task: str | None = None,
        worker: str | None = None,
        label: str | None = None,
        classes: Sequence[Any] | None = None,
        na: Sequence[Any] | None = None,
        duplicates: str = "error",
        lenient: bool = False,
        min_votes: int = 0,
        scale: str = "nominal",
        a: str | None = None,
        b: str | None = None,
        start: str | None = None,
        end: str | None = None,
        n_jobs: int | None = None,
        progress: ProgressLike = None,
    ) -> None:
        if scale in SHAPED:
            data, duplicates = (
                shaped(
                    data,
                    scale,
                    {"task": task, "worker": worker, "label": label, "a": a, "b": b, "start": start, "end": end},
                ),
                "all",
            )
            task = worker = label = None
        names = tuple(_names_of(role, given) for role, given in zip(_ROLES, (task, worker, label)))
        columns = _columns_of(data, names)
        self.axes: dict[str, Axis] = {role: axis for role, (_, axis) in zip(_ROLES, columns)}
        labels = self.axes["label"]
        declared = None
        if classes is not None:
            declared = [labels.encode(c) for c in classes]
        elif labels.originals is not None and scale == "nominal":
            declared = list(labels.originals)
        self.core: _core.Votes = _core.votes_from_columns(
            *(column for column, _ in columns),
            classes=declared,
            na=["" if _is_missing(x) else labels.encode(x) for x in na or ()],
            duplicates=duplicates,
            lenient=lenient,
            min_votes=min_votes,
            scale=scale,
            threads=threads_of(n_jobs),
            progress=progress_of(progress),
        )
        self.pandas: bool = is_pandas(data)
        self._notes: dict[str, Any] | None = None  # of a table that was pickled
        self._decoded: dict[str, np.ndarray] = {}

    @classmethod
    def _wrap(cls, core: _core.Votes, pandas: bool = False) -> Votes:
        votes = cls.__new__(cls)
        votes.core = core
        votes.axes = {role: Axis("text") for role in _ROLES}
        votes.pandas = pandas
        votes._notes = None
        votes._decoded = {}
        return votes

    @classmethod
    def from_counts(
        cls, counts: Any, tasks: Sequence[Any] | None = None, classes: Sequence[Any] | None = None
    ) -> Votes:
        """Counts of votes, one row per task, one column per class; workers are not known.

        >>> Votes.from_counts([[3, 1], [0, 4]], classes=["no", "yes"])
        Votes(2 tasks, 0 workers, 2 classes, 2 votes)
        """
        pandas = is_pandas(counts)
        if pandas:
            tasks = list(counts.index) if tasks is None else tasks
            classes = list(counts.columns) if classes is None else classes
        array = np.ascontiguousarray(counts, dtype=np.float64)
        if array.ndim != 2:
            raise _core.DataError(f"counts have one row per task and one column per class, not {array.ndim} dimensions")
        texts = [None if x is None else _texts_of(list(x)) for x in (tasks, classes)]
        core = _core.votes_from_counts(array, array.shape[0], array.shape[1], tasks=texts[0], classes=texts[1])
        votes = cls._wrap(core, pandas)
        for role, given, text in (("task", tasks, texts[0]), ("label", classes, texts[1])):
            if given is not None and text is not None:
                votes.axes[role] = Axis("object", originals=dict(zip(text, given)))
            else:
                votes.axes[role] = Axis("int")
        return votes

    def _ids(self, role: str) -> np.ndarray:
        if role not in self._decoded:
            array = self.axes[role].decode(self.core, role)
            array.flags.writeable = False
            self._decoded[role] = array
        return self._decoded[role]

    @property
    def tasks(self) -> np.ndarray:
        """Task ids in order of first appearance."""
        return self._ids("task")

    @property
    def workers(self) -> np.ndarray:
        """Worker ids in order of first appearance."""
        return self._ids("worker")

    @property
    def classes(self) -> np.ndarray:
        """Classes in their order."""
        return self._ids("label")

    @property
    def scale(self) -> str:
        """What labels are: "nominal", "ordinal", ..."""
        return self.core.scale

    @property
    def notes(self) -> dict[str, int | bool]:
        """What was let pass: rows, na, duplicates, bad_rows, items_left_out, ties, ..."""
        return self.core.notes() if self._notes is None else self._notes

    def counts(self) -> np.ndarray:
        """How many votes each task has for each class, (tasks, classes)."""
        arrays = self.core.arrays()
        n_items, n_classes = self.core.n_items, self.core.n_classes
        if not isinstance(arrays, tuple):
            return np.array(arrays)
        item, _, label = self.rows()
        flat = np.bincount(item * n_classes + label, minlength=n_items * n_classes)
        return flat.reshape(n_items, n_classes).astype(np.float64)

    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The votes as three arrays of indices: task, worker, class."""
        arrays = self.core.arrays()
        if not isinstance(arrays, tuple):
            raise _core.DataError("counts have no single votes")
        start, worker, label = (np.asarray(a).astype(np.int64) for a in arrays)
        item = np.repeat(np.arange(self.core.n_items, dtype=np.int64), start[1:] - start[:-1])
        return item, worker, label

    def __len__(self) -> int:
        return self.core.n_votes

    def __repr__(self) -> str:
        c = self.core
        return f"Votes({c.n_items} tasks, {c.n_workers} workers, {c.n_classes} classes, {c.n_votes} votes)"

    def __getstate__(self) -> dict[str, Any]:
        """Indices and names: the table that comes back is the same to the last index."""
        arrays = self.core.arrays()
        votes: Any = np.array(arrays) if not isinstance(arrays, tuple) else tuple(np.array(a) for a in arrays)
        names = {role: self.core.names(role) for role in _ROLES}
        return {
            "votes": votes,
            "names": names,
            "axes": self.axes,
            "pandas": self.pandas,
            "notes": self.notes,
            "scale": self.scale,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        names = state["names"]
        if isinstance(state["votes"], tuple):
            start, worker, label = state["votes"]
            sizes = np.diff(start.astype(np.int64))
            task = np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)
            self.core = _core.votes_from_arrays(
                task,
                worker,
                label.astype(np.uint16),
                names["task"],
                names["worker"],
                names["label"],
                state.get("scale", "nominal"),
            )
        else:
            counts = np.ascontiguousarray(state["votes"])
            self.core = _core.votes_from_counts(counts, *counts.shape, tasks=names["task"], classes=names["label"])
        self.axes, self.pandas, self._notes, self._decoded = state["axes"], state["pandas"], state["notes"], {}


def read_votes(
    *paths: str | os.PathLike[str],
    input: str | None = None,
    format: str | None = None,
    preset: str | None = None,
    task: str | None = None,
    worker: str | None = None,
    label: str | None = None,
    time: str | None = None,
    records: str | None = None,
    keep: Mapping[str, str] | None = None,
    drop: Mapping[str, str] | None = None,
    several: str = "error",
    delimiter: str | None = None,
    header: bool = True,
    classes: Sequence[str] | None = None,
    na: Sequence[str] | None = None,
    duplicates: str = "error",
    lenient: bool = False,
    renormalise: bool = False,
    min_votes: int = 0,
    scale: str = "nominal",
    a: str | None = None,
    b: str | None = None,
    start: str | None = None,
    end: str | None = None,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> Votes:
    """Votes of one or more files together: CSV, TSV, JSON, JSONL, wide tables, npy; gzip and zstd too.

    Parameters
    ----------
    *paths : path
        The files.
    input : {"votes", "counts", "mace", "soft", "wide"}
        What a row is.
    format : {"csv", "tsv", "json", "jsonl", "npy"}
        Else by the name of the file.
    preset : str
        A tool whose export it is: "label-studio", "prodigy", "doccano", ...; ``dissent.presets()`` lists them.
    task, worker, label : str
        Columns or paths (docs/mapper.md); with a preset, label names the question.
    time : str
        Column or path of the time of votes: duplicates "first" and "last" go by it.
    records : str
        JSON: keys that lead to the list of records.
    keep, drop : dict
        Paths and values: what to read alone, what to leave out.
    several : {"error", "all", "join"}
        Several labels in one answer: each a vote, or one class "a+b".
    delimiter : str
        The character that separates columns.
    header : bool
        Whether tables have one.

    The others are those of :class:`Votes`.
    """
    core = _core.votes_from_files(
        [os.fspath(p) for p in paths],
        input=input,
        format=format,
        preset=preset,
        task=task,
        worker=worker,
        label=label,
        time=time,
        records=records,
        keep=[text for rule in (keep or {}).items() for text in rule],
        drop=[text for rule in (drop or {}).items() for text in rule],
        several=several,
        delimiter=delimiter,
        header=header,
        classes=classes,
        na=na,
        duplicates=duplicates,
        lenient=lenient,
        renormalise=renormalise,
        min_votes=min_votes,
        scale=scale,
        pair_a=a,
        pair_b=b,
        span_start=start,
        span_end=end,
        threads=threads_of(n_jobs),
        progress=progress_of(progress),
    )
    return Votes._wrap(core)


def presets() -> dict[str, str]:
    """The tools whose exports are read, and what each preset reads.

    >>> presets()["mace"]
    'MACE: wide CSV without header, a row per item, a column per worker'
    """
    return dict(_core.presets())


def scales() -> dict[str, str]:
    """The kinds of votes: names for ``scale``, and what each is.

    >>> scales()["nominal"]
    'classes without an order'
    """
    return {name: summary for name, summary, _ in _core.scales()}


def as_votes(data: Any, n_jobs: int | None = None) -> Votes:
    """Votes as they are, anything else made into them."""
    return data if isinstance(data, Votes) else Votes(data, n_jobs=n_jobs)
