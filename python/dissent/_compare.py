"""Tests whether one model is better than another, and on which items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from ._categories import declared_by
from ._columns import _sorted, is_pandas, records
from ._estimator import seed_of
from ._figures import Metric, Table, metric, metric_columns
from ._measuring import Watching, checked_count
from ._results import Values, _table, _text, frame_of
from ._checks import device_of, real, word
from ._running import ProgressLike
from ._ids import Ids
from ._tables import Aligned, LabelTable, gold_codes, known_labels, label_table, vote_places
from ._votes import as_votes


@dataclass(frozen=True)
class Significance:
    """One metric of two models: ``a``, ``b`` and ``difference`` are Metrics, ``p`` is of the paired bootstrap.

    ``p`` is the share of resamples whose difference is more than twice the observed one (Berg-Kirkpatrick et al. 2012);
    ``stars`` 2 for p <= .01, 1 for p <= .05. ``sd_a`` and ``sd_b`` are over seeds, None for one.
    """

    a: Metric
    b: Metric
    difference: Metric
    sd_a: float | None
    sd_b: float | None
    p: float | None
    p_two_sided: float | None
    stars: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
            "difference": self.difference.to_dict(),
            "sd_a": self.sd_a,
            "sd_b": self.sd_b,
            "p": self.p,
            "p_two_sided": self.p_two_sided,
            "stars": self.stars,
        }

    def _cells(self) -> list[str]:
        p = "–" if self.p is None else f"{self.p:.4g}{'*' * self.stars}"
        return [self.a._cell(), self.b._cell(), self.difference._cell(), p]

    def to_frame(self, kind: str | None = None) -> Any:
        """A frame with a row for A, B and their difference. kind is "pandas", "polars", "pyarrow", or None for the first
        that is installed."""
        columns = metric_columns([self.a, self.b, self.difference])
        return frame_of(Table({"model": ["A", "B", "A - B"], **columns}, "model"), kind)

    def _repr_html_(self) -> str:
        return _table(_HEAD, [["", *self._cells()]], "paired bootstrap")


_HEAD = ["", "A", "B", "A - B [95 %]", "p"]


@dataclass(frozen=True)
class Comparison:
    """The result of compare().

    ``accuracy`` and ``macro_f1`` are Significances. ``mcnemar`` has McNemar's test for each pair of seeds. ``cells``
    counts items (times pairs of seeds) that both sides, none, only A and only B predict correctly. With human labels,
    ``statistics`` has the mean kurtosis, entropy and largest probability of each cell, and a Mann-Whitney test of the
    two mixed cells. ``over`` is the population of intervals and p. With votes, ``n_annotators`` counts the annotators
    of the true labels. If they are fewer than 5, ``few_annotators`` is True: others might reverse the result.
    """

    n_items: int
    n_a: int
    n_b: int
    accuracy: Significance
    macro_f1: Significance
    mcnemar: list[dict[str, Any]]
    cells: dict[str, int]
    statistics: dict[str, dict[str, Any]] = field(default_factory=dict)
    over: str = "items"
    n_annotators: int = 0
    few_annotators: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The result as plain dicts and lists."""
        return {
            "items": self.n_items,
            "seeds_a": self.n_a,
            "seeds_b": self.n_b,
            "over": self.over,
            "annotators": self.n_annotators,
            "few_annotators": self.few_annotators,
            "accuracy": self.accuracy.to_dict(),
            "macro_f1": self.macro_f1.to_dict(),
            "mcnemar": self.mcnemar,
            "cells": self.cells,
            "statistics": {
                name: {**s, "mean": {cell: m.to_dict() for cell, m in s["mean"].items()}}
                for name, s in self.statistics.items()
            },
        }

    def __repr__(self) -> str:
        parts = []
        for name in ("accuracy", "macro_f1"):
            s: Significance = getattr(self, name)
            p = "" if s.p is None else f", p={s.p:.4g}"
            parts.append(
                f"{name}: A {s.a.value:.4f}, B {s.b.value:.4f}, A-B {s.difference.value:+.4f}{'*' * s.stars}{p}"
            )
        return f"Comparison({'; '.join(parts)})"

    def _repr_html_(self) -> str:
        rows = [[name, *getattr(self, name)._cells()] for name in ("accuracy", "macro_f1")]
        rows += [[_text(cell), str(n), "", "", ""] for cell, n in self.cells.items()]
        return _table(_HEAD, rows, f"{self.n_items} tasks, {self.n_a} against {self.n_b} seeds")

    def to_frame(self, kind: str | None = None) -> Any:
        """A frame with a row per metric: values of A and B, their difference with its 95 % interval, and p. kind is
        "pandas", "polars", "pyarrow", or None for the first that is installed."""
        names = ("accuracy", "macro_f1")
        both = [getattr(self, name) for name in names]
        columns: dict[str, Any] = {side: metric_columns([getattr(s, side) for s in both])["value"] for side in ("a", "b")}
        difference = metric_columns([s.difference for s in both])
        columns.update(difference=difference["value"], ci_low=difference["ci_low"], ci_high=difference["ci_high"])
        columns["p"] = np.array([np.nan if s.p is None else s.p for s in both])
        columns["stars"] = np.array([s.stars for s in both], dtype=np.int64)
        return frame_of(Table({"metric": list(names), **columns}, "metric"), kind)


