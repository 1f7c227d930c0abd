"""How good labels, models and voters are.

>>> import dissent
>>> people = dissent.SoftLabels(["a", "b"], ["no", "yes"], [[0.8, 0.2], [0.5, 0.5]])
>>> model = dissent.SoftLabels(["b", "a"], ["no", "yes"], [[0.4, 0.6], [0.9, 0.1]])
>>> e = dissent.evaluate(model, gold={"a": "no", "b": "yes"}, human=people, bootstrap=0)
>>> e.accuracy, round(e.jsd, 6)
(1.0, 0.007513)
>>> e["top_k_accuracy"].value is None, e["top_k_accuracy"].reason
(True, 'k is not below the number of classes: always 1')
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from ._base import seed_of
from ._results import Values, _table, _text
from ._tables import (
    Aligned,
    Figures,
    Ids,
    LabelTable,
    Metric,
    Table,
    gold_codes,
    id_texts,
    known_labels,
    label_table,
    make_table,
    metric,
    read_labels,
    write_labels,
)
from ._votes import ProgressLike, Votes, _sorted, as_votes, is_pandas, progress_of, threads_of

__all__ = [
    "Agreement",
    "Comparison",
    "Evaluation",
    "Metric",
    "Review",
    "Significance",
    "Table",
    "ViewDistances",
    "agreement",
    "agreement_measures",
    "compare",
    "evaluate",
    "metrics",
    "read_labels",
    "report",
    "review",
    "view_distances",
    "write_labels",
]


def metrics() -> list[dict[str, Any]]:
    """What evaluate() measures: name, summary, which direction is better, what it needs.

    >>> metrics()[0]["name"]
    'accuracy'
    """
    return _core.metrics()


def agreement_measures() -> list[dict[str, Any]]:
    """What agreement() measures: name, title, what it does about missing votes, source.

    >>> [m["name"] for m in agreement_measures()][:2]
    ['percent', 'fleiss']
    """
    return _core.agreement_measures()


class _Watching:
    """Progress and threads of one call."""

    def __init__(self, n_jobs: int | None, progress: ProgressLike) -> None:
        self.threads = threads_of(n_jobs)
        self.progress = progress_of(progress)

    def __enter__(self) -> dict[str, Any]:
        return {"threads": self.threads, "progress": self.progress}

    def __exit__(self, *error: object) -> None:
        if hasattr(self.progress, "close"):
            self.progress.close()


def _count(name: str, value: int) -> int:
    if not 0 <= int(value) < 2**31:
        raise _core.OptionError(f"{name} is a whole number from 0 to {2**31 - 1}, not {value!r}")
    return int(value)


def _columns(table: Mapping[str, Any]) -> dict[str, np.ndarray]:
    return {name: np.asarray(values) for name, values in table.items()}


def _figures(found: Mapping[str, Any]) -> dict[str, Metric]:
    return {name: metric(m) for name, m in found.items()}


def _number(m: Mapping[str, Any]) -> float:
    return np.nan if m["value"] is None else m["value"]


# ---- evaluate ----


class Evaluation(Figures):
    """What evaluate() found.

    Figures are attributes (``e.accuracy``: a number, or None where it cannot be measured) and, with interval, n and the
    reason why there is none, items (``e["accuracy"]``: a Metric). ``by_class``, ``bins`` and ``items`` are tables,
    ``confusion`` an array (gold, predicted); they are None where there is nothing to show.
    """

    def __init__(self, found: dict[str, Any], aligned: Aligned, gold: np.ndarray | None, human: bool) -> None:
        needs = {m["name"]: m for m in _core.metrics()}
        self._figures = {
            name: m
            for name, m in _figures(found["metrics"]).items()
            if (gold is not None or not needs[name]["needs_gold"]) and (human or not needs[name]["needs_human"])
        }
        self.n_items: int = found["n_items"]
        self.n_gold: int = found["n_gold"]
        self.classes: np.ndarray = aligned.class_column()
        self.left_out = aligned.left_out
        self.floored: int = found["floored"]
        self.human_floored: int = found["human_floored"]
        self.temperatures: list[dict[str, Any]] = found["temperatures"]
        self.majority_class: Any = None if found["majority"] is None else self.classes.tolist()[found["majority"]]
        self._caption = f"{self.n_items} tasks, {self.n_gold} with gold labels"
        k, pandas = len(self.classes), aligned.pandas
        self.confusion: np.ndarray | None = None if found["confusion"] is None else np.asarray(found["confusion"]).reshape(k, k)
        self.by_class: Any = None
        if found["classes"]:
            rows = found["classes"]
            columns: dict[str, Any] = {"label": self.classes}
            columns.update({c: np.array([r[c] for r in rows]) for c in ("gold", "predicted", "right")})
            for c in ("precision", "recall", "f1"):
                columns[c] = np.array([_number(r[c]) for r in rows])
                if rows[0][c]["ci_low"] is not None:
                    columns[f"{c}_ci_low"] = np.array([np.nan if r[c]["ci_low"] is None else r[c]["ci_low"] for r in rows])
                    columns[f"{c}_ci_high"] = np.array([np.nan if r[c]["ci_high"] is None else r[c]["ci_high"] for r in rows])
            self.by_class = make_table(columns, "label", pandas)
        bins = _columns(found["bins"])
        self.bins: Any = make_table(bins, None, pandas) if len(bins["n"]) else None
        self.items: Any = None
        if found["items"] is not None:
            values = _columns(found["items"])
            columns = {"task": aligned.task_column()}
            if gold is not None:
                labels = np.empty(len(gold), dtype=object)
                labels[:] = [None if c < 0 else self.classes.tolist()[c] for c in gold]
                columns["gold"] = labels
            columns["predicted"] = self.classes[values.pop("predicted")]
            self.items = make_table({**columns, **values}, "task", pandas)

    def to_dict(self) -> dict[str, Any]:
        """The figures as the command line's JSON has them."""
        return {
            "items": self.n_items,
            "gold": self.n_gold,
            "classes": self.classes.tolist(),
            "floored": self.floored,
            "metrics": {name: m.to_dict() for name, m in self._figures.items()},
        }


