"""Label tables and gold labels, matched by task and class.

Whatever is compared first comes into one order: rows by task, columns by class, those of the first table. Ids are the
same when they are equal, or when their texts are ("3" in a file, 3 in a DataFrame).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._categories import Categories, declared_by, typed
from ._columns import _is_missing, _sorted, is_pandas, records
from ._results import SoftLabels, Values

_SLACK = 1e-6  # how far from 1 the sum of a row may be
_NOT_CLASSES = ("task", "label", "entropy")


# ---- ids ----


class Ids:
    """Where ids stand: by themselves, else by their texts."""

    def __init__(self, ids: Sequence[Any]) -> None:
        self.ids = list(ids)
        self.place = dict(zip(self.ids, range(len(self.ids))))
        self._texts: dict[str, int] | None = None

    def are_numbers_of_rows(self) -> bool:
        """Whether ids say no more than the order of the rows does: 0, 1, 2, ... as pandas has them where nobody gave
        any."""
        return self.ids == list(range(len(self.ids)))

    def twice(self) -> Any:
        """An id that is there twice, in a list; None when all differ."""
        if len(self.place) == len(self.ids):
            return None
        seen = set()
        for k in self.ids:
            if k in seen:
                return [k]
            seen.add(k)
        return None

    def find(self, key: Any) -> int:
        """-1: not there."""
        i = self.place.get(key)
        if i is not None:
            return i
        if self._texts is None:
            self._texts = {id_text(k): i for k, i in self.place.items()}
        return self._texts.get(id_text(key), -1)

    def find_all(self, keys: Sequence[Any]) -> np.ndarray:
        """Where each of the keys stands, -1: nowhere."""
        if keys == self.ids:
            return np.arange(len(self.ids))
        try:
            return np.fromiter(map(self.place.__getitem__, keys), dtype=np.int64, count=len(keys))
        except KeyError:
            return np.fromiter(map(self.find, keys), dtype=np.int64, count=len(keys))


def id_text(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def id_texts(ids: Iterable[Any]) -> list[str]:
    """Ids as the library's texts, different ones for different ids."""
    ids = list(ids)
    texts = [id_text(k) for k in ids]
    if len(set(texts)) != len(texts) or not all(texts):
        texts = [f"{type(k).__name__} {k!r}" for k in ids]
    return texts


def _list(values: Any) -> list[Any]:
    return (
        values.tolist()
        if hasattr(values, "tolist")
        else values.to_list()
        if hasattr(values, "to_list")
        else list(values)
    )


# ---- tables of labels ----


class LabelTable:
    """A distribution per row; tasks and classes may be unknown, and are then the row's and the column's number."""

    def __init__(
        self,
        p: Any,
        tasks: Any = None,
        classes: Any = None,
        pandas: bool = False,
        what: str = "labels",
        categories: Categories | None = None,
    ) -> None:
        self.p = np.ascontiguousarray(p, dtype=np.float64)
        if self.p.ndim != 2:
            raise _core.DataError(f"{what}: a row per task and a column per class, not {self.p.ndim} dimensions")
        self.tasks = None if tasks is None else Ids(_list(tasks))
        self.classes = None if classes is None else Ids(_list(classes))
        self.pandas = pandas
        self.categories = categories
        self.what = what
        self._check()

    def _check(self) -> None:
        n, k = self.p.shape
        for ids, m, name in ((self.tasks, n, "task"), (self.classes, k, "class")):
            if ids is None:
                continue
            if len(ids.ids) != m:
                raise _core.DataError(
                    f"{self.what}: {len(ids.ids)} names for {m} {name}{'e' if name == 'class' else ''}s"
                )
            twice = ids.twice()
            if twice:
                raise _core.DataError(f"{self.what}: the {name} {twice[0]!r} is there twice")
        if n == 0 or k == 0:
            raise _core.DataError(f"{self.what}: {n} tasks of {k} classes are no labels")
        bad = ~np.isfinite(self.p) | (self.p < 0)
        if bad.any():
            i = int(np.argmax(bad.any(axis=1)))
            raise _core.DataError(
                f"{self.what}: task {self.task(i)!r} has a probability of {self.p[i][bad[i]][0]}; it must be 0 or more"
            )
        off = np.abs(self.p.sum(axis=1) - 1) > _SLACK
        if off.any():
            i = int(np.argmax(off))
            raise _core.DataError(
                f"{self.what}: the probabilities of task {self.task(i)!r} sum to {self.p[i].sum():.9g}, not 1; "
                "mend them, or divide by the sum"
            )

    def task(self, i: int) -> Any:
        return i if self.tasks is None else self.tasks.ids[i]


