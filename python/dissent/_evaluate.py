"""Predictions against gold labels and against people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._categories import Categories, declared_by
from ._columns import is_pandas
from ._estimator import seed_of
from ._figures import Figures, make_table
from ._groups import _metric_columns
from ._measuring import Watching, checked_count, columns_of, figures_of, list_of, number_of
from ._checks import device_of, listed, real, integer
from ._running import ProgressLike
from ._ids import Ids
from ._tables import Aligned, LabelTable, gold_codes, known_labels, label_table, vote_places, with_classes


def metrics() -> list[dict[str, Any]]:
    """What evaluate() measures: name, summary, which direction is better, what it needs.

    >>> metrics()[0]["name"]
    'accuracy'
    """
    return _core.metrics()


class Evaluation(Figures):
    """What evaluate() found.

    Figures are attributes (``e.accuracy``: a number, or None where it cannot be measured) and, with interval, n and the
    reason for a missing value, items (``e["accuracy"]``: a Metric). ``by_class``, ``bins`` and ``items`` are tables,
    ``confusion`` an array (gold, predicted). ``by_class_share`` has soft precision, recall and F1 per class, ``human_bins``
    the mean predicted and human shares and entropies in bins. They are None if they are empty. ``over`` is what intervals of
    figures against people hold for; ``few_annotators``: other annotators might reverse the result.
    """

    def __init__(
        self, found: dict[str, Any], aligned: Aligned, gold: np.ndarray | None, human: bool, multi_label: bool = False
    ) -> None:
        needs = {m["name"]: m for m in _core.metrics()}
        self._figures = {
            name: m
            for name, m in figures_of(found["metrics"]).items()
            if (gold is not None or not needs[name]["needs_gold"])
            and (human or not needs[name]["needs_human"])
            and (multi_label or not needs[name]["needs_sets"])
        }
        self._arrows = {name: {"higher": " ↑", "lower": " ↓"}.get(m["better"], "") for name, m in needs.items()}
        self.n_items: int = found["n_items"]
        self.n_gold: int = found["n_gold"]
        self.over: str = found["over"]
        self.n_annotators: int | None = found["n_annotators"] or None
        self.few_annotators: bool = found["few_annotators"]
        self.classes: np.ndarray = aligned.class_column()
        self.left_out = aligned.left_out
        self.floored: int = found["floored"]
        self.human_floored: int = found["human_floored"]
        self.temperatures: list[dict[str, Any]] = found["temperatures"]
        self.majority_class: Any = None if found["majority"] is None else self.classes.tolist()[found["majority"]]
        self._caption = f"{self.n_items} tasks, {self.n_gold} with gold labels"
        if self.few_annotators:
            self._caption += f"; {self.n_annotators} annotators: others might reverse the result"
        k, pandas = len(self.classes), aligned.pandas
        self.confusion: np.ndarray | None = (
            None if found["confusion"] is None else np.asarray(found["confusion"]).reshape(k, k)
        )
        self.by_class: Any = None
        if found["classes"]:
            rows = found["classes"]
            columns: dict[str, Any] = {"label": self.classes}
            columns.update({c: np.array([r[c] for r in rows]) for c in ("gold", "predicted", "correct")})
            for c in ("precision", "recall", "f1"):
                columns[c] = np.array([number_of(r[c]) for r in rows])
                if rows[0][c]["ci_low"] is not None:
                    columns[f"{c}_ci_low"] = np.array(
                        [np.nan if r[c]["ci_low"] is None else r[c]["ci_low"] for r in rows]
                    )
                    columns[f"{c}_ci_high"] = np.array(
                        [np.nan if r[c]["ci_high"] is None else r[c]["ci_high"] for r in rows]
                    )
            self.by_class = make_table(columns, "label", pandas)
        self.by_class_share: Any = None
        if found["soft_classes"]:
            rows = found["soft_classes"]
            columns = {"label": self.classes}
            columns.update({f"{c}_share": np.array([r[c] for r in rows]) for c in ("human", "predicted")})
            for c in ("precision", "recall", "f1", "brier", "cross_entropy"):
                columns.update(_metric_columns(c, [r[c] for r in rows]))
            self.by_class_share = make_table(columns, "label", pandas)
        self.human_bins: Any = None
        bins = columns_of(found["human_bins"])
        if len(bins["n"]):
            of_class = bins.pop("class")
            entropy = (of_class < 0) | (of_class >= k)
            names = np.empty(len(of_class), dtype=object)
            names[:] = [None if e else self.classes.tolist()[c] for c, e in zip(of_class.tolist(), entropy)]
            kind = np.where(entropy, "entropy", "probability").astype(object)
            self.human_bins = make_table({"quantity": kind, "label": names, **bins}, None, pandas)
        bins = columns_of(found["bins"])
        self.bins: Any = make_table(bins, None, pandas) if len(bins["n"]) else None
        self.items: Any = None
        if found["items"] is not None:
            values = columns_of(found["items"])
            columns = {"task": aligned.task_column()}
            if gold is not None:
                labels = np.empty(len(gold), dtype=object)
                labels[:] = [None if c < 0 else self.classes.tolist()[c] for c in gold]
                columns["gold"] = aligned.labels(labels)
            columns["predicted"] = aligned.labels(self.classes[values.pop("predicted")])
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
    resamples: int = 1000,
    fraction: float = 1.0,
    ordinal: bool = False,
    multi_label: bool = False,
    keep_items: bool = False,
    top_k: int = 3,
    n_splits: int = 5,
    n_bins: int = 15,
    lenient: bool = False,
    over: str = "annotators",
    random_state: Any = 0,
    device: str = "cpu",
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> Evaluation:
    """Measures predicted distributions against gold labels, against people, or both.

    Parameters
    ----------
    pred : labels
        SoftLabels, a fitted aggregator, a DataFrame (rows tasks, columns classes), a table with task and p:CLASS
        columns, an array (tasks, classes), or a file.
    gold : labels by task
        A Series, a dict, Values, a table with task and label; a list in the order of the rows where pred has no task
        ids either. None: not known.
    human : labels
        Human labels, in the same forms as pred. With an aggregator that was fitted to votes, intervals hold for other
        annotators.
    metrics : list of str, optional
        Only these; None: all.
    groups : by task
        Items of one group (tokens of a sentence) stay in one half of a split for calibrated_log_likelihood.
    resamples : int
        Resamples for the 95 % intervals; 0: none.
    fraction : float
        Share of the items that a resample draws.
    ordinal : bool
        The order of the classes has a meaning: wasserstein, absolute_error, ranked_probability_score. This is assumed
        of labels whose type declares an order (an ordered Categorical, an Enum).
    multi_label : bool
        Labels are sets of classes: each value is the probability that the class belongs to the task, such as
        ``scaled(votes).labels`` or shares of annotators. Metrics are means over the classes.
    keep_items : bool
        Also the values of single items, in ``items``.
    lenient : bool
        Leave out tasks that not all have, take missing classes as 0; otherwise those are errors.
    over : str
        What intervals of figures against people hold for: "annotators" (other annotators and other items, where
        human is a fitted aggregator that knows its votes) or "items".
    device : str
        Where items are drawn and added up for intervals, when they are many: "cpu", "cuda", "cuda:N", or "auto".
    """
    if multi_label and gold is not None:
        raise _core.OptionError("gold labels of sets of classes are human labels of 0 and 1; pass them as human")
    tables = [label_table(pred, "predictions", multi_label)]
    if human is not None:
        tables.append(label_table(human, "human", multi_label))
    declared = None if gold is None else declared_by(gold)
    aligned = Aligned(tables, lenient, classes=_in_declared_order(tables, declared))
    if gold is not None and lenient:
        more = [g for g in dict.fromkeys(known_labels(gold)[1]) if g is not None and aligned.classes.find(g) < 0]
        if more:
            aligned = Aligned(tables, lenient, classes=Ids(with_classes(aligned.classes.ids, more)))
    codes = None if gold is None else gold_codes(gold, aligned.tasks, aligned.classes, lenient=lenient)
    if codes is not None and not (codes >= 0).any():
        raise _core.DataError(
            f"gold: no task of the predictions ({aligned.tasks.ids[0]!r}, ...) has a label; do the ids match?"
        )
    group, n_groups = _group_numbers(groups, aligned.tasks)
    votes = {} if multi_label else _votes_of(human, aligned)
    with Watching(n_jobs, progress) as watching:
        found = _core.evaluate(
            aligned.p[0],
            len(aligned.tasks.ids),
            len(aligned.classes.ids),
            gold=codes,
            human=aligned.p[1] if human is not None else None,
            group=group,
            n_groups=n_groups,
            metrics=None if metrics is None else listed("metrics", metrics, "names (dissent.metrics() lists them)"),
            seed=seed_of(random_state),
            resamples=checked_count("resamples", resamples),
            fraction=real("fraction", fraction),
            ordinal=ordinal or any(c is not None and c.ordered for c in (aligned.categories, declared)),
            keep_items=keep_items,
            top_k=integer("top_k", top_k, 1),
            n_splits=integer("n_splits", n_splits, 1, 16),
            n_bins=integer("n_bins", n_bins, 1, 200),
            device=device_of(device),
            over=over,
            multi_label=multi_label,
            **votes,
            **watching,
        )
    if metrics is not None:
        found["metrics"] = {name: found["metrics"][name] for name in metrics}
    aligned.pandas = aligned.pandas or is_pandas(gold)
    aligned.categories = aligned.categories or declared_by(gold)
    if aligned.categories is not None:
        aligned.categories = aligned.categories.of_classes(aligned.classes.ids)
    return Evaluation(found, aligned, codes, human is not None, multi_label)


def _votes_of(human: Any, aligned: Aligned) -> dict[str, Any]:
    """The votes that a fitted aggregator made its labels of, and how."""
    fitted = getattr(human, "_fitted", {})
    if fitted.get("remake") is None or fitted["votes"].core.n_workers == 0:
        return {}
    votes = fitted["votes"]
    return {"votes": votes.core, "labels": fitted["remake"], **vote_places(votes, aligned, lenient=True)}


def _in_declared_order(tables: Sequence[LabelTable], declared: Categories | None) -> Ids | None:
    """The classes of the tables in the order that gold labels declare; None: the order of the tables."""
    classes = tables[0].classes
    if declared is None or classes is None or any(t.categories for t in tables):
        return None
    order = Ids(declared.values)
    places = order.find_all(classes.ids)
    return None if (places < 0).any() else Ids([classes.ids[i] for i in np.argsort(places)])


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


evaluate.__doc__ = f"{evaluate.__doc__}\n    What is measured:\n\n{list_of(_core.metrics(), 'summary')}\n    "
