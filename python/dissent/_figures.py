"""What was measured: figures with their intervals, and tables of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._categories import Categories, TypedLabels, typed
from ._results import _SHOWN, frame_of, _arrow_column, _numbers, _some, _table, _text

_LONGEST = 160  # characters of a text in a notebook


@dataclass(frozen=True)
class Metric:
    """One measured number: ``value``, a 95 % interval ``ci_low`` .. ``ci_high``, and ``n``, what it was measured on.

    ``value`` is None where it cannot be measured; ``reason`` then says why. ``degenerate``: the value is a convention,
    such as agreement 1 when all labels are the same. Without resamples the interval is None; where an
    interval was asked for and cannot be computed, ``no_interval`` is the reason.

    >>> Metric(0.5, n=4)
    Metric(0.5, n=4)
    >>> float(Metric(0.5, n=4))
    0.5
    """

    value: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    n: int = 0
    reason: str | None = None
    degenerate: bool = False
    no_interval: str | None = None

    def __float__(self) -> float:
        if self.value is None:
            raise ValueError(f"no value: {self.reason}")
        return self.value

    def __bool__(self) -> bool:
        return self.value is not None

    def to_dict(self) -> dict[str, Any]:
        """As the command line's JSON has it."""
        d: dict[str, Any] = {"value": self.value, "ci_low": self.ci_low, "ci_high": self.ci_high, "n": self.n}
        if self.reason is not None:
            d["reason"] = self.reason
        if self.degenerate:
            d["degenerate"] = True
        if self.no_interval is not None:
            d["no_interval"] = self.no_interval
        return d

    def to_frame(self, kind: str | None = None) -> Any:
        """A frame with one row: value, 95 % interval, n and the reason of a missing value. kind is "pandas", "polars",
        "pyarrow", or None for the first that is installed."""
        return frame_of(Table(metric_columns([self])), kind)

    def __repr__(self) -> str:
        if self.value is None:
            return f"Metric(None, reason={self.reason!r})"
        interval = "" if self.ci_low is None else f", ci_low={self.ci_low:.6g}, ci_high={self.ci_high:.6g}"
        return f"Metric({self.value:.6g}{interval}, n={self.n}{', degenerate=True' if self.degenerate else ''})"

    def _repr_html_(self) -> str:
        return f"<code>{_text(repr(self), 200)}</code>"

    def _cell(self) -> str:
        if self.value is None:
            return f'<span title="{_text(self.reason, 200)}">–</span>'
        interval = "" if self.ci_low is None else f" [{self.ci_low:.4f}, {self.ci_high:.4f}]"
        return f"{self.value:.4f}{interval}{'*' if self.degenerate else ''}"


def metric(d: Mapping[str, Any]) -> Metric:
    return Metric(**d)


def metric_columns(rows: Sequence[Metric]) -> dict[str, Any]:
    """Columns of a table with a row per metric."""

    def numbers(name: str) -> np.ndarray:
        return np.array([np.nan if (x := getattr(m, name)) is None else x for m in rows], dtype=np.float64)

    columns: dict[str, Any] = {name: numbers(name) for name in ("value", "ci_low", "ci_high")}
    columns["n"] = np.array([m.n for m in rows], dtype=np.int64)
    columns["reason"] = [m.reason or "" for m in rows]
    return columns


