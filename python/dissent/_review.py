"""Which items to label again, and which workers to look at."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import _core
from ._checks import real, word
from ._columns import is_pandas
from ._estimator import seed_of
from ._figures import make_table, shown_with
from ._groups import as_groups
from ._ids import Ids
from ._labels import method_specs
from ._measuring import Watching, checked_count, columns_of, known_classes
from ._results import Framed, SoftLabels
from ._running import ProgressLike
from ._tables import LabelTable, label_table
from ._texts import item_texts
from ._votes import Votes, as_votes

# columns that a notebook shows
_ITEMS = ("task", "text", "label", "p_correct", "gain", "buy", "reason")
_WORKERS = ("worker", "votes", "quality", "low", "high", "peers", "cause", "reason")


class Review(Framed):
    """What review() found: ``items`` and ``workers`` are tables, ranked, each row with its reason in plain words.

    Column ``label`` of ``items`` is the label of ``labels(votes)``, column ``p_correct`` its probability.
    ``expected_accuracy`` is the expected share of correct labels, and ``expected_accuracy_after`` the same after the budget is spent as column ``buy`` proposes.
    ``spent`` is the part of the budget that is used, ``typical_accuracy`` the expected share of correct votes. ``beyond_chance``
    is False if votes agree no more than chance; labels and workers are then not assessed (``expected_accuracy`` is None).
    ``chance`` is the test, as in agreement(): its ``verdict`` is "unknown" for too few votes on common tasks.
    ``n_unreliable``, ``n_weak`` and ``n_unjudged`` count workers by verdict (column ``cause``: fine, constant, random,
    confuses, weak, unjudged). ``n_accepted`` counts the accepted labels, and ``expected_accuracy_accepted`` is the expected share
    of correct ones. ``by`` is the order of the items, ``method`` the source of the labels.

    Columns of ``workers``: ``quality`` is the accuracy, the probability of a correct vote on a task like these. Its 95 %
    interval is from ``low`` to ``high``. ``peers`` is the accuracy of the others on the same tasks. ``difference`` is
    the agreement of the worker with the others minus the agreement of these others. It has an interval
    (``difference_low``, ``difference_high``) and a p-value for the false discovery rate (``p_adjusted``). With ``gold``,
    ``gold_accuracy`` is the share of ``gold_votes`` that are correct, with its interval (``gold_low``, ``gold_high``).

    With scale="ordinal", ``items`` also has ``position`` (on the line of classes, which are at 0, 1, 2, ...) and
    ``position_se``. ``workers`` has ``bias`` and ``spread`` in classes, with 95 % intervals (``bias_low``, ...), and
    ``lapse``, the share of votes that ignore the item. ``n_biased`` counts workers with a bias above a quarter of a
    class.

    With ``causes``, ``votes`` is a table of the votes. It has the probabilities of a ``slip``, of another ``reading`` and
    of the view of a ``group``. The rest is the most common reading. ``readings`` are soft labels without slips (tasks x classes),
    and ``slip_rate`` is the share of slips by worker. All three are None if votes agree no more than chance.

    With ``camps``, ``camps`` is a dict: ``found`` says whether workers fall into two camps, and ``p`` is the p-value if
    all read tasks in the same way. ``agreement_within`` and ``agreement_across`` are the shares of equal votes in the same
    camp and in different ones. Column ``camp`` of ``workers`` is 1 (the larger camp), 2, or 0 for neither. ``camps`` is None
    if votes agree no more than chance.
    """

    _frame = "items"

    def __init__(self, found: dict[str, Any], votes: Votes, texts: list[str] | None = None) -> None:
        self.method: str = found["method"]
        self.n_items: int = found["n_items"]
        self.expected_accuracy: float | None = found["expected_accuracy"]
        self.by: str = found["by"]
        self.beyond_chance: bool = bool(found["beyond_chance"])
        self.chance: dict[str, Any] = found["chance"]
        self.n_unreliable: int = found["n_unreliable"]
        self.n_weak: int = found["n_weak"]
        self.n_biased: int = found["n_biased"]
        self.n_unjudged: int = found["n_unjudged"]
        self.n_accepted: int = found["n_accepted"]
        self.expected_accuracy_accepted: float = found["expected_accuracy_accepted"]
        self.expected_accuracy_after: float | None = found["expected_accuracy_after"]
        self.spent: int = found["spent"]
        self.typical_accuracy: float | None = found["typical_accuracy"]
        columns = columns_of(found["items"] or {})
        items = columns.pop("item")
        tasks = votes.tasks[items]
        columns.update({name: x[items] for name, x in columns_of(found["ordinal_items"] or {}).items()})
        for name in ("label", "other", "best"):
            columns[name] = votes._labels(columns[name])
        for name in ("known", "accepted"):
            columns[name] = columns[name].astype(bool)
        text_column = {} if texts is None else {"text": [texts[i] for i in items.tolist()]}
        self.items: Any = make_table(
            {"task": tasks, **columns, "reason": found["item_reasons"], **text_column}, "task", votes.pandas, _ITEMS
        )
        self.votes: Any = None
        self.readings: Any = None
        self.slip_rate: Any = None
        if "votes" in found:
            columns = columns_of(found["votes"])
            self.slip_rate = dict(zip(votes.workers.tolist(), np.asarray(found["slip_rate"]).tolist()))
            rows = {"task": votes.tasks[columns.pop("item")], "worker": votes.workers[columns.pop("worker")]}
            columns["label"] = votes._labels(columns["label"])
            self.votes = make_table({**rows, **columns}, "task", votes.pandas)
            self.readings = np.asarray(found["readings"])
        self.camps: dict[str, Any] | None = found.get("camps")
        self.workers: Any = None
        if found["workers"] is not None:
            columns = columns_of(found["workers"])
            numbers = columns.pop("worker")
            ids = votes.workers[numbers]
            columns.update({name: x[numbers] for name, x in columns_of(found["ordinal_workers"] or {}).items()})
            if self.camps is not None:
                columns["camp"] = np.asarray(self.camps.pop("camp"))[numbers]
            for name in ("chosen_class", "true_class"):
                columns[name] = votes._labels(columns[name])
            self.workers = make_table(
                {"worker": ids, "cause": found["causes"], **columns, "reason": found["worker_reasons"]},
                "worker",
                votes.pandas,
                _WORKERS,
            )

    def to_dict(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "items": self.n_items,
            "expected_accuracy": self.expected_accuracy,
            "by": self.by,
            "beyond_chance": self.beyond_chance,
            "chance": self.chance,
            "n_unreliable": self.n_unreliable,
            "n_weak": self.n_weak,
            "n_biased": self.n_biased,
            "n_unjudged": self.n_unjudged,
            "n_accepted": self.n_accepted,
            "expected_accuracy_accepted": self.expected_accuracy_accepted,
            "expected_accuracy_after": self.expected_accuracy_after,
            "spent": self.spent,
            "typical_accuracy": self.typical_accuracy,
            **({} if self.camps is None else {"camps": self.camps}),
        }

    def __repr__(self) -> str:
        return (
            f"Review({self.n_items} tasks, expected share of correct labels {_known(self.expected_accuracy)}, "
            f"after {self.spent} more votes {_known(self.expected_accuracy_after)})"
        )

    def _repr_html_(self) -> str:
        return shown_with(self, self.items, self.workers)


def _known(share: float | None) -> str:
    return "unknown" if share is None else f"{share:.4f}"


def _are_soft(labels: Any) -> bool:
    """Whether labels have probabilities."""
    if isinstance(labels, (LabelTable, SoftLabels, str, os.PathLike)) or hasattr(labels, "result_"):
        return True
    if isinstance(labels, Mapping):
        rows = labels.values()
        return any(str(c).startswith("p:") for c in labels) or (len(rows) > 0 and all(isinstance(r, Mapping) for r in rows))
    columns = getattr(labels, "columns", None) if is_pandas(labels) else getattr(labels, "column_names", None)
    columns = getattr(labels, "columns", None) if columns is None else columns
    if columns is None or callable(columns):
        return getattr(labels, "ndim", 1) == 2
    names = [str(c) for c in columns]
    return any(c.startswith("p:") for c in names) or "label" not in names


def _given(votes: Votes, labels: Any) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Labels under review as class numbers and, where they have any, their probabilities; rows of NaN for tasks that
    they lack. Probabilities of 0 and 1 alone are labels without probabilities."""
    if labels is None or not _are_soft(labels):
        return known_classes(votes, labels, "labels"), None
    t = label_table(labels, "labels")
    if t.classes is None and t.p.shape[1] != len(votes.classes):
        raise _core.DataError(f"labels: {t.p.shape[1]} columns for the classes {votes.classes.tolist()}")
    if t.tasks is None and len(t.p) != len(votes.tasks):
        raise _core.DataError(f"labels: {len(t.p)} rows without task ids for {len(votes.tasks)} tasks")
    rows = np.arange(len(t.p)) if t.tasks is None else t.tasks.find_all(votes.tasks.tolist())
    place = np.arange(t.p.shape[1])
    if t.classes is not None:
        place = Ids(votes.classes.tolist()).find_all(list(t.classes.ids))
        lost = (place < 0) & (t.p > 0).any(axis=0)
        if lost.any():
            raise _core.DataError(f"labels: {t.classes.ids[int(np.argmax(lost))]!r} is not a class of the votes; declare it with classes=")
    p = np.full((len(votes.tasks), len(votes.classes)), np.nan)
    p[rows >= 0] = 0.0
    p[np.ix_(np.flatnonzero(rows >= 0), place[place >= 0])] = t.p[np.ix_(rows[rows >= 0], np.flatnonzero(place >= 0))]
    best = np.where(rows >= 0, np.argmax(np.nan_to_num(p), axis=1), -1).astype(np.int32)
    if (p[rows >= 0].max(axis=1) >= 1).all():
        return best, None
    return best, np.ascontiguousarray(p)


