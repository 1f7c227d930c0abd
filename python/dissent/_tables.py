"""Label tables and gold labels, matched by task and class.

Tables are first brought into one order: rows by task, columns by class, those of the first table. Ids are the
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
from ._columns import _is_missing, _sorted, frame_column, is_pandas, records
from ._ids import Ids, as_list, id_texts
from ._results import SoftLabels, Values

_SLACK = 1e-6  # how far from 1 the sum of a row may be
_NOT_CLASSES = ("task", "label", "entropy")


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
        multi_label: bool = False,
    ) -> None:
        self._multi_label = multi_label
        self.p = np.ascontiguousarray(p, dtype=np.float64)
        if self.p.ndim != 2:
            raise _core.DataError(f"{what}: a row per task and a column per class, not {self.p.ndim} dimensions")
        self.tasks = None if tasks is None else Ids(as_list(tasks))
        self.classes = None if classes is None else Ids(as_list(classes))
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
                raise _core.DataError(f"{self.what}: the {name} {twice[0]!r} is repeated")
        if n == 0 or k == 0:
            raise _core.DataError(f"{self.what}: {n} tasks of {k} classes are not labels")
        bad = ~np.isfinite(self.p) | (self.p < 0)
        if bad.any():
            i = int(np.argmax(bad.any(axis=1)))
            raise _core.DataError(
                f"{self.what}: task {self.task(i)!r} has a probability of {self.p[i][bad[i]][0]}; it must be 0 or more"
            )
        if self._multi_label:
            if (self.p > 1).any():
                i = int(np.argmax((self.p > 1).any(axis=1)))
                raise _core.DataError(
                    f"{self.what}: task {self.task(i)!r} has a probability of {self.p[i].max()}; it must be at most 1"
                )
            return
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
    """Columns of a table of any kind but pandas; None for something that is not a table."""
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


def _probabilities(columns: Mapping[Any, Any], chosen: Sequence[tuple[Any, Any]], what: str) -> np.ndarray:
    """(tasks, classes); an error names the column that does not hold numbers."""
    arrays = []
    for name, _ in chosen:
        values = as_list(columns[name])
        try:
            arrays.append(np.array([np.nan if _is_missing(v) else v for v in values], dtype=np.float64))
        except (TypeError, ValueError):
            shown = next(v for v in values if not isinstance(v, (int, float, np.number)))
            raise _core.DataError(
                f"{what}: the column {name!r} holds {shown!r}, not probabilities; give a row per task and a column per "
                "class (for votes, fit a method such as Calibrated() first)"
            ) from None
    return np.column_stack(arrays) if arrays else np.empty((0, 0))


def _class_columns(names: Iterable[Any]) -> list[tuple[Any, Any]]:
    """(column, class): those called p:CLASS, else all but task, label and entropy."""
    names = list(names)
    marked = [(c, c[2:]) for c in names if isinstance(c, str) and c.startswith("p:")]
    return marked or [(c, c) for c in names if c not in _NOT_CLASSES]


def _hard(what: str) -> str:
    return (
        f"{what}: one label per task is given, and probabilities are needed: SoftLabels, a fitted method, or a DataFrame "
        "with a row per task and a column per class (compare() and gold= take labels)"
    )


def label_table(data: Any, what: str = "labels", multi_label: bool = False) -> LabelTable:
    """A table of distributions of whatever holds one; with multi_label, of probabilities of each class."""
    if isinstance(data, LabelTable):
        return data
    if isinstance(data, (str, os.PathLike)):
        data = read_labels(data, multi_label=multi_label)
    pandas = False
    if hasattr(data, "result_") and hasattr(data, "_is_fitted"):  # a fitted estimator
        pandas = data.votes_.pandas
        data = data.result_
    if isinstance(data, SoftLabels):
        return LabelTable(data.p, data.tasks, data.classes, pandas, what, data.categories, multi_label)
    if is_pandas(data):
        if data.ndim != 2:
            raise TypeError(_hard(what))
        if "task" in data.columns:
            chosen = _class_columns(data.columns)
            p = _probabilities({c: frame_column(data, what, [c]) for c, _ in chosen}, chosen, what)
            return LabelTable(p, frame_column(data, what, ["task"]), [k for _, k in chosen], True, what, None, multi_label)
        if any(kind == object for kind in data.dtypes) or any(hasattr(kind, "na_value") for kind in data.dtypes):
            places = list(enumerate(data.columns))  # nullable numbers, or texts by mistake
            _probabilities({k: data.iloc[:, i] for i, k in places}, [(k, k) for _, k in places], what)
        p = data.to_numpy(dtype=np.float64, na_value=np.nan)
        return LabelTable(p, data.index, data.columns, True, what, declared_by(data.columns), multi_label)
    if isinstance(data, Mapping) and data and all(isinstance(v, Mapping) for v in data.values()):  # {task: {class: p}}
        classes: dict[Any, None] = {}
        for row in data.values():
            classes.update(dict.fromkeys(row))
        order = _sorted(list(classes))
        return LabelTable([[row.get(c, 0.0) for c in order] for row in data.values()], list(data), order, False, what, None, multi_label)
    if isinstance(data, Values) or (isinstance(data, Mapping) and data and np.ndim(next(iter(data.values()))) == 0):
        raise TypeError(_hard(what))
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
            _probabilities(columns, chosen, what),
            columns["task"],
            [k for _, k in chosen],
            False,
            what,
            None,
            multi_label,
        )
    try:
        array = np.asarray(data, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"{what}: {type(data).__name__} holds no distributions: give SoftLabels, a DataFrame (rows tasks, "
            "columns classes) or an array"
        ) from None
    return LabelTable(array, None, None, False, what, None, multi_label)


def read_labels(
    path: str | os.PathLike[str], *, format: str | None = None, renormalise: bool = False, multi_label: bool = False
) -> SoftLabels:
    """Soft labels of a file: CSV, TSV or JSONL as ``dissent labels`` writes them, or npy with its lists of tasks and
    classes. multi_label: probabilities of each class, which need not sum to 1."""
    tasks, classes, p = _core.read_labels(os.fspath(path), format=format, renormalise=renormalise, multi_label=multi_label)
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
            tasks, labels = _two_columns({c: frame_column(gold, what, [c]) for c in gold.columns}, what)
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
        raise TypeError(f"{what}={gold!r}: labels cannot be read from one text; give a Series or dict by task, or a list (read a file with pandas first)")
    else:
        columns = _columns(gold)
        if columns is None:
            if not hasattr(gold, "to_list") and not isinstance(gold, Iterable):
                raise TypeError(f"{what}: labels cannot be read from {type(gold).__name__}; give a Series or dict by task, or a list")
            tasks, labels = None, as_list(gold)
        else:
            tasks, labels = _two_columns(columns, what)
    try:
        different = set(labels)
    except TypeError:
        odd = next(x for x in labels if getattr(type(x), "__hash__", None) is None)
        raise _core.DataError(f"{what}: {odd!r} is a {type(odd).__name__}; a task has one label") from None
    missing = {x for x in different if _is_missing(x)}
    return tasks, [None if _is_missing(x) else x for x in labels] if missing else labels


def _two_columns(columns: Mapping[Any, Any], what: str) -> tuple[list[Any], list[Any]]:
    label = next((c for c in ("label", "gold", "agg_label") if c in columns), None)
    if "task" not in columns or label is None:
        raise _core.DataError(
            f"{what}: no columns 'task' and 'label'; the columns are: {', '.join(map(repr, columns))}; rename them, or "
            "give a dict or a Series by task"
        )
    return as_list(columns["task"]), as_list(columns[label])


def count_unknown(gold: Any, tasks: Ids, what: str) -> int:
    """How many labels belong to no other task: they are not used, and a warning counts them."""
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
        if (places < 0).all() and len(ids) and tasks.are_numbers_of_rows():
            raise _core.DataError(
                f"{what} has task ids ({ids[0]!r}, ...) and the others have none: give it as a list in their order, or "
                "give the others task ids (SoftLabels, or a DataFrame with tasks as its index)"
            )
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


def vote_places(table: Any, aligned: Aligned, lenient: bool) -> dict[str, np.ndarray]:
    """Where tasks and classes of the others stand among those of the votes."""
    items = Ids(table.tasks.tolist())
    item = np.asarray(items.find_all(aligned.tasks.ids), dtype=np.int32)
    if not lenient and (item < 0).any():
        missing = aligned.tasks.ids[int(np.argmax(item < 0))]
        raise _core.DataError(f"votes: task {missing!r} has no votes; leave out what not all have (lenient=True)")
    found = np.array([aligned.classes.find(k) for k in table.classes.tolist()], dtype=np.int32)
    if not lenient and (found < 0).any():
        extra = table.classes[int(np.argmax(found < 0))]
        raise _core.DataError(f"votes: the class {extra!r} is not among the classes {aligned.classes.ids}")
    return {"item": item, "class_": found}
