"""What comes out: soft labels and values under names, as NumPy, Arrow or pandas, and as a small picture in
notebooks."""

from __future__ import annotations

import html
import importlib
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from . import _core
from ._categories import Categories, TypedLabels, typed
from ._ids import Ids
from ._votes import Votes

_SHOWN = 10  # rows of a table in a notebook
_COLOURS = (
    "#3b6fb6",
    "#d1803a",
    "#4d9a57",
    "#b5484c",
    "#7d62a8",
    "#86644f",
    "#c772a9",
    "#7a7a7a",
    "#a8a337",
    "#3aa5b3",
)


def _arrow_column(values: Any) -> Any:
    """Something that arrow_stream() takes: an array of numbers, a list of texts, labels with their declared classes."""
    if isinstance(values, TypedLabels):
        return values.categories.to_arrow(values.values)
    values = np.asarray(values)
    if values.dtype.kind == "f":
        return np.ascontiguousarray(values, dtype=np.float64)
    if values.dtype.kind in "iu" and values.dtype != np.uint64:
        return np.ascontiguousarray(values, dtype=np.int64)
    return [str(v) for v in values.tolist()]


def _bar(p: np.ndarray, width: int = 160) -> str:
    """A distribution as a stacked bar."""
    x, parts = 0.0, []
    for k, share in enumerate(p):
        w = width * float(share)
        if w >= 0.5:
            parts.append(f'<rect x="{x:.1f}" width="{w:.1f}" height="12" fill="{_COLOURS[k % len(_COLOURS)]}"/>')
        x += w
    return f'<svg width="{width}" height="12" role="img">{"".join(parts)}</svg>'


def _table(head: list[str], rows: list[list[str]], caption: str, words: tuple[int, ...] = (0,)) -> str:
    """words: columns of texts, which begin at the left; numbers end at the right."""
    sides = ["left" if c in words else "right" for c in range(len(head))]
    cells = "".join(f'<th style="text-align:{side}">{h}</th>' for h, side in zip(head, sides))
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align:{side}">{c}</td>' for c, side in zip(row, sides)) + "</tr>"
        for row in rows
    )
    return (
        f"<table><caption>{html.escape(caption)}</caption><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
    )


def _numbers(values: list[Any]) -> list[str]:
    """Numbers of one column, all with the same decimals; – for missing ones."""
    defined = [abs(float(v)) for v in values if v is not None and v == v]
    most = max(defined, default=0.0)
    integer = all(isinstance(v, int) for v in values if v is not None)
    decimals = 0 if integer else 4 if most < 1 else 3 if most < 10 else 2 if most < 100 else 1
    return ["–" if v is None or v != v else f"{v:,.{decimals}f}" for v in values]


def _some(shown: int, n: int, what: str) -> str:
    return f"{n} {what}" if shown >= n else f"{shown} of {n} {what}"


def _text(value: Any, longest: int = 40) -> str:
    text = str(value)
    return html.escape(text if len(text) <= longest else text[: longest - 1] + "…")


def frame_of(table: Any, kind: str | None) -> Any:
    """A table of ours as a frame of pandas, polars or pyarrow; "lazy" is a LazyFrame of polars, and None the first of them
    that is installed."""
    if kind == "lazy":
        return frame_of(table, "polars").lazy()
    if kind not in (None, "pandas", "polars", "pyarrow"):
        raise _core.OptionError(f"kind={kind!r}: choose 'pandas', 'polars', 'lazy' (a LazyFrame of polars) or 'pyarrow'")
    for name in ("pandas", "polars", "pyarrow") if kind is None else (kind,):
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        if name == "pandas":
            return table if hasattr(table, "iloc") else table.to_pandas()
        if hasattr(table, "iloc"):
            table = table.reset_index() if table.index.name else table
            return library.from_pandas(table) if name == "polars" else library.Table.from_pandas(table)
        return library.DataFrame(table) if name == "polars" else library.table(table)
    raise ImportError(f"to_frame() needs {kind or 'pandas, polars or pyarrow'}; install it with pip")


class Framed:
    """A result whose main table is `_frame`."""

    _frame: ClassVar[str]

    def to_frame(self, kind: str | None = None) -> Any:
        """The main table of the result as a frame: kind is "pandas", "polars", "pyarrow", or None for the first of them
        that is installed."""
        table = getattr(self, self._frame)
        if table is None:
            raise _core.DataError(f"this {type(self).__name__} has no table {self._frame!r}")
        return frame_of(table, kind)


