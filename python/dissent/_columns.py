"""Tables of any kind as columns of the library, and ids back out as what they were.

Ids are texts in the library. A column of integers, numbers or bools is passed without a copy, and its ids
are returned as integers, numbers or bools. Other objects (dates, tuples, mixed columns) are passed as their texts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _categories, _core
from ._categories import Categories

_ROLES = ("task", "worker", "label")


def _pandas() -> Any:
    """pandas if it is already imported; it is never imported otherwise."""
    return sys.modules.get("pandas")


def is_pandas(data: object) -> bool:
    pd = _pandas()
    return pd is not None and isinstance(data, (pd.DataFrame, pd.Series))


class Axis:
    """What the ids of one column were before they became texts."""

    def __init__(self, kind: str, dtype: Any = None, originals: dict[str, Any] | None = None) -> None:
        self.kind = kind  # "text", "int", "float", "bool" or "object"
        self.dtype = dtype  # NumPy's or pandas', when the column had one
        self.originals = originals  # by text, for "object"
        self.categories: Categories | None = None  # that the column declares

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


def check_labels(labels: Iterable[Any]) -> None:
    """Fails if a number and its text are both labels: the column is mixed by mistake, and they would be two classes."""
    seen: dict[str, Any] = {}
    for label in labels:
        other = seen.setdefault(str(label), label)
        if other is not label:
            raise _core.DataError(
                f"the labels {other!r} and {label!r} are a {type(other).__name__} and a {type(label).__name__} with the "
                "same text; convert the column to one type"
            )


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _sorted(values: list[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda v: (type(v).__name__, str(v)))


def _is_missing(value: Any) -> bool:
    """None, NaN, and NA and NaT of pandas."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    differs = value != value  # of an array this is an array
    return isinstance(differs, (bool, np.bool_)) and bool(differs)


def _plain(value: Any) -> Any:
    """A scalar of NumPy, or of a library like it, as a Python object."""
    is_scalar = isinstance(value, np.generic) or (hasattr(value, "item") and getattr(value, "ndim", 1) == 0)
    return value.item() if is_scalar else value


def _number(value: Any, row: int, number: dict[Any, int]) -> int:
    """The number of an object among those seen; -1: missing."""
    value = _plain(value)
    if _is_missing(value):
        return -1
    try:
        return number.setdefault((type(value) is bool, value), len(number))
    except TypeError:
        raise _core.DataError(
            f"row {row}: {str(value)[:60]} is a {type(value).__name__}; an id is a text, a number or another single "
            "value (for sets of labels, use scale='multi-label')"
        ) from None


_TYPES = {int: "int", float: "float", bool: "bool"}


def _same_type(values: list[Any]) -> str:
    """What all values are: "int" (of 64 bits), "float" or "bool"; "" for anything else."""
    types = {type(v) for v in values}
    kind = _TYPES.get(types.pop(), "") if len(types) == 1 else ""
    return "" if kind == "int" and not all(-(2**63) <= v < 2**63 for v in values) else kind


def _object_column(values: Iterable[Any]) -> tuple[_core.Column, Axis]:
    """Objects of any kind that can be told apart by ==, None and NaN being nothing at all."""
    values = list(values)
    try:
        return _core.column(values), Axis("text")
    except UnicodeEncodeError:
        row = next(i for i, v in enumerate(values) if isinstance(v, str) and not _is_unicode(v))
        raise _core.DataError(f"row {row}: {values[row]!r} is not valid Unicode; correct its encoding") from None
    except TypeError:
        pass
    number: dict[Any, int] = {}
    codes = np.fromiter((_number(v, i, number) for i, v in enumerate(values)), dtype=np.int64, count=len(values))
    found = [value for _, value in number]
    kind = _same_type(found)
    if kind == "int" and codes.min() >= 0:
        return _core.column(np.array(found, dtype=np.int64)[codes]), Axis("int")
    if kind:
        axis = Axis(kind)
        column = _core.dictionary_column(codes % (len(found) + 1), _core.column([*map(axis.encode, found), None]))
        return column, axis
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
        _, axis = _pandas_column(series.cat.categories.to_series())
        axis = Axis(axis.kind, None, axis.originals)
        axis.categories = _categories.of_pandas(series)
        texts = [axis.encode(c) for c in series.cat.categories.tolist()]
        codes = series.cat.codes.to_numpy().astype(np.int64)
        codes[codes < 0] = len(texts)  # missing
        return _core.dictionary_column(codes, _core.column([*texts, None])), axis
    if isinstance(dtype, np.dtype) and dtype.kind in "iubf":
        return _array_column(series.to_numpy())
    if hasattr(dtype, "numpy_dtype") and not isinstance(dtype, pd.StringDtype) and not series.hasnans:
        return _array_column(series.to_numpy(dtype=dtype.numpy_dtype))  # Int64, Float64, boolean
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


def _arrow_column(column: _core.Column, name: str, from_pandas: bool = False) -> tuple[_core.Column, Axis]:
    axis = Axis(column.kind)
    axis.categories = _categories.of_column(column, name, from_pandas)
    return column, axis


def make_column(source: Any) -> tuple[_core.Column, Axis]:
    """A column of anything: Arrow data, a NumPy array, a pandas Series, a list."""
    pd = _pandas()
    if pd is not None and isinstance(source, (pd.Index, pd.api.extensions.ExtensionArray)):
        source = pd.Series(source)
    if is_pandas(source):
        return _pandas_column(source)
    if isinstance(source, np.ndarray):
        return _array_column(source)
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__"):
        return _arrow_column(_core.column(source), "label")
    if isinstance(source, (str, bytes)):
        raise TypeError("a column of ids is a list or an array, not one text")
    if isinstance(source, Iterable):
        return _object_column(source)
    return _array_column(np.asarray(source))