class Table:
    """Columns of the same length under names: what a DataFrame would hold, where pandas did not come in.

    ``table["column"]`` is a NumPy array; ``polars.DataFrame(table)``, ``pyarrow.table(table)`` and ``to_pandas()`` make
    tables of others. In columns of numbers NaN stands for "no value".

    >>> t = Table({"worker": ["a", "b"], "votes": [3, 4]})
    >>> t["votes"].tolist(), len(t), t.columns
    ([3, 4], 2, ['worker', 'votes'])
    >>> t.row(1)
    {'worker': 'b', 'votes': 4}
    """

    def __init__(self, columns: Mapping[str, Any], index: str | None = None, shown: Sequence[str] = ()) -> None:
        self._columns: dict[str, np.ndarray] = {}
        self._shown = shown
        self._categories: dict[str, Categories] = {}
        for name, values in columns.items():
            if isinstance(values, TypedLabels):
                self._categories[name] = values.categories
                values = values.values
            if isinstance(values, list) and values and isinstance(values[0], str):
                array = np.empty(len(values), dtype=object)
                array[:] = values
            else:
                array = np.asarray(values)
            self._columns[name] = array
        self._index = index

    @property
    def columns(self) -> list[str]:
        return list(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()))) if self._columns else 0

    def __getitem__(self, name: str) -> np.ndarray:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def keys(self) -> list[str]:
        return self.columns

    def row(self, i: int) -> dict[str, Any]:
        """Row i; None where there is no value."""
        return {name: _plain(values[i]) for name, values in self._columns.items()}

    def to_dict(self) -> list[dict[str, Any]]:
        """A list of rows; None where there is no value."""
        return [self.row(i) for i in range(len(self))]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        names = tuple(self._columns)
        columns = (typed(self._columns[n], self._categories.get(n)) for n in names)
        return _core.arrow_stream(names, tuple(map(_arrow_column, columns)))

    def to_frame(self, kind: str | None = None) -> Any:
        """A frame: kind is "pandas", "polars", "pyarrow", or None for the first that is installed."""
        return frame_of(self, kind)

    def to_pandas(self) -> Any:
        """A DataFrame, with the ids as its index."""
        import pandas as pd

        frame = pd.DataFrame(self._columns)
        for name, categories in self._categories.items():
            frame[name] = categories.to_pandas(self._columns[name])
        return frame.set_index(self._index) if self._index else frame

    def __repr__(self) -> str:
        return f"Table({len(self)} rows: {', '.join(self._columns)})"

    def _repr_html_(self) -> str:
        some = min(_SHOWN, len(self))
        names = [c for c in self._shown if c in self._columns] or list(self._columns)
        numeric = [self._columns[c].dtype.kind in "fiu" for c in names]
        cells = [
            _numbers([_plain(v) for v in self._columns[c][:some]])
            if n
            else [_text(_plain(v), _LONGEST) for v in self._columns[c][:some]]
            for c, n in zip(names, numeric)
        ]
        words = tuple(i for i, n in enumerate(numeric) if not n)
        return _table(
            [_text(c) for c in names], [list(row) for row in zip(*cells)], _some(some, len(self), "rows"), words
        )


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and value != value else value


def make_table(columns: Mapping[str, Any], index: str | None, pandas: bool, shown: Sequence[str] = ()) -> Any:
    """A Table, or a DataFrame when pandas came in. shown: columns that a notebook shows of a Table; none: all."""
    table = Table(columns, index, shown)
    return table.to_pandas() if pandas else table


def shown_with(result: Any, *tables: Any) -> str:
    """A result in a notebook: its line, and tables, of which pandas' show their first rows; None is a missing table."""
    present = [t for t in tables if t is not None]
    shown = [t._repr_html_() if isinstance(t, Table) else t.head(10)._repr_html_() for t in present]
    return f"<p>{_text(repr(result), 200)}</p>" + "".join(shown)


class Figures:
    """What results share: figures by name, as attributes and in a small table."""

    _figures: dict[str, Metric]
    _caption = ""
    _arrows: dict[str, str] = {}  # where higher or lower is better

    def __getitem__(self, name: str) -> Metric:
        try:
            return self._figures[name]
        except KeyError:
            raise KeyError(f"no figure {name!r}; there are {', '.join(self._figures)}") from None

    def __getattr__(self, name: str) -> Any:
        figures = self.__dict__.get("_figures", {})
        if name in figures:
            return figures[name].value
        raise AttributeError(f"{type(self).__name__} has no {name!r}; figures are {', '.join(figures)}")

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *self._figures]

    def keys(self) -> list[str]:
        return list(self._figures)

    def to_frame(self, kind: str | None = None) -> Any:
        """A frame with a row per figure: name, value, 95 % interval, n and the reason of a missing value. kind is
        "pandas", "polars", "pyarrow", or None for the first that is installed."""
        columns = metric_columns(list(self._figures.values()))
        return frame_of(Table({"figure": list(self._figures), **columns}, "figure"), kind)

    def _shown(self) -> dict[str, Metric]:
        return self._figures

    def __repr__(self) -> str:
        some = {k: m for k, m in self._shown().items() if m.value is not None}
        text = ", ".join(f"{k}={m.value:.4g}" for k, m in list(some.items())[:6])
        return f"{type(self).__name__}({text}{', ...' if len(some) > 6 else ''})"

    def _repr_html_(self) -> str:
        rows = [
            [_text(k) + self._arrows.get(k, ""), m._cell(), f"{m.n:,}"]
            for k, m in self._shown().items()
            if m.value is not None
        ]
        missing = [k for k, m in self._shown().items() if m.value is None]
        rest = f"; cannot be measured here: {', '.join(missing)}" if missing else ""
        return _table(["figure", "value [95 %]", "n"], rows, self._caption + rest)
