"""Tables of any kind as columns of the library, and ids back out as what they were.

Ids are texts in the library. A column of integers, numbers or bools goes in as it lies in memory and its ids come back
as integers, numbers or bools; other objects (dates, tuples, mixed columns) are told apart here and go in under their
texts.
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
    """pandas when somebody has imported it; it is never imported for its own sake."""
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
        _, axis = _pandas_column(series.cat.categories.to_series())
        axis = Axis(axis.kind, None, axis.originals)
        axis.categories = _categories.of_pandas(series)
        texts = [axis.encode(c) for c in series.cat.categories.tolist()]
        codes = series.cat.codes.to_numpy().astype(np.int64)
        codes[codes < 0] = len(texts)  # missing
        return _core.dictionary_column(codes, _core.column([*texts, None])), axis
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
    enum = next((e for n in names[2] if (e := _categories.of_duckdb(data, n)) is not None), None)
    if not hasattr(data, "__arrow_c_stream__") and hasattr(data, "fetch_arrow_table"):  # older DuckDB
        data = data.fetch_arrow_table()
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        try:
            columns = _core.columns(data, names)
        except KeyError as e:
            raise ColumnError(str(e.args[0])) from None
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
    raise TypeError(f"{type(data).__name__} holds no votes: give a table with columns task, worker and label")
