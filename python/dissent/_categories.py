"""Classes that a column declares: a pandas Categorical, a polars Enum, an ordered Arrow dictionary (an R factor).

The declared order is the order of the classes, and categories without votes stay classes. Labels are returned in the
type of the column. A Categorical of pandas declares its categories, ordered or not. An Arrow dictionary does so only if
it is ordered or comes from pandas, because other dictionaries are in order of first appearance.
"""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._checks import listed


class Categories:
    """The declared classes of a column in their order, and the type to return labels in."""

    def __init__(self, values: Sequence[Any], ordered: bool, is_enum: bool = False, dtype: Any = None) -> None:
        self.values = list(values)
        self.ordered = ordered
        self.is_enum = is_enum  # a polars Enum
        self.dtype = dtype  # of pandas, where the column was pandas'

    def of_classes(self, classes: Sequence[Any]) -> Categories:
        """The same type over other classes, which the caller has given."""
        return self if list(classes) == self.values else Categories(classes, self.ordered, self.is_enum)

    def to_pandas(self, labels: np.ndarray) -> Any:
        """Labels as a pandas Categorical; None is a missing label."""
        import pandas as pd

        if self.dtype is not None:
            return pd.Categorical(labels, dtype=self.dtype)
        return pd.Categorical(labels, categories=self.values, ordered=self.ordered)

    def to_arrow(self, labels: np.ndarray) -> tuple[np.ndarray, Any, bool, bytes]:
        """Labels as a column with a dictionary, as arrow_stream() takes it."""
        place = {value: k for k, value in enumerate(self.values)}
        codes = np.array([place.get(x, -1) for x in labels.tolist()], dtype=np.int32)
        if all(type(v) is int and -(2**63) <= v < 2**63 for v in self.values):
            return codes, np.array(self.values, dtype=np.int64), self.ordered, b""
        if all(type(v) is float for v in self.values):
            return codes, np.array(self.values), self.ordered, b""
        texts = [str(v) for v in self.values]
        return codes, texts, self.ordered, _enum_metadata(texts) if self.is_enum else b""


class TypedLabels:
    """A column of labels that keeps its declared classes in tables."""

    def __init__(self, values: np.ndarray, categories: Categories) -> None:
        self.values, self.categories = values, categories


def typed(labels: np.ndarray, categories: Categories | None) -> Any:
    return labels if categories is None else TypedLabels(labels, categories)


def _enum_metadata(texts: Sequence[str]) -> bytes:
    """The field metadata by which polars knows an Enum: lengths and texts, in Arrow's encoding of one pair."""
    key = b"_PL_ENUM_VALUES2"
    value = b"".join(b"%d;%s" % (len(t), t) for t in (text.encode() for text in texts))
    return struct.pack("=ii", 1, len(key)) + key + struct.pack("=i", len(value)) + value


def of_pandas(values: Any) -> Categories | None:
    """The categories of a pandas Series, Index or Categorical."""
    pd = sys.modules.get("pandas")
    dtype = getattr(values, "dtype", None)
    if pd is None or not isinstance(dtype, pd.CategoricalDtype) or dtype.categories is None:
        return None
    return Categories(dtype.categories.tolist(), bool(dtype.ordered), dtype=dtype)


def of_column(column: _core.Column, name: str, from_pandas: bool = False) -> Categories | None:
    """The categories of an Arrow column. Chunks may hold dictionaries that grow, but not different ones."""
    if not column.ordered and not from_pandas:
        return None
    found = _core.dictionaries(column)
    if not found:
        return None
    values = max(found, key=len)
    if any(other != values[: len(other)] for other in found):
        raise _core.DataError(
            f"the chunks of column {name!r} have different ordered dictionaries, so there is no one order of classes; "
            "unify them (pyarrow: table.unify_dictionaries()), or give classes="
        )
    return Categories([v for v in values if v is not None], column.ordered, column.is_enum)


def class_list(classes: Any) -> list[Any] | None:
    """The classes that a caller gives: a list, a type with categories (CategoricalDtype, Enum), or a column that
    declares them."""
    if classes is None:
        return None
    declared = declared_by(classes)
    if declared is not None:
        return declared.values
    return listed("classes", classes.categories if hasattr(classes, "categories") else classes, "classes")


def pandas_names(data: Any) -> set[str]:
    """Columns of a pyarrow table that were Categoricals of pandas."""
    metadata = getattr(getattr(data, "schema", None), "metadata", None)
    try:
        rows = json.loads(metadata[b"pandas"])["columns"] if metadata else []
        return {row["field_name"] for row in rows if row.get("pandas_type") == "categorical"}
    except (KeyError, TypeError, ValueError):
        return set()


def of_duckdb(data: Any, name: str) -> Categories | None:
    """The values of an ENUM column of a DuckDB relation, which compares them by their position."""
    try:
        kind = dict(zip(data.columns, data.types))[name]
        return Categories(dict(kind.children)["values"], True) if kind.id == "enum" else None
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def declared_by(data: Any) -> Categories | None:
    """The categories that gold labels declare: a pandas Series or Categorical, a polars Series, an Arrow array, Values,
    or a table of any of these with a column label."""
    known = getattr(data, "categories", None)
    if isinstance(known, Categories):
        return known
    found = of_pandas(data)
    if found is not None:
        return found
    if hasattr(data, "columns") or hasattr(data, "column_names"):
        names = data.columns if hasattr(data, "columns") and not callable(data.columns) else data.column_names
        label = next((c for c in ("label", "gold", "agg_label") if c in list(names)), None)
        if label is None:
            return None
        column = data[label]
        return None if getattr(column, "ndim", 1) != 1 else declared_by(column)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        try:
            return of_column(_core.column(data), "label")
        except (TypeError, ImportError):  # pandas exports Arrow data only where pyarrow is installed
            return None
    return None