class ColumnError(_core.DataError, KeyError):
    """A table lacks a column."""

    def __str__(self) -> str:
        return str(self.args[0])


def _names_of(role: str, given: Any) -> tuple[Any, ...]:
    if given is None:
        return ("worker", "performer") if role == "worker" else (role,)
    return tuple(given) if isinstance(given, list) else (given,)


def missing_column(role: str, names: Sequence[Any], columns: Sequence[Any]) -> ColumnError:
    """What to do about a column that a table lacks."""
    available = ", ".join(map(repr, columns)) or "none"
    wanted = " or ".join(map(repr, names))
    return ColumnError(f"no column {wanted}; the columns are: {available}; name the one to use with {role}=")


def _pick(columns: Iterable[Any], role: str, names: Sequence[Any]) -> Any:
    columns = list(columns)
    for name in names:
        if columns.count(name) > 1:
            raise ColumnError(f"{columns.count(name)} columns are called {name!r}; keep or rename one of them")
        if name in columns:
            return name
    return _synonym(columns, role, names)


def _synonym(columns: Sequence[Any], role: str, names: Sequence[Any]) -> Any:
    """The column of another usual name (``dissent list columns``), where the caller has named none."""
    found = _core.find_column(role, [str(c) for c in columns]) if tuple(names) == _names_of(role, None) else ()
    if len(found) == 2:
        first, second = (columns[i] for i in found)
        raise ColumnError(
            f"two columns could be the {role}: {first!r} and {second!r}; choose one: {role}={first!r} or "
            f"{role}={second!r}"
        )
    if not found:
        raise missing_column(role, names, columns)
    return columns[found[0]]


def _wide_columns(data: Any) -> list[Any]:
    """Columns of a DataFrame that share few values with another one: they may hold the labels of one worker each."""
    head = data.head(1000)
    values = {c: set(head[c].dropna()) for c in head.columns if head[c].map(np.isscalar).all()}
    few = {c: v for c, v in values.items() if 0 < len(v) <= max(5, len(head) // 2)}
    return [c for c, v in few.items() if any(v & other for d, other in few.items() if d != c)]


def frame_column(data: Any, role: str, names: Sequence[Any]) -> Any:
    """A column of a DataFrame of pandas, under one of its names."""
    if not hasattr(data, "columns"):
        raise TypeError(f"a {type(data).__name__} is one column; votes are a table with columns task, worker and label")
    long = any(name in data.columns for name in ("worker", "performer", "label", *names))
    if not long and len(data.columns) and all(getattr(kind, "kind", "") == "f" for kind in data.dtypes):
        raise TypeError(
            f"votes are expected, and this table of numbers ({', '.join(map(repr, list(data.columns)[:3]))}, ...) looks like "
            "probabilities with a column per class; give the table with columns task, worker and label"
        )
    wide = [] if long or not data.columns.is_unique else _wide_columns(data)
    if len(wide) >= 2:
        rest = [c for c in data.columns if c not in wide]
        task = rest[0] if rest else data.index.name or "index"
        raise ColumnError(
            f"no column {names[0]!r}; the columns are: {', '.join(map(repr, data.columns))}; name the one to use with "
            f"{role}=, or, if {', '.join(map(repr, wide[:3]))} hold the labels of one worker each, make a row per vote: "
            f"Votes(df{'' if rest else '.reset_index()'}.melt({task!r}, {wide[:3]!r}{'' if len(wide) < 4 else ' + ...'}, "
            f"'worker', 'label').dropna(), task={task!r})"
        )
    if not any(name in data.columns for name in names) and any(name in data.index.names for name in names):
        raise ColumnError(f"the {role} is the index of the table; call reset_index() to make it a column")
    return data[_pick(data.columns, role, names)]


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
    if type(data).__name__ == "LazyFrame" and hasattr(data, "collect"):  # polars runs the query here
        data = data.collect()
    if is_pandas(data):
        return [_pandas_column(frame_column(data, role, n)) for role, n in zip(_ROLES, names)]
    if hasattr(data, "with_format") and hasattr(data, "features"):  # a Hugging Face dataset, in the order of its rows
        data = data.with_format("arrow")[:]
    given = data
    if not hasattr(data, "__arrow_c_stream__") and hasattr(data, "fetch_arrow_table"):  # older DuckDB
        data = data.fetch_arrow_table()
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        while True:
            try:
                columns = _core.columns(data, names)
                break
            except KeyError as e:
                missing, available = e.args
                role = names.index(missing)
                names = (*names[:role], (_pick(available, _ROLES[role], missing),), *names[role + 1 :])  # or raises
        enum = next((order for n in names[2] if (order := _categories.of_duckdb(given, n)) is not None), None)
        categorical = _categories.pandas_names(data)
        labels = _arrow_column(columns[2], names[2][0], any(n in categorical for n in names[2]))
        labels[1].categories = labels[1].categories or enum
        return [(c, Axis(c.kind)) for c in columns[:2]] + [labels]
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
    if hasattr(data, "collect"):
        raise TypeError(f"a {type(data).__name__} has not been run; call collect() first")
    raise TypeError(f"{type(data).__name__} holds no votes: give a table with columns task, worker and label")