def evaluate(
    pred: Any,
    gold: Any = None,
    human: Any = None,
    *,
    metrics: Sequence[str] | None = None,
    groups: Any = None,
    bootstrap: int = 1000,
    fraction: float = 1.0,
    ordinal: bool = False,
    keep_items: bool = False,
    top_k: int = 3,
    n_splits: int = 5,
    n_bins: int = 15,
    lenient: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> Evaluation:
    """Measures predicted distributions against gold labels, against people, or both.

    Parameters
    ----------
    pred : labels
        SoftLabels, a fitted aggregator, a DataFrame (rows tasks, columns classes), a table with task and p:CLASS columns, an
        array (tasks, classes), or a file.
    gold : labels by task
        A Series, a dict, Values, a table with task and label, or a list in the order of the rows. None: not known.
    human : labels
        What people say, as pred.
    metrics : list of str, optional
        Only these; None: all.
    groups : by task
        Items of one group (tokens of a sentence) stay in one half of a split for calibrated_log_likelihood.
    bootstrap : int
        Resamples for the 95 % intervals; 0: none.
    fraction : float
        Share of the items that a resample draws.
    ordinal : bool
        The order of the classes means something.
    keep_items : bool
        Also the values of single items, in ``items``.
    lenient : bool
        Leave out tasks that not all have, take missing classes as 0; otherwise those are errors.
    """
    tables = [label_table(pred, "predictions")]
    if human is not None:
        tables.append(label_table(human, "human"))
    aligned = Aligned(tables, lenient)
    if gold is not None and lenient:
        more = [g for g in dict.fromkeys(known_labels(gold)[1]) if g is not None and aligned.classes.find(g) < 0]
        if more:
            aligned = Aligned(tables, lenient, classes=Ids(_sorted([*aligned.classes.ids, *more])))
    codes = None if gold is None else gold_codes(gold, aligned.tasks, aligned.classes, lenient=lenient)
    group, n_groups = _group_numbers(groups, aligned.tasks)
    with _Watching(n_jobs, progress) as watching:
        found = _core.evaluate(
            aligned.p[0],
            len(aligned.tasks.ids),
            len(aligned.classes.ids),
            gold=codes,
            human=aligned.p[1] if human is not None else None,
            group=group,
            n_groups=n_groups,
            metrics=None if metrics is None else list(metrics),
            seed=seed_of(random_state),
            resamples=_count("bootstrap", bootstrap),
            fraction=float(fraction),
            ordinal=ordinal,
            keep_items=keep_items,
            top_k=top_k,
            n_splits=n_splits,
            n_bins=n_bins,
            **watching,
        )
    if metrics is not None:
        found["metrics"] = {name: found["metrics"][name] for name in metrics}
    aligned.pandas = aligned.pandas or is_pandas(gold)
    return Evaluation(found, aligned, codes, human is not None)


def _group_numbers(groups: Any, tasks: Ids) -> tuple[np.ndarray | None, int]:
    if groups is None:
        return None, 0
    ids, names = known_labels(groups, "groups")
    number: dict[Any, int] = {}
    group = np.zeros(len(tasks.ids), dtype=np.uint32)
    seen = np.zeros(len(tasks.ids), dtype=bool)
    places = np.arange(len(names)) if ids is None else tasks.find_all(ids)
    if ids is None and len(names) != len(tasks.ids):
        raise _core.DataError(f"groups: {len(names)} of them without task ids for {len(tasks.ids)} tasks")
    for i, name in zip(places.tolist(), names):
        if i >= 0:
            group[i] = number.setdefault(name, len(number))
            seen[i] = True
    if not seen.all():
        raise _core.DataError(f"groups: none for the task {tasks.ids[int(np.argmin(seen))]!r}; add it")
    return group, len(number)


# ---- compare ----


@dataclass(frozen=True)
class Significance:
    """One figure of two sides: ``a``, ``b`` and ``difference`` are Metrics, ``p`` is of the paired bootstrap.

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


@dataclass(frozen=True)
class Comparison:
    """What compare() found.

    ``accuracy`` and ``macro_f1`` are Significances; ``mcnemar`` has McNemar's test for each pair of seeds; ``cells`` counts
    items (times pairs of seeds) that both sides, none, only A and only B has right; ``statistics``, with human labels, says
    what kind of items these are: the mean of kurtosis, entropy and largest probability in each cell, and a Mann-Whitney test
    of the two mixed cells.
    """

    n_items: int
    n_a: int
    n_b: int
    accuracy: Significance
    macro_f1: Significance
    mcnemar: list[dict[str, Any]]
    cells: dict[str, int]
    statistics: dict[str, dict[str, Any]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain dicts and lists."""
        return {
            "items": self.n_items,
            "seeds_a": self.n_a,
            "seeds_b": self.n_b,
            "accuracy": self.accuracy.to_dict(),
            "macro_f1": self.macro_f1.to_dict(),
            "mcnemar": self.mcnemar,
            "cells": self.cells,
            "statistics": {
                name: {**s, "mean": {cell: m.to_dict() for cell, m in s["mean"].items()}} for name, s in self.statistics.items()
            },
        }

    def __repr__(self) -> str:
        parts = []
        for name in ("accuracy", "macro_f1"):
            s: Significance = getattr(self, name)
            p = "" if s.p is None else f", p={s.p:.4g}"
            parts.append(f"{name}: A {s.a.value:.4f}, B {s.b.value:.4f}, A-B {s.difference.value:+.4f}{'*' * s.stars}{p}")
        return f"Comparison({'; '.join(parts)})"

    def _repr_html_(self) -> str:
        rows = []
        for name in ("accuracy", "macro_f1"):
            s: Significance = getattr(self, name)
            p = "–" if s.p is None else f"{s.p:.4g}{'*' * s.stars}"
            rows.append([name, s.a._cell(), s.b._cell(), s.difference._cell(), p])
        rows += [[_text(cell), str(n), "", "", ""] for cell, n in self.cells.items()]
        return _table(["", "A", "B", "A - B [95 %]", "p"], rows, f"{self.n_items} tasks, {self.n_a} against {self.n_b} seeds")


def _sides(side: Any, name: str) -> list[Any]:
    """The seeds of a side: a list of tables or labels, or one of them."""
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
    gold: Any,
    human: Any = None,
    *,
    bootstrap: int = 10000,
    fraction: float = 1.0,
    pool_seeds: bool = False,
    alternative: str = "two-sided",
    lenient: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> Comparison:
    """Is model A better than model B, and on which items?

    Parameters
    ----------
    a, b : predictions
        One table of distributions (see evaluate()) or labels by task, or a list of them, one a seed.
    gold : labels by task
        The true labels.
    human : labels, optional
        What people say: for the four cells.
    bootstrap, fraction
        Resamples of the paired bootstrap, and the share of items that each draws.
    pool_seeds : bool
        Resample (item, seed) pairs instead of items.
    alternative : {"two-sided", "less", "greater"}
        Of the Mann-Whitney test, "only A right" being the first group.

    >>> gold = ["x", "y", "y", "x"]
    >>> c = compare(["x", "y", "y", "y"], ["y", "y", "x", "y"], gold, bootstrap=0)
    >>> c.accuracy.difference.value, c.cells["only_a_right"]
    (0.5, 2)
    """
    if gold is None:
        raise _core.OptionError("compare() needs the true labels")
    sides = [(_sides(a, "a"), "a"), (_sides(b, "b"), "b")]
    people = None if human is None else label_table(human, "human")
    hard = [x for side, _ in sides for x in side if _is_hard(x)]
    classes: Ids | None = people.classes if people is not None else None
    if hard and classes is None:
        found: dict[Any, None] = {}
        for x in [*hard, gold]:
            found.update(dict.fromkeys(k for k in known_labels(x)[1] if k is not None))
        for side, name in sides:
            for x in side:
                if not _is_hard(x):
                    t = label_table(x, name)
                    found.update(dict.fromkeys(t.classes.ids if t.classes else range(t.p.shape[1])))
        classes = Ids(_sorted(list(found)))
    tables = []
    for side, name in sides:
        for x in side:
            tables.append(_one_hot(x, classes, name) if _is_hard(x) and classes is not None else label_table(x, name))
    if people is not None:
        tables.append(people)
    aligned = Aligned(tables, lenient, classes=classes if hard else None)
    codes = gold_codes(gold, aligned.tasks, aligned.classes, lenient=lenient)
    predicted = [np.ascontiguousarray(np.argmax(p, axis=1), dtype=np.int32) for p in aligned.p]
    n_a, n_b = len(sides[0][0]), len(sides[1][0])
    with _Watching(n_jobs, progress) as watching:
        d = _core.compare(
            tuple(predicted[:n_a]),
            tuple(predicted[n_a : n_a + n_b]),
            codes,
            len(aligned.classes.ids),
            human=aligned.p[-1] if people is not None else None,
            seed=seed_of(random_state),
            resamples=_count("bootstrap", bootstrap),
            fraction=float(fraction),
            pool_seeds=pool_seeds,
            alternative=alternative,
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
    )


# ---- agreement ----


class Agreement(Figures):
    """What agreement() found.

    Coefficients are attributes (``a.alpha_nominal``: a number, or None) and items (``a["alpha_nominal"]``: a Metric with
    interval, n and reason). ``classes``, ``items``, ``workers`` and ``pairs`` are tables; those that were not asked for, or
    need workers that are not known, are None.
    """

    def __init__(self, found: dict[str, Any], votes: Votes) -> None:
        self._figures = _figures(found["metrics"])
        for name in ("n_items", "n_workers", "compared", "singles", "empty", "votes", "votes_compared", "pairs_too_small", "pairs_degenerate"):
            setattr(self, name, found[name])
        self._caption = f"{found['compared']} tasks with two votes or more of {found['n_items']}"
        pandas = votes.pandas
        rows = found["classes"]
        self.classes: Any = make_table(
            {
                "label": votes.classes,
                "votes": np.array([r["votes"] for r in rows], dtype=np.int64),
                "share": np.array([np.nan if r["share"] is None else r["share"] for r in rows]),
                **{c: np.array([_number(r[c]) for r in rows]) for c in ("agreement", "fleiss", "alpha")},
            },
            "label",
            pandas,
        )
        self.items: Any = None
        if found["items"] is not None:
            columns = _columns(found["items"])
            columns["top"] = votes.classes[columns["top"]]
            self.items = make_table({"task": votes.tasks, **columns}, "task", pandas)
        self.workers: Any = None
        if found["workers"] is not None:
            self.workers = make_table({"worker": votes.workers, **_columns(found["workers"])}, "worker", pandas)
        self.pairs: Any = None
        if found["pairs"] is not None:
            columns = _columns(found["pairs"])
            columns.update({side: votes.workers[columns[side]] for side in "ab"})
            columns["degenerate"] = columns["degenerate"].astype(bool)
            self.pairs = make_table(columns, None, pandas)

    def _shown(self) -> dict[str, Metric]:
        return {name: m for name, m in self._figures.items() if m.value is not None}

    def to_dict(self) -> dict[str, Any]:
        """The coefficients as the command line's JSON has them."""
        return {
            "items": self.__dict__["n_items"],
            "compared": self.__dict__["compared"],
            "metrics": {name: m.to_dict() for name, m in self._figures.items()},
        }


def _known(votes: Votes, gold: Any) -> np.ndarray | None:
    return None if gold is None else gold_codes(gold, Ids(votes.tasks.tolist()), Ids(votes.classes.tolist()))


def agreement(
    votes: Any,
    gold: Any = None,
    *,
    items: bool = True,
    workers: bool = True,
    pairs: bool = True,
    ordinal: bool = False,
    singles: bool = False,
    bootstrap: int = 1000,
    most_pairs: int | None = None,
    least_common: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> Agreement:
    """How far voters agree: overall, by task, worker, class and pair of workers.

    Parameters
    ----------
    votes : Votes or a table
        As aggregators take them.
    gold : labels by task, optional
        Known labels: then also how often workers are right.
    items, workers, pairs : bool
        Which tables to make; without pairs the coefficients cohen* are left out.
    ordinal : bool
        The order of the classes means something; taken for granted when all are numbers.
    singles : bool
        Items with one vote count in the chance agreement of Fleiss and Gwet.
    bootstrap : int
        Resamples of the items for 95 % intervals; 0: none.
    most_pairs, least_common : int
        Most pairs of workers to look at, and the votes that a pair must share to count in cohen*.

    >>> votes = [("t1", "a", "x"), ("t1", "b", "x"), ("t2", "a", "y"), ("t2", "b", "x"), ("t3", "a", "y"), ("t3", "b", "y")]
    >>> result = agreement(votes, bootstrap=0)
    >>> round(result.alpha_nominal, 4), result.workers["votes"].tolist()
    (0.4444, [3, 3])
    """
    table = as_votes(votes, n_jobs)
    more: dict[str, int] = {}
    if most_pairs is not None:
        more["most_pairs"] = _count("most_pairs", most_pairs)
    if least_common is not None:
        more["least_common"] = _count("least_common", least_common)
    with _Watching(n_jobs, progress) as watching:
        found = _core.agreement(
            table.core,
            gold=_known(table, gold),
            items=items,
            workers=workers,
            pairs=pairs,
            ordinal=ordinal,
            singles=singles,
            seed=seed_of(random_state),
            bootstrap=_count("bootstrap", bootstrap),
            **more,
            **watching,
        )
    return Agreement(found, table)


# ---- distances of views ----


@dataclass(frozen=True)
class ViewDistances:
    """What view_distances() found: ``jsd[i][j]`` is the mean Jensen-Shannon divergence (nats) of views i and j, a Metric.

    ``entropy``, ``to_others`` and ``to_centroid`` have one Metric a view; ``hub_over_items`` and ``hub_over_views`` are the
    correlations of being near the centroid and near the others.
    """

    names: list[str]
    n_items: int
    jsd: list[list[Metric]]
    entropy: list[Metric]
    to_others: list[Metric]
    to_centroid: list[Metric]
    hub_over_items: Metric
    hub_over_views: Metric

    def matrix(self) -> np.ndarray:
        """The distances as an array (views, views)."""
        return np.array([[m.value for m in row] for row in self.jsd], dtype=np.float64)

    def to_pandas(self) -> Any:
        """The distances as a DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.matrix(), index=self.names, columns=self.names)

    def to_dict(self) -> dict[str, Any]:
        return {
            "views": self.names,
            "items": self.n_items,
            "jsd": [[m.to_dict() for m in row] for row in self.jsd],
            **{name: [m.to_dict() for m in getattr(self, name)] for name in ("entropy", "to_others", "to_centroid")},
            "hub_over_items": self.hub_over_items.to_dict(),
            "hub_over_views": self.hub_over_views.to_dict(),
        }

    def __repr__(self) -> str:
        return f"ViewDistances({len(self.names)} views of {self.n_items} tasks: {', '.join(self.names)})"

    def _repr_html_(self) -> str:
        rows = [[_text(n), *(m._cell() for m in row)] for n, row in zip(self.names, self.jsd)]
        return _table(["nats", *(_text(n) for n in self.names)], rows, f"mean Jensen-Shannon divergence, {self.n_items} tasks")


def _named(views: Any) -> dict[str, Any]:
    if isinstance(views, Mapping):
        return {str(k): v for k, v in views.items()}
    named: dict[str, Any] = {}
    for i, v in enumerate(views):
        name = type(v).__name__ if hasattr(v, "get_params") else f"view {i + 1}"
        named[name if name not in named else f"{name} {i + 1}"] = v
    return named


def view_distances(
    views: Mapping[str, Any] | Iterable[Any],
    *,
    bootstrap: int = 1000,
    fraction: float = 1.0,
    lenient: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> ViewDistances:
    """How far several sets of soft labels of the same tasks are apart.

    views are tables of labels (see evaluate()) or fitted aggregators, in a dict by name or in a list.

    >>> a, b = [[1.0, 0.0], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]
    >>> view_distances({"a": a, "b": b}, bootstrap=0).matrix().round(4).tolist()
    [[0.0, 0.1079], [0.1079, 0.0]]
    """
    named = _named(views)
    if not named:
        raise _core.OptionError("no views")
    aligned = Aligned([label_table(v, name) for name, v in named.items()], lenient)
    with _Watching(n_jobs, progress) as watching:
        d = _core.distances(
            tuple(aligned.p),
            len(aligned.tasks.ids),
            len(aligned.classes.ids),
            seed=seed_of(random_state),
            resamples=_count("bootstrap", bootstrap),
            fraction=float(fraction),
            **watching,
        )
    n = len(named)
    return ViewDistances(
        names=list(named),
        n_items=d["n_items"],
        jsd=[[metric(d["jsd"][i * n + j]) for j in range(n)] for i in range(n)],
        **{name: [metric(m) for m in d[name]] for name in ("entropy", "to_others", "to_centroid")},
        hub_over_items=metric(d["hub_over_items"]),
        hub_over_views=metric(d["hub_over_views"]),
    )


# ---- review ----


class Review:
    """What review() found: ``items`` and ``workers`` are tables, ranked, each row with its reason in plain words.

    ``right`` is the expected share of right labels now, ``right_after`` once the budget is spent as column ``buy`` proposes,
    ``spent`` how much of it has somewhere to go, ``typical`` the chance that a typical worker's vote is right.
    """

    def __init__(self, found: dict[str, Any], votes: Votes) -> None:
        self.method: str = found["method"]
        self.n_items: int = found["n_items"]
        self.right: float = found["right"]
        self.right_after: float = found["right_after"]
        self.spent: int = found["spent"]
        self.typical: float = found["typical"]
        columns = _columns(found["items"] or {})
        tasks = votes.tasks[columns.pop("item")]
        for name in ("label", "other"):
            columns[name] = votes.classes[columns[name]]
        columns["known"] = columns["known"].astype(bool)
        self.items: Any = make_table({"task": tasks, **columns, "reason": found["item_reasons"]}, "task", votes.pandas)
        self.workers: Any = None
        if found["workers"] is not None:
            columns = _columns(found["workers"])
            ids = votes.workers[columns.pop("worker")]
            for name in ("said", "truth"):
                columns[name] = votes.classes[columns[name]]
            self.workers = make_table(
                {"worker": ids, "cause": found["causes"], **columns, "reason": found["worker_reasons"]}, "worker", votes.pandas
            )

    def to_dict(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "items": self.n_items,
            "right": self.right,
            "right_after": self.right_after,
            "spent": self.spent,
            "typical": self.typical,
        }

    def __repr__(self) -> str:
        return f"Review({self.n_items} tasks, expected share of right labels {self.right:.4f}, after {self.spent} more votes {self.right_after:.4f})"

    def _repr_html_(self) -> str:
        html = f"<p>{_text(repr(self), 200)}</p>"
        for table in (self.items, self.workers):
            if table is not None:
                html += table._repr_html_() if isinstance(table, Table) else table.head(10)._repr_html_()
        return html


def review(
    votes: Any,
    budget: int = 0,
    *,
    by: str = "gain",
    gold: Any = None,
    method: str | None = None,
    top: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> Review:
    """Which items to label again, and which workers to look at.

    Parameters
    ----------
    votes : Votes or a table
        As aggregators take them.
    budget : int
        Votes that can be bought: column ``buy`` says where.
    by : {"gain", "doubt", "surprise"}
        Order of the items: where further votes help most, where the label is most likely wrong, where votes are least like
        those workers.
    gold : labels by task, optional
        Known labels.
    method : str, optional
        First labels come from this method, as the command line names it ("dawid-skene").
    top : int, optional
        Only so many rows of items.

    >>> votes = [("t1", "a", "x"), ("t1", "b", "x"), ("t2", "a", "y"), ("t2", "b", "x"), ("t3", "a", "y"), ("t3", "b", "y")]
    >>> r = review(votes, budget=2)
    >>> r.items["task"][0], int(r.items["buy"].sum()) == r.spent
    ('t2', True)
    """
    table = as_votes(votes, n_jobs)
    with _Watching(n_jobs, progress) as watching:
        found = _core.review(
            table.core,
            method=method,
            gold=_known(table, gold),
            budget=_count("budget", budget),
            by=by,
            seed=seed_of(random_state),
            **({} if top is None else {"top": _count("top", top)}),
            **watching,
        )
    return Review(found, table)


# ---- report ----


def report(
    path: str | os.PathLike[str],
    votes: Any = None,
    labels: Any = None,
    predictions: Any = None,
    *,
    gold: Any = None,
    human: Any = None,
    curves: Any = None,
    title: str | None = None,
    ordinal: bool = False,
    bootstrap: int = 1000,
    lenient: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> None:
    """Writes one HTML file that shows what votes, labels and models say; it works offline.

    Parameters
    ----------
    path : file
        Where the page goes, whole or not at all.
    votes : Votes or a table, optional
        The votes; workers are judged by the last of the labels.
    labels : labels or a dict of them by name, optional
        Views of the labels: fitted aggregators (whose iterations are shown too), SoftLabels, DataFrames. Of the tasks and
        classes of the votes, where there are votes.
    predictions : labels or a dict of them by name, optional
        What models say of other items, or the same; gold and human are of these where there are any, else of the votes.
    curves : a SoftClassifier or a dict of them by name, optional
        How they were trained.
    """
    if votes is None and labels is not None:
        votes = next((v.votes_ for v in _one_or_named(labels, "labels").values() if hasattr(v, "votes_")), None)
    table = None if votes is None else as_votes(votes, n_jobs)
    part = None
    if table is not None or labels is not None:
        part = _label_part(table, labels, gold if predictions is None else None, lenient)
    tests = None
    if predictions is not None:
        named = {k: label_table(v, k) for k, v in _one_or_named(predictions, "model").items()}
        if not named:
            raise _core.OptionError("no predictions")
        tables = list(named.values()) + ([label_table(human, "human")] if human is not None else [])
        aligned = Aligned(tables, lenient)
        tests = (
            len(aligned.tasks.ids),
            id_texts(aligned.classes.ids),
            None if gold is None else gold_codes(gold, aligned.tasks, aligned.classes, lenient=lenient),
            aligned.p[-1] if human is not None else None,
            tuple(zip(named, aligned.p)),
        )
    runs = tuple((name, c.model_) for name, c in _one_or_named(curves, "model").items()) if curves is not None else ()
    with _Watching(n_jobs, progress) as watching:
        _core.report(
            os.fspath(path),
            part,
            tests,
            runs,
            title=title,
            seed=seed_of(random_state),
            bootstrap=_count("bootstrap", bootstrap),
            ordinal=ordinal,
            **watching,
        )


def _one_or_named(things: Any, name: str) -> dict[str, Any]:
    if isinstance(things, Mapping) and not any(isinstance(v, Mapping) for v in things.values()) and "task" not in things:
        return {str(k): v for k, v in things.items()}
    if isinstance(things, (list, tuple)) and things and not np.isscalar(things[0]) and not isinstance(things[0], (list, tuple)):
        return _named(things)
    return {type(things).__name__ if hasattr(things, "get_params") else name: things}


def _label_part(votes: Votes | None, labels: Any, gold: Any, lenient: bool) -> tuple[Any, ...]:
    named = {} if labels is None else _one_or_named(labels, "labels")
    tables = [label_table(v, k) for k, v in named.items()]
    if votes is not None:
        tasks, classes = Ids(votes.tasks.tolist()), Ids(votes.classes.tolist())
        numbers = Aligned(tables, False, tasks, classes).p if tables else []
        texts = votes.core.names("task"), votes.core.names("label")
    else:
        aligned = Aligned(tables, lenient)
        tasks, classes, numbers = aligned.tasks, aligned.classes, aligned.p
        texts = id_texts(tasks.ids), id_texts(classes.ids)
    views = []
    for (name, given), p in zip(named.items(), numbers):
        fit = None
        if votes is not None and hasattr(given, "votes_") and _same_votes(votes, given.votes_):
            fit = given._fitted.get("fit")
        views.append((name, fit, p))
    codes = None if gold is None else gold_codes(gold, tasks, classes, lenient=lenient or votes is not None)
    return None if votes is None else votes.core, *texts, codes, tuple(views)


def _same_votes(a: Votes, b: Votes) -> bool:
    """Whether a fit to one is a fit to the other."""
    if a is b:
        return True
    sizes = [(v.core.n_items, v.core.n_classes, v.core.n_votes) for v in (a, b)]
    return sizes[0] == sizes[1] and all(a.core.names(role) == b.core.names(role) for role in ("task", "label"))


def _list_of(rows: Iterable[Mapping[str, Any]], text: str) -> str:
    return "\n".join(f"    - ``{r['name']}``: {r[text]}" for r in rows)


evaluate.__doc__ = f"{evaluate.__doc__}\n    What is measured:\n\n{_list_of(_core.metrics(), 'summary')}\n    "
agreement.__doc__ = f"{agreement.__doc__}\n    What is measured:\n\n{_list_of(_core.agreement_measures(), 'title')}\n    "