def _columns(data: Any) -> dict[str, Any] | None:
    """Columns of a table of any kind but pandas; None for something that is no table."""
    if not hasattr(data, "columns") and not hasattr(data, "column_names") and hasattr(data, "__arrow_c_stream__"):
        import pyarrow

        data = pyarrow.table(data)
    if not hasattr(data, "column_names") and hasattr(data, "fetch_arrow_table"):  # a DuckDB relation
        data = data.fetch_arrow_table()
    if hasattr(data, "column_names") and callable(getattr(data, "column", None)):  # pyarrow
        return {name: data.column(name).to_pylist() for name in data.column_names}
    if hasattr(data, "columns") and hasattr(data, "__getitem__"):  # polars
        return {name: data[name].to_list() for name in data.columns}
    return None


def _class_columns(names: Iterable[Any]) -> list[tuple[Any, Any]]:
    """(column, class): those called p:CLASS, else all but task, label and entropy."""
    names = list(names)
    marked = [(c, c[2:]) for c in names if isinstance(c, str) and c.startswith("p:")]
    return marked or [(c, c) for c in names if c not in _NOT_CLASSES]


def label_table(data: Any, what: str = "labels") -> LabelTable:
    """A table of distributions of whatever holds one."""
    if isinstance(data, LabelTable):
        return data
    if isinstance(data, (str, os.PathLike)):
        data = read_labels(data)
    pandas = False
    if hasattr(data, "result_") and hasattr(data, "_is_fitted"):  # a fitted estimator
        pandas = data.votes_.pandas
        data = data.result_
    if isinstance(data, SoftLabels):
        return LabelTable(data.p, data.tasks, data.classes, pandas, what, data.categories)
    if is_pandas(data):
        if data.ndim != 2:
            raise TypeError(f"{what}: a DataFrame with a row per task and a column per class, not a Series")
        if "task" in data.columns:
            chosen = _class_columns(data.columns)
            return LabelTable(data[[c for c, _ in chosen]].to_numpy(), data["task"], [k for _, k in chosen], True, what)
        return LabelTable(data.to_numpy(), data.index, data.columns, True, what, declared_by(data.columns))
    if isinstance(data, Mapping) and data and all(isinstance(v, Mapping) for v in data.values()):  # {task: {class: p}}
        classes: dict[Any, None] = {}
        for row in data.values():
            classes.update(dict.fromkeys(row))
        order = _sorted(list(classes))
        return LabelTable([[row.get(c, 0.0) for c in order] for row in data.values()], list(data), order, False, what)
    columns = (
        dict(data)
        if isinstance(data, Mapping)
        else records(data)
        if isinstance(data, (np.ndarray, list, tuple))
        else _columns(data)
    )
    if columns is not None:
        if "task" not in columns:
            raise _core.DataError(f"{what}: no column 'task'; there are {list(columns)}")
        chosen = _class_columns(columns)
        return LabelTable(
            np.column_stack([np.asarray(columns[c], dtype=np.float64) for c, _ in chosen]),
            columns["task"],
            [k for _, k in chosen],
            False,
            what,
        )
    try:
        array = np.asarray(data, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"{what}: {type(data).__name__} holds no distributions: give SoftLabels, a DataFrame (rows tasks, "
            "columns classes) or an array"
        ) from None
    return LabelTable(array, None, None, False, what)