def checked_share(name: str, value: float | None) -> float:
    if value is None:
        return 0.0
    return real(name, value, 1e-9, 1)


def review(
    votes: Any,
    budget: int = 0,
    *,
    by: str = "auto",
    gold: Any = None,
    labels: Any = None,
    accept: float | None = None,
    method: str | Iterable[str] | None = None,
    combine: str | None = None,
    top: int | None = None,
    texts: Any = None,
    causes: bool = False,
    groups: Any = None,
    camps: bool = False,
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
    by : {"auto", "uncertainty", "gain", "surprise"}
        Order of the items: label most likely wrong first, where further votes help most, where votes are least
        expected of those workers. "auto": uncertainty, with a budget gain.
    gold : labels by task, optional
        Known labels.
    labels : labels or probabilities by task, optional
        Labels to be reviewed instead of the default ones: a Series or dict of labels, or anything with probabilities
        (SoftLabels, a fitted aggregator, a DataFrame with a column per class). Labels without probabilities have those
        of the default labels.
    accept : float, optional
        Labels with at least this probability are accepted (column ``accepted``).
    method, combine : str or list of str, optional
        How labels are made, as in labels().
    top : int, optional
        Only so many rows of items.
    texts : texts by task, optional
        What the items say, as column ``text``: a dict or Series by task, a table with columns task and text, or a list
        in the order of the tasks.
    causes : bool
        Whether to explain votes: ``votes``, ``readings`` and ``slip_rate`` of the result.
    groups : Groups or a mapping, optional
        With ``causes``: groups of annotators, which may read a task differently.
    camps : bool
        Whether to test for two camps of annotators: ``camps`` of the result, and column ``camp`` of its workers.

    >>> votes = [("t1", "a", "x"), ("t1", "b", "x"), ("t2", "a", "y"), ("t2", "b", "x")]
    >>> votes += [("t3", "a", "y"), ("t3", "b", "y")]
    >>> r = review(votes, budget=2)
    >>> r.items["task"][0], int(r.items["buy"].sum()) == r.spent
    ('t2', True)
    """
    table = as_votes(votes, n_jobs)
    text_column = None if texts is None else item_texts(texts, Ids(table.tasks.tolist()))
    given, p = _given(table, labels)
    rows: dict[str, Any] = {} if top is None else {"top": checked_count("top", top)}
    if groups is not None:
        values, how = as_groups(groups).of(table)
        rows["groups"] = (values, how["min_group"], how["hide"], how["cuts"])
    with Watching(n_jobs, progress) as watching:
        found = _core.review(
            table.core,
            methods=method_specs(method),
            combine=None if combine is None else word("combine", combine, '"average"'),
            gold=known_classes(table, gold),
            labels=given,
            p=p,
            accept=checked_share("accept", accept),
            budget=checked_count("budget", budget),
            by=word("by", by),
            seed=seed_of(random_state),
            vote_causes=causes,
            camps=camps,
            **rows,
            **watching,
        )
    return Review(found, table, text_column)