class Values:
    """Numbers or labels under ids, in order: what a pandas Series would hold.

    >>> v = Values(["a", "b"], [0.5, 1.0], name="skill", index_name="worker")
    >>> v["b"], len(v)
    (1.0, 2)
    """

    def __init__(self, index: Any, values: Any, name: str, index_name: str) -> None:
        self.index = np.asarray(index, dtype=object) if isinstance(index, list) else np.asarray(index)
        self.categories: Categories | None = values.categories if isinstance(values, TypedLabels) else None
        self.values = np.asarray(values.values if isinstance(values, TypedLabels) else values)
        self.name, self.index_name = name, index_name
        self._place: dict[Any, int] | None = None

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, key: Any) -> Any:
        if self._place is None:
            self._place = {k: i for i, k in enumerate(self.index.tolist())}
        value = self.values[self._place[key]]
        return value.item() if hasattr(value, "item") else value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values.tolist())

    def items(self) -> Iterator[tuple[Any, Any]]:
        return zip(self.index.tolist(), self.values.tolist())

    def to_dict(self) -> dict[Any, Any]:
        return dict(self.items())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype) if copy else np.asarray(self.values, dtype=dtype)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return _core.arrow_stream(
            (self.index_name, self.name), (_arrow_column(self.index), _arrow_column(typed(self.values, self.categories)))
        )

    def to_frame(self, kind: str | None = None) -> Any:
        """A frame with two columns, or a Series of pandas: kind is "pandas", "polars", "pyarrow", or None for the first
        that is installed."""
        return frame_of(self, kind)

    def to_pandas(self) -> Any:
        import pandas as pd

        values = self.values if self.categories is None else self.categories.to_pandas(self.values)
        return pd.Series(values, index=pd.Index(self.index, name=self.index_name), name=self.name)

    def __repr__(self) -> str:
        some = ", ".join(f"{k!r}: {v!r}" for k, v in list(self.items())[:4])
        return f"<{self.name} of {len(self)} {self.index_name}s: {some}{', ...' if len(self) > 4 else ''}>"

    def _repr_html_(self) -> str:
        some = list(self.items())[:_SHOWN]
        numbers = all(isinstance(v, (int, float)) for _, v in some)
        values = _numbers([v for _, v in some]) if numbers else [_text(v) for _, v in some]
        rows = [[_text(k), v] for (k, _), v in zip(some, values)]
        caption = _some(len(some), len(self), f"{self.index_name}s")
        return _table([_text(self.index_name), _text(self.name)], rows, caption, (0,) if numbers else (0, 1))