def read_labels(path: str | os.PathLike[str], *, format: str | None = None, renormalise: bool = False) -> SoftLabels:
    """Soft labels of a file: CSV, TSV or JSONL as ``dissent labels`` writes them, or npy with its lists of tasks and
    classes."""
    tasks, classes, p = _core.read_labels(os.fspath(path), format=format, renormalise=renormalise)
    return SoftLabels(tasks, classes, np.asarray(p))


def write_labels(labels: Any, path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Writes soft labels as the command line does: CSV, TSV, JSONL or npy by the file's name, whole or not at all."""
    t = label_table(labels)
    tasks = t.tasks.ids if t.tasks else range(len(t.p))
    classes = t.classes.ids if t.classes else range(t.p.shape[1])
    _core.write_labels(os.fspath(path), id_texts(tasks), id_texts(classes), t.p, format=format)


class Aligned:
    """Tables of labels in one order; their numbers are in ``p``."""

    def __init__(
        self, tables: Sequence[LabelTable], lenient: bool = False, tasks: Any = None, classes: Any = None
    ) -> None:
        self.tables = list(tables)
        first = self.tables[0]
        self.tasks = tasks or next((t.tasks for t in self.tables if t.tasks), None) or Ids(range(len(first.p)))
        self.categories = next((t.categories for t in self.tables if t.categories), None)
        declared = next((t.classes for t in self.tables if t.categories), None)
        self.classes = (
            classes
            or declared
            or next((t.classes for t in self.tables if t.classes), None)
            or Ids(range(first.p.shape[1]))
        )
        self.pandas = any(t.pandas for t in self.tables)
        self.left_out = 0
        self._align(lenient)

    def _rows(self, t: LabelTable, lenient: bool) -> np.ndarray:
        n = len(self.tasks.ids)
        if t.tasks is None:
            if len(t.p) != n:
                raise _core.DataError(f"{t.what}: {len(t.p)} rows without task ids for {n} tasks")
            if not self.tasks.are_numbers_of_rows():
                raise _core.DataError(
                    f"{t.what} has no task ids to match with those of the others ({self.tasks.ids[0]!r}, ...): "
                    "give it as "
                    "SoftLabels(tasks, classes, p) or a DataFrame with tasks as its index, "
                    "or all as arrays in one order"
                )
            return np.arange(n)
        rows = t.tasks.find_all(self.tasks.ids)
        if not lenient and (rows < 0).any():
            missing = self.tasks.ids[int(np.argmax(rows < 0))]
            raise _core.DataError(
                f"{t.what}: nothing about task {missing!r}; add it, or leave out what not all have (lenient=True)"
            )
        if not lenient and len(t.p) > n:
            extra = next(k for k in t.tasks.ids if self.tasks.find(k) < 0)
            raise _core.DataError(
                f"{t.what}: task {extra!r} is nowhere else; leave out what not all have (lenient=True)"
            )
        return rows

    def _align(self, lenient: bool) -> None:
        if lenient:
            more = [c for t in self.tables if t.classes for c in t.classes.ids if self.classes.find(c) < 0]
            if more:
                self.classes = Ids(with_classes(self.classes.ids, list(dict.fromkeys(more))))
        rows = [self._rows(t, lenient) for t in self.tables]
        keep = np.all([r >= 0 for r in rows], axis=0)
        if not keep.all():
            self.left_out = int((~keep).sum())
            if not keep.any():
                raise _core.DataError(f"no task is in all tables; do the ids ({self.tasks.ids[0]!r}, ...) match?")
            self.tasks = Ids([t for t, k in zip(self.tasks.ids, keep) if k])
        self.p = [self._numbers(t, r[keep], lenient) for t, r in zip(self.tables, rows)]

    def _numbers(self, t: LabelTable, rows: np.ndarray, lenient: bool) -> np.ndarray:
        k = len(self.classes.ids)
        if t.classes is None:
            if t.p.shape[1] != k:
                raise _core.DataError(
                    f"{t.what}: {t.p.shape[1]} columns without names for the classes {self.classes.ids}"
                )
            return np.ascontiguousarray(t.p[rows])
        place = t.classes.find_all(self.classes.ids)
        extra = [c for c in t.classes.ids if self.classes.find(c) < 0]
        if extra or (not lenient and (place < 0).any()):
            c = extra[0] if extra else self.classes.ids[int(np.argmax(place < 0))]
            raise _core.DataError(
                f"{t.what}: the class {c!r} is not in all tables; "
                f"there are {t.classes.ids} and {self.classes.ids} (lenient=True takes it as 0)"
            )
        if (place >= 0).all():
            return np.ascontiguousarray(t.p[np.ix_(rows, place)])
        out = np.zeros((len(rows), k))
        out[:, place >= 0] = t.p[np.ix_(rows, place[place >= 0])]
        return out

    def labels(self, labels: np.ndarray) -> Any:
        """Labels for a table, with their declared classes where there are any."""
        return typed(labels, self.categories)

    def task_column(self) -> np.ndarray:
        return id_array(self.tasks.ids)

    def class_column(self) -> np.ndarray:
        return id_array(self.classes.ids)


def with_classes(classes: list[Any], more: list[Any]) -> list[Any]:
    """Classes and those that came later: sorted where they were, else at the end, which keeps a declared order."""
    return _sorted([*classes, *more]) if classes == _sorted(classes) else [*classes, *more]


def gold_classes(gold: Any, what: str = "gold") -> list[Any]:
    """The classes of known labels: those that their column declares, else those found, sorted."""
    declared = declared_by(gold)
    if declared is not None:
        return declared.values
    return _sorted([k for k in dict.fromkeys(known_labels(gold, what)[1]) if k is not None])


def id_array(ids: Sequence[Any]) -> np.ndarray:
    """Ids as an array of what they are."""
    if all(type(k) is int for k in ids):
        try:
            return np.array(ids, dtype=np.int64)
        except OverflowError:
            pass
    array = np.empty(len(ids), dtype=object)
    array[:] = list(ids)
    return array


# ---- gold labels ----


def known_labels(gold: Any, what: str = "gold") -> tuple[list[Any] | None, list[Any]]:
    """(tasks, labels); tasks None: in the order of the rows. Missing labels are None."""
    if isinstance(gold, Values):
        tasks, labels = gold.index.tolist(), gold.values.tolist()
    elif is_pandas(gold):
        if gold.ndim == 1:
            tasks, labels = gold.index.tolist(), gold.tolist()
        else:
            tasks, labels = _two_columns({c: gold[c] for c in gold.columns}, what)
    elif isinstance(gold, Mapping):
        two = "task" in gold and ("label" in gold or "gold" in gold) and not isinstance(gold["task"], str)
        tasks, labels = _two_columns(gold, what) if two else (list(gold), list(gold.values()))
    elif hasattr(gold, "__array__") and not hasattr(gold, "columns") and not hasattr(gold, "column_names"):
        array = np.asarray(gold)  # NumPy, PyTorch, a Series of polars
        if array.ndim != 1:
            raise _core.DataError(f"{what}: one label per task, not an array of {array.ndim} dimensions")
        tasks, labels = None, array.tolist()
    elif isinstance(gold, (list, tuple)):
        pairs = bool(gold) and all(isinstance(g, tuple) and len(g) == 2 for g in gold)
        rows = records(gold)
        if rows is not None:
            tasks, labels = _two_columns(rows, what)
        else:
            tasks, labels = ([g[0] for g in gold], [g[1] for g in gold]) if pairs else (None, list(gold))
    elif isinstance(gold, (str, bytes)):
        raise TypeError(f"{what}={gold!r}: labels cannot be read from one text; give a Series or dict by task, or a list")
    else:
        columns = _columns(gold)
        if columns is None:
            if not hasattr(gold, "to_list") and not isinstance(gold, Iterable):
                raise TypeError(f"{what}: labels cannot be read from {type(gold).__name__}; give a Series or dict by task, or a list")
            tasks, labels = None, _list(gold)
        else:
            tasks, labels = _two_columns(columns, what)
    missing = {x for x in set(labels) if _is_missing(x)}
    return tasks, [None if x in missing else x for x in labels] if missing else labels


def _two_columns(columns: Mapping[Any, Any], what: str) -> tuple[list[Any], list[Any]]:
    label = next((c for c in ("label", "gold", "agg_label") if c in columns), None)
    if "task" not in columns or label is None:
        raise _core.DataError(f"{what}: columns 'task' and 'label' are needed; there are {list(columns)}")
    return _list(columns["task"]), _list(columns[label])


def count_unknown(gold: Any, tasks: Ids, what: str) -> int:
    """How many labels are of tasks that are nowhere else: those are not used, which is told."""
    ids = known_labels(gold, what)[0]
    if ids is None or not ids:
        return 0
    unknown = [k for k, place in zip(ids, tasks.find_all(ids).tolist()) if place < 0]
    if len(unknown) == len(ids):
        raise _core.DataError(
            f"{what}: none of the {len(ids)} tasks has votes; do the ids ({ids[0]!r}, "
            f"and {tasks.ids[:1]} of the votes) match?"
        )
    if unknown:
        warnings.warn(
            f"{what}: {len(unknown)} of {len(ids)} tasks have no votes and are not used, such as {unknown[0]!r}",
            stacklevel=5,
        )
    return len(unknown)


def gold_codes(gold: Any, tasks: Ids, classes: Ids, *, lenient: bool = True, what: str = "gold") -> np.ndarray:
    """Known labels as class numbers in the order of the tasks, -1 where nothing is known."""
    ids, labels = known_labels(gold, what)
    n = len(tasks.ids)
    codes = np.full(n, -1, dtype=np.int32)
    if ids is None:
        if len(labels) != n:
            raise _core.DataError(f"{what}: {len(labels)} labels without task ids for {n} tasks")
        if not tasks.are_numbers_of_rows():
            raise _core.DataError(
                f"{what} has no task ids to match with those of the others ({tasks.ids[0]!r}, ...): "
                "give it as a dict or a "
                "Series by task, or all as arrays in one order"
            )
        places = np.arange(n)
    else:
        places = tasks.find_all(ids)
        if not lenient and (places < 0).any():
            extra = ids[int(np.argmax(places < 0))]
            raise _core.DataError(f"{what}: task {extra!r} is nowhere else; leave out what not all have (lenient=True)")
    number = {label: -2 if label is None else classes.find(label) for label in dict.fromkeys(labels)}
    found = np.fromiter(map(number.__getitem__, labels), dtype=np.int32, count=len(labels))
    named = (places >= 0) & (found != -2)
    if (found[named] < 0).any():
        j = int(np.flatnonzero(named & (found < 0))[0])
        raise _core.DataError(
            f"{what}: the label {labels[j]!r} of task {tasks.ids[places[j]]!r} is not among the classes {classes.ids}"
        )
    codes[places[named]] = found[named]
    if (codes[places[named]] != found[named]).any():
        j = int(np.flatnonzero(named)[np.argmax(codes[places[named]] != found[named])])
        raise _core.DataError(f"{what}: task {tasks.ids[places[j]]!r} has two labels; keep one")
    if not lenient and (codes < 0).any():
        i = int(np.argmax(codes < 0))
        raise _core.DataError(
            f"{what}: no label for task {tasks.ids[i]!r}; add it, or measure on those that have one (lenient=True)"
        )
    return codes
