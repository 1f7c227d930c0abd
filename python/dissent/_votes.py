"""Votes: the library's table of them, from tables of any kind and from files."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._categories import Categories, class_list, typed
from ._columns import _ROLES, Axis, _columns_of, _is_missing, _names_of, _texts_of, check_labels, is_pandas
from ._checks import listed, integer, word
from ._ids import Ids, id_text
from ._running import ProgressLike, progress_of, threads_of
from ._shapes import SHAPED, shaped


_CLASSED = ("nominal", "ordinal")  # scales whose labels are classes


class VotesWarning(UserWarning):
    """Suspicious votes: swapped columns, classes that differ only in case, ..."""


class Votes:
    """A table of votes: task, worker and label. Create them once and pass them to any number of methods.

    Parameters
    ----------
    data : table
        A table of polars, pyarrow, DuckDB, Hugging Face datasets, pandas or any other library with Arrow tables. Or a
        dict of columns, a tuple (tasks, workers, labels), a list of (task, worker, label), or a list of dicts.
    task, worker, label : str
        Names of the columns, which may be numbers in pandas. Without them: task, worker and label, or the usual
        synonyms (item_id, annotator, answer, ...; docs/reference/input-formats.md has the rules).
    classes : list, optional
        All classes in their order. Default: the categories that the column declares (a Categorical of pandas, an Enum
        of polars, an ordered Arrow dictionary), also those without votes. Otherwise the labels found, numbers by
        value, texts by bytes. A label that is not among the given classes is an error.
    na : list, optional
        Labels that mean "no vote"; None among them stands for missing labels.
    duplicates : {"error", "first", "last", "all"}
        What to do when a worker voted on a task twice.
    lenient : bool
        Leave out rows that are not votes (no task, no worker, no label), and count them.
    min_votes : int
        Leave out tasks with fewer votes, and count them.
    scale : str
        What labels are (docs/guides/scales.md): "nominal", "ordinal", "multi-label" (a label is a list), "numeric",
        "pairwise", "spans"; ``dissent.scales()`` lists them.
    fold_case : bool
        Labels that differ in case alone are one class, in lower case.
    trim : bool
        Remove spaces around labels.
    allow_many_classes : bool
        Accept a label column in which most values are different.
    a, b : str
        Pairwise: names of the columns of what is compared; label is the winner: "a", "b", "tie", or one of the two.
    start, end : str
        Spans: names of the columns of the start and the end (exclusive).

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
        fold_case: bool = False,
        trim: bool = False,
        allow_many_classes: bool = False,
        a: str | None = None,
        b: str | None = None,
        start: str | None = None,
        end: str | None = None,
        n_jobs: int | None = None,
        progress: ProgressLike = None,
    ) -> None:
        if word("scale", scale) in SHAPED:
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
        if labels.originals is not None:
            check_labels(labels.originals.values())
        no_votes = [] if na is None else listed("na", na, "labels")
        missing = ["" if _is_missing(x) or x == "" else labels.encode(x) for x in no_votes]
        declared = None
        classes = class_list(classes)
        if classes is not None:
            if not classes or any(map(_is_missing, classes)):
                raise _core.OptionError(f"classes is {classes!r}; list every class, or pass None to find them")
            declared = [labels.encode(c) for c in classes]
        elif labels.categories is not None and scale in _CLASSED:
            texts = [labels.encode(c) for c in labels.categories.values]
            declared = [text for text in texts if text and text not in missing]
        elif labels.originals is not None and scale == "nominal":
            declared = list(labels.originals)
        self.categories: Categories | None = None
        if labels.categories is not None and scale in _CLASSED:
            self.categories = labels.categories if classes is None else labels.categories.of_classes(classes)

        def make(order: list[str] | None) -> _core.Votes:
            return _core.votes_from_columns(
                *(column for column, _ in columns),
                classes=order,
                na=missing,
                duplicates=word("duplicates", duplicates),
                lenient=lenient,
                min_votes=integer("min_votes", min_votes),
                fold_case=fold_case and labels.originals is None,
                trim=trim and labels.originals is None,
                allow_many_classes=allow_many_classes,
                scale=scale,
                threads=threads_of(n_jobs),
                progress=progress_of(progress),
            )

        self.core: _core.Votes = make(declared)
        if declared is None and labels.kind == "float" and scale in _CLASSED:
            names_found = self.core.names("label")  # by bytes, where 10 is before 2.5
            by_value = sorted(names_found, key=float)
            if by_value != names_found:
                self.core = make(by_value)
        self.pandas: bool = is_pandas(data)
        self._notes: dict[str, Any] | None = None  # of a table that was pickled
        self._decoded: dict[str, np.ndarray] = {}
        self._warn()

    def _warn(self) -> None:
        """Warns about what is suspicious in the data."""
        for suspicious, text in self.core.messages():
            if suspicious:
                warnings.warn(text, VotesWarning, stacklevel=3)

    @property
    def messages(self) -> list[str]:
        """Notes about the table, such as detected columns and suspicious data."""
        return [text for _, text in self.core.messages()]

    @classmethod
    def _wrap(cls, core: _core.Votes, pandas: bool = False) -> Votes:
        votes = cls.__new__(cls)
        votes.core = core
        votes.axes = {role: Axis("text") for role in _ROLES}
        votes.pandas = pandas
        votes.categories = None
        votes._notes = None
        votes._decoded = {}
        return votes

    @classmethod
    def from_counts(
        cls, counts: Any, tasks: Sequence[Any] | None = None, classes: Sequence[Any] | None = None
    ) -> Votes:
        """Votes from counts: one row per task, one column per class, without worker ids.

        >>> Votes.from_counts([[3, 1], [0, 4]], classes=["no", "yes"])
        Votes(2 tasks, 0 workers, 2 classes, 2 votes)
        """
        pandas = is_pandas(counts)
        if pandas:
            tasks = list(counts.index) if tasks is None else tasks
            classes = list(counts.columns) if classes is None else classes
        try:
            array = np.ascontiguousarray(counts, dtype=np.float64)
        except (TypeError, ValueError) as e:
            raise _core.DataError(f"counts: {e}; give numbers, one row per task and one column per class") from None
        for role, ids in (("task", tasks), ("class", classes)):
            twice = None if ids is None else Ids(list(ids)).twice()
            if twice:
                raise _core.DataError(f"counts: the {role} {twice[0]!r} occurs twice")
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
    def ordered(self) -> bool:
        """Whether the column of labels declares an order, as an ordered Categorical of pandas, an Enum of polars, an
        ordered Arrow dictionary."""
        return self.categories is not None and self.categories.ordered

    def _labels(self, numbers: np.ndarray) -> Any:
        """Class numbers as labels, for tables: with the declared classes of the column, where there are any."""
        return typed(self.classes[numbers], self.categories)

    @property
    def scale(self) -> str:
        """The scale of the labels, such as "nominal" or "ordinal"."""
        return self.core.scale

    @property
    def notes(self) -> dict[str, Any]:
        """Counts of rows and of accepted irregularities (na, duplicates, bad_rows, items_left_out, ties, ...)."""
        return self.core.notes() if self._notes is None else self._notes

    def counts(self) -> np.ndarray:
        """Number of votes per task and class, (tasks, classes)."""
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

    def to_frame(self, kind: str | None = None) -> Any:
        """A frame with a row per vote: task, worker and label. kind is "pandas", "polars", "pyarrow", or None for the
        first that is installed."""
        from ._figures import Table
        from ._results import frame_of

        item, worker, label = self.rows()
        columns = {"task": self.tasks[item], "worker": self.workers[worker], "label": self._labels(label)}
        return frame_of(Table(columns), kind)

    def _repr_html_(self) -> str:
        from ._results import _table, _text

        c = self.core
        classes = ", ".join(map(str, self.classes[:10].tolist())) + (", ..." if c.n_classes > 10 else "")
        rows = [["tasks", f"{c.n_items:,}"], ["workers", f"{c.n_workers:,}"], ["votes", f"{c.n_votes:,}"]]
        rows += [["scale", _text(self.scale)], ["classes", _text(classes, 120)]]
        return _table(["", ""], rows, "votes", (0, 1))

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
            "categories": self.categories,
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
        self.categories = state.get("categories")
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
    fold_case: bool = False,
    trim: bool = False,
    allow_many_classes: bool = False,
    skip: int = 0,
    a: str | None = None,
    b: str | None = None,
    start: str | None = None,
    end: str | None = None,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> Votes:
    """Votes of one or more files together: CSV, TSV, JSON, JSONL, wide tables, npy; gzip and zstd too.

    The parameters that are not listed are those of :class:`Votes`.

    Parameters
    ----------
    *paths : path
        The files.
    input : {"votes", "counts", "mace", "soft", "wide"}
        What a row is.
    format : {"csv", "tsv", "json", "jsonl", "npy"}
        Default: by the extension of the file.
    preset : str
        A tool whose export it is: "label-studio", "prodigy", "doccano", ...; ``dissent.presets()`` lists them.
    task, worker, label : str
        Columns or paths (docs/reference/paths.md); with a preset, label names the question.
    time : str
        Column or path of the time of votes: duplicates "first" and "last" go by it.
    records : str
        JSON: keys that lead to the list of records.
    keep, drop : dict
        Paths and values: what to read alone, what to leave out.
    several : {"error", "all", "join"}
        Several labels in one answer: each a vote, or one class "a+b".
    delimiter : str
        The character that separates columns, "tab" or "space".
    header : bool
        Whether tables have one.
    skip : int
        Lines before the header that are not read.

    """
    for path in paths:
        if not isinstance(path, (str, bytes, os.PathLike)):
            raise TypeError(f"a path is expected, not {type(path).__name__}; Votes(table) takes tables")
    given = class_list(classes)
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
        classes=None if given is None else [id_text(c) for c in given],
        na=None if na is None else ["" if _is_missing(x) else id_text(x) for x in listed("na", na, "labels")],
        duplicates=duplicates,
        lenient=lenient,
        renormalise=renormalise,
        min_votes=integer("min_votes", min_votes),
        fold_case=fold_case,
        trim=trim,
        allow_many_classes=allow_many_classes,
        skip=integer("skip", skip),
        scale=scale,
        pair_a=a,
        pair_b=b,
        span_start=start,
        span_end=end,
        threads=threads_of(n_jobs),
        progress=progress_of(progress),
    )
    votes = Votes._wrap(core)
    votes._warn()
    return votes


def presets() -> dict[str, str]:
    """Presets for exports of other tools, and what each one reads.

    >>> presets()["mace"]
    'MACE: wide CSV without header, one row per item, one column per annotator'
    """
    return dict(_core.presets())


def scales() -> dict[str, str]:
    """The kinds of votes: names for ``scale``, and what each is.

    >>> scales()["nominal"]
    'unordered classes'
    """
    return {name: summary for name, summary, _ in _core.scales()}


def as_votes(data: Any, n_jobs: int | None = None) -> Votes:
    """Votes as they are, anything else made into them."""
    return data if isinstance(data, Votes) else Votes(data, n_jobs=n_jobs)