def _sides(side: Any, name: str) -> list[Any]:
    """The seeds of a side: a list of tables or labels, or one of them, which may be a list of dicts, one per row."""
    if isinstance(side, (list, tuple)) and side and isinstance(side[0], Mapping) and "task" in side[0]:
        return [side]
    if isinstance(side, (list, tuple)) and side and not all(np.isscalar(x) or x is None for x in side):
        first = side[0]
        one_array = isinstance(first, (list, tuple)) and all(np.isscalar(x) for x in first)
        if not one_array or not isinstance(first[0], (float, np.floating)):
            return list(side)
    return [side]


def _is_hard(side: Any) -> bool:
    if isinstance(side, Values):
        return True
    if is_pandas(side):
        return side.ndim == 1
    if isinstance(side, Mapping):
        return not any(isinstance(v, Mapping) for v in side.values()) and "task" not in side
    if isinstance(side, np.ndarray):
        return side.ndim == 1
    rows = records(side)
    if rows is not None:
        return "label" in rows and set(rows) <= {"task", "label"}
    return isinstance(side, (list, tuple)) and all(np.isscalar(x) or x is None for x in side)


def _one_hot(side: Any, classes: Ids, what: str) -> LabelTable:
    ids, labels = known_labels(side, what)
    p = np.zeros((len(labels), len(classes.ids)))
    for i, label in enumerate(labels):
        k = -1 if label is None else classes.find(label)
        if k < 0:
            raise _core.DataError(f"{what}: the label {label!r} is not among the classes {classes.ids}")
        p[i, k] = 1
    return LabelTable(p, ids, classes.ids, is_pandas(side), what)