class SoftLabels:
    """A distribution over the classes for every task.

    ``numpy.asarray(labels)`` is the array (tasks, classes) without a copy. ``polars.DataFrame(labels)``,
    ``pyarrow.table(labels)`` and other users of Arrow get a table with task, label, entropy and a column per class.
    ``to_pandas()`` has the form of crowd-kit. PyTorch: ``torch.from_numpy(labels.p)``.

    >>> s = SoftLabels(["a", "b"], ["no", "yes"], [[0.25, 0.75], [1.0, 0.0]])
    >>> s.labels.tolist(), s["a"]
    (['yes', 'no'], {'no': 0.25, 'yes': 0.75})
    """

    def __init__(self, tasks: Any, classes: Any, p: Any, *, categories: Categories | None = None) -> None:
        self.categories = categories  # the type of labels in Arrow tables; None: texts or numbers
        self.tasks = np.asarray(tasks, dtype=object) if isinstance(tasks, list) else np.asarray(tasks)
        self.classes = np.asarray(classes, dtype=object) if isinstance(classes, list) else np.asarray(classes)
        self.p: np.ndarray = np.asarray(p, dtype=np.float64)
        if self.p.shape != (len(self.tasks), len(self.classes)):
            raise _core.DataError(
                f"{len(self.tasks)} tasks and {len(self.classes)} classes, but numbers of shape {self.p.shape}"
            )
        self._place: dict[Any, int] | None = None

    @property
    def labels(self) -> np.ndarray:
        """The most likely class of each task; the first one on a tie."""
        return self.classes[np.argmax(self.p, axis=1)] if len(self.classes) else self.classes[:0]

    @property
    def entropy(self) -> np.ndarray:
        """Entropy of each task's distribution, in nats."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return -np.sum(np.where(self.p > 0, self.p * np.log(self.p), 0.0), axis=1) + 0.0

    def __len__(self) -> int:
        return len(self.tasks)

    @property
    def shape(self) -> tuple[int, int]:
        return self.p.shape[0], self.p.shape[1]

    def __getitem__(self, task: Any) -> Any:
        """The distribution of a task as a dict; SoftLabels for a slice of rows, a mask of bools, or a list of tasks."""
        if isinstance(task, slice) or (isinstance(task, np.ndarray) and task.dtype == bool):
            return SoftLabels(self.tasks[task], self.classes, self.p[task], categories=self.categories)
        if isinstance(task, (list, np.ndarray)):
            rows = Ids(self.tasks.tolist()).find_all(list(task))
            if (rows < 0).any():
                raise KeyError(f"no task {list(task)[int(np.argmax(rows < 0))]!r} among the labels")
            return SoftLabels(self.tasks[rows], self.classes, self.p[rows], categories=self.categories)
        if self._place is None:
            self._place = {k: i for i, k in enumerate(self.tasks.tolist())}
        return dict(zip(self.classes.tolist(), self.p[self._place[task]].tolist()))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.p, dtype=dtype) if copy else np.asarray(self.p, dtype=dtype)

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.p.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> Any:
        return self.p.__dlpack_device__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        names = ["task", "label", "entropy", *(f"p:{c}" for c in self.classes.tolist())]
        columns = [_arrow_column(self.tasks), _arrow_column(typed(self.labels, self.categories)), _arrow_column(self.entropy)]
        columns += [np.ascontiguousarray(self.p[:, k]) for k in range(len(self.classes))]
        return _core.arrow_stream(tuple(names), tuple(columns))

    def to_pandas(self) -> Any:
        """A DataFrame with a row per task and a column per class."""
        import pandas as pd

        return pd.DataFrame(
            self.p, index=pd.Index(self.tasks, name="task"), columns=pd.Index(self.classes, name="label"), copy=False
        )

    def to_frame(self, kind: str | None = None) -> Any:
        """A frame with a row per task: kind is "pandas", "polars", "lazy" (a LazyFrame of polars), "pyarrow", or None for the
        first that is installed."""
        return frame_of(self, kind)

    def to_dataset(self) -> Any:
        """A datasets.Dataset of Hugging Face with task, label (a ClassLabel), probabilities and entropy."""
        from .hf import to_dataset

        return to_dataset(self)

    def __repr__(self) -> str:
        return f"SoftLabels({len(self.tasks)} tasks, {len(self.classes)} classes)"

    def _repr_html_(self) -> str:
        labels, entropy = self.labels, self.entropy
        head = ["task", "label", "distribution", *(_text(c, 16) for c in self.classes[:_SHOWN]), "entropy"]
        rows = [
            [
                _text(self.tasks[i]),
                _text(labels[i]),
                _bar(self.p[i]),
                *(f"{x:.3f}" for x in self.p[i, :_SHOWN]),
                f"{entropy[i]:.3f}",
            ]
            for i in range(min(_SHOWN, len(self)))
        ]
        mean = float(entropy.mean()) if len(self) else 0.0
        caption = f"{_some(len(rows), len(self), 'tasks')}, {len(self.classes)} classes, mean entropy {mean:.3f} nats"
        return _table(head, rows, caption, (0, 1, 2))


class _Names:
    """The names of a votes table as Arrow texts."""

    def __init__(self, votes: Votes, role: str) -> None:
        self.votes, self.role = votes, role

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return _core.arrow_names(self.votes.core, self.role)


def ids_index(votes: Votes, role: str, order: np.ndarray | None = None) -> Any:
    """Ids as a pandas index of the kind that came in; texts that were Arrow's never become Python objects."""
    import pandas as pd

    axis = votes.axes[role]
    if axis.kind == "text" and getattr(axis.dtype, "storage", "") == "pyarrow":
        import pyarrow as pa

        index = pd.Index(pd.array(pa.array(_Names(votes, role)), dtype=axis.dtype), name=role)
    else:
        index = pd.Index(votes._ids(role), name=role, dtype=axis.dtype if axis.kind == "text" else None)
    return index if order is None else index.take(order)