def compare(
    a: Any,
    b: Any,
    gold: Any = None,
    human: Any = None,
    *,
    votes: Any = None,
    over: str = "annotators",
    resamples: int = 10000,
    fraction: float = 1.0,
    pool_seeds: bool = False,
    alternative: str = "two-sided",
    lenient: bool = False,
    random_state: Any = 0,
    device: str = "cpu",
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> Comparison:
    """Tests whether model A is better than model B, and on which items.

    Parameters
    ----------
    a, b : predictions
        One table of distributions (see evaluate()) or labels by task, or a list of them, one per seed.
    gold : labels by task
        The true labels; or give votes.
    human : labels, optional
        Human labels, for the four cells.
    votes : Votes or a table
        Votes instead of gold: the true label of a task is the class with most votes, ties broken at random.
    over : "annotators" or "items"
        With votes, what intervals and p-values hold for: other annotators and other items, or other items alone. With
        "annotators" p is two-sided.
    resamples, fraction
        Resamples of the paired bootstrap, and the share of items that each draws.
    pool_seeds : bool
        Resample (item, seed) pairs instead of items.
    alternative : {"two-sided", "less", "greater"}
        Of the Mann-Whitney test, with "only A correct" as the first group.
    device : str
        Where items are drawn and added up for intervals, when they are many: "cpu", "cuda", "cuda:N", or "auto".

    >>> gold = ["x", "y", "y", "x"]
    >>> c = compare(["x", "y", "y", "y"], ["y", "y", "x", "y"], gold, resamples=0)
    >>> c.accuracy.difference.value, c.cells["only_a_correct"]
    (0.5, 2)
    """
    if (gold is None) == (votes is None):
        raise _core.OptionError("compare() needs the true labels: gold or votes")
    table = None if votes is None else as_votes(votes, n_jobs)
    sides = [(_sides(a, "a"), "a"), (_sides(b, "b"), "b")]
    people = None if human is None else label_table(human, "human")
    hard = [x for side, _ in sides for x in side if _is_hard(x)]
    truth = [] if gold is None else [gold]
    classes: Ids | None = people.classes if people is not None else None
    if hard and classes is None:
        found: dict[Any, None] = {}
        for x in [*hard, *truth]:
            found.update(dict.fromkeys(k for k in known_labels(x)[1] if k is not None))
        if table is not None:
            found.update(dict.fromkeys(table.classes.tolist()))
        for side, name in sides:
            for x in side:
                if not _is_hard(x):
                    t = label_table(x, name)
                    found.update(dict.fromkeys(t.classes.ids if t.classes else range(t.p.shape[1])))
        declared = next((c for c in map(declared_by, [*hard, *truth]) if c is not None), None)
        first = [] if declared is None else declared.values
        rest = [k for k in found if k not in first]
        classes = Ids([*first, *_sorted(rest)])
    tables = []
    for side, name in sides:
        for x in side:
            tables.append(_one_hot(x, classes, name) if _is_hard(x) and classes is not None else label_table(x, name))
    if people is not None:
        tables.append(people)
    aligned = Aligned(tables, lenient, classes=classes if hard else None)
    more: dict[str, Any] = {}
    if table is None:
        codes = gold_codes(gold, aligned.tasks, aligned.classes, lenient=lenient)
    else:
        more = {"votes": table.core, **vote_places(table, aligned, lenient)}
        codes = np.zeros(len(aligned.tasks.ids), dtype=np.int32)
    predicted = [np.ascontiguousarray(np.argmax(p, axis=1), dtype=np.int32) for p in aligned.p]
    n_a, n_b = len(sides[0][0]), len(sides[1][0])
    with Watching(n_jobs, progress) as watching:
        d = _core.compare(
            tuple(predicted[:n_a]),
            tuple(predicted[n_a : n_a + n_b]),
            codes,
            len(aligned.classes.ids),
            human=aligned.p[-1] if people is not None else None,
            seed=seed_of(random_state),
            resamples=checked_count("resamples", resamples),
            fraction=real("fraction", fraction),
            pool_seeds=pool_seeds,
            alternative=word("alternative", alternative),
            device=device_of(device),
            over=over,
            **more,
            **watching,
        )

    def significance(s: dict[str, Any]) -> Significance:
        return Significance(**{**s, **{side: metric(s[side]) for side in ("a", "b", "difference")}})

    statistics = {
        name: {**s, "mean": {cell: metric(m) for cell, m in s["mean"].items()}} for name, s in d["statistics"].items()
    }
    return Comparison(
        n_items=d["n_items"],
        n_a=d["n_a"],
        n_b=d["n_b"],
        accuracy=significance(d["metrics"]["accuracy"]),
        macro_f1=significance(d["metrics"]["macro_f1"]),
        mcnemar=d["mcnemar"],
        cells=d["cells"],
        statistics=statistics,
        over=d["over"],
        n_annotators=d["n_annotators"],
        few_annotators=d["few_annotators"],
    )
