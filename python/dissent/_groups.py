"""Groups of people: agreement within and between them, and the votes of each."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._columns import _is_missing, is_pandas, records
from ._estimator import seed_of
from ._figures import Metric, make_table, metric, shown_with
from ._results import _SHOWN, Framed, _some, _table, _text
from ._measuring import Watching, checked_count, columns_of
from ._running import ProgressLike
from ._ids import Ids, id_texts
from ._tables import label_table
from ._votes import Votes, as_votes

_IDS = ("worker", "performer", "annotator", "annotator_id", "user", "id")


def _value_text(value: Any) -> str:
    if _is_missing(value):
        return ""
    return str(value.item() if hasattr(value, "item") else value)


def _from_file(path: str, group: str, table_id: str | None, table_prefix: str | None) -> dict[Any, Any]:
    found = _core.worker_table(path, table_id=table_id, table_prefix=table_prefix)
    columns = found["columns"]
    if group not in columns:
        raise _core.OptionError(f"{path}: no column {group!r}; there are: {', '.join(columns)}")
    return dict(zip(found["workers"], found["cells"][columns.index(group) :: len(columns)]))


def _by_worker(table: Any, group: str | None, table_id: str | None, table_prefix: str | None) -> dict[Any, Any]:
    """The value of each worker, whatever the table is."""
    if isinstance(table, (str, os.PathLike)):
        if group is None:
            raise _core.OptionError("group: which column of the worker table holds the groups?")
        return _from_file(os.fspath(table), group, table_id, table_prefix)
    if group is None:
        if not isinstance(table, Mapping):
            if is_pandas(table) and table.ndim == 1:
                return dict(zip(table.index, table.tolist()))
            raise _core.OptionError("group: which column of the worker table holds the groups?")
        return dict(table)
    if is_pandas(table):
        columns: Mapping[Any, Any] = {c: table[c].tolist() for c in table.columns}
    elif isinstance(table, Mapping):
        columns = table
    elif hasattr(table, "to_pydict"):
        columns = table.to_pydict()
    elif hasattr(table, "to_dict") and hasattr(table, "columns"):
        columns = table.to_dict(as_series=False)
    else:
        columns = records(table) or {}
    if group not in columns:
        raise _core.OptionError(f"no column {group!r} in the worker table; there are: {', '.join(map(str, columns))}")
    for name in (table_id,) if table_id is not None else _IDS:
        if name in columns:
            return dict(zip(columns[name], columns[group]))
    raise _core.OptionError(
        f"no column with the ids of workers; there are: {', '.join(map(str, columns))}; name one with table_id"
    )


def group_values(
    votes: Votes, table: Any, group: str | None, table_id: str | None, table_prefix: str | None
) -> list[str]:
    """The value of the table for each worker of the votes, "" if it has none."""
    value = _by_worker(table, group, table_id, table_prefix)
    workers = Ids(votes.workers.tolist())
    values = [""] * votes.core.n_workers
    for worker, text in value.items():
        at = workers.find(worker)
        if at >= 0:
            values[at] = _value_text(text)
    if votes.core.n_workers and not any(values):
        raise _core.DataError("none of the workers of the votes is in the table; see table_id and table_prefix")
    return values


@dataclass(frozen=True)
class Groups:
    """Which groups the people who voted belong to: what group_agreement(), group_votes(), group_evaluation() and
    report() take.

    Parameters
    ----------
    people : mapping, table or path
        Worker to group; or, with ``column``, a table with a column of ids and a column of groups.
    column : str, optional
        The column of groups.
    min_group : int
        People that a group must have to be shown; smaller ones are merged into "other" or hidden (``small_groups``).
    small_groups : "merge" or "hide"
    cuts : rising numbers, optional
        The column holds numbers, and groups lie between these.
    table_id, table_prefix : str, optional
        The column of ids (without it, worker, annotator or the like), and what to put before each id.

    >>> Groups({"ann": "north", "bob": "south"}, min_group=1).min_group
    1
    """

    people: Any
    column: str | None = None
    min_group: int = 5
    small_groups: str = "merge"
    cuts: Sequence[float] | None = None
    table_id: str | None = None
    table_prefix: str | None = None

    def __post_init__(self) -> None:
        checked_count("min_group", self.min_group)
        if self.small_groups not in ("merge", "hide"):
            raise _core.OptionError(f'small_groups is "merge" or "hide", not {self.small_groups!r}')

    def _repr_html_(self) -> str:
        found = _by_worker(self.people, self.column, self.table_id, self.table_prefix)
        sizes = Counter(_value_text(value) for value in found.values())
        rows = [[_text(name) or "–", f"{n:,}"] for name, n in sizes.most_common(_SHOWN)]
        return _table([_text(self.column or "group"), "people"], rows, _some(len(rows), len(sizes), "values of the groups"))

    def of(self, votes: Votes) -> tuple[list[str], dict[str, Any]]:
        """The value of each worker of the votes, and the other inputs of the library."""
        values = group_values(votes, self.people, self.column, self.table_id, self.table_prefix)
        cuts = None if self.cuts is None else np.ascontiguousarray(self.cuts, dtype=np.float64)
        return values, {"min_group": self.min_group, "hide": self.small_groups == "hide", "cuts": cuts}


def as_groups(given: Any) -> Groups:
    return given if isinstance(given, Groups) else Groups(given)


def _metric_columns(name: str, found: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    metrics = [metric(m) for m in found]
    return {
        name + end: np.array([np.nan if getattr(m, field) is None else getattr(m, field) for m in metrics])
        for end, field in (("", "value"), ("_ci_low", "ci_low"), ("_ci_high", "ci_high"))
    }


class GroupAgreement(Framed):
    """What group_agreement() found.

    ``groups``, ``pairs`` and ``divided`` are tables: agreement of each group, of each pair of groups, and the items
    that divide them, the most divided first. ``apart`` is the mean over groups of within - across, a Metric;
    ``p_apart`` the chance of so much, or more, when groups do not matter. ``over`` is what intervals hold for, annotators
    or items. ``merged``, ``hidden`` and ``unknown`` count
    small groups and workers without a value.
    """

    _frame = "groups"

    def __init__(self, found: dict[str, Any], votes: Votes) -> None:
        groups, pandas = found["groups"], votes.pandas
        self.names: list[str] = groups["names"]
        self.group = np.asarray(groups["group"])  # of each worker, -1: none
        self.merged, self.hidden, self.unknown = groups["merged"], groups["hidden"], groups["unknown"]
        self.apart: Metric = metric(found["apart"])
        self.p_apart: float | None = found["p_apart"]
        self.over: str = found["over"]
        names = np.array(self.names, dtype=object)
        columns: dict[str, Any] = {
            "group": names,
            "workers": np.asarray(groups["workers"]).astype(np.int64),
            "votes": np.asarray(groups["votes"]).astype(np.int64),
            "items": np.array([m["n"] for m in found["within"]], dtype=np.int64),
        }
        for name in ("percent", "within", "across", "index"):
            columns.update(_metric_columns(name, found[name]))
        self.groups: Any = make_table({**columns, **columns_of(found["tests"])}, "group", pandas)
        pairs = columns_of(found["pairs"])
        self.pairs: Any = make_table(
            {
                "group_a": names[pairs["a"]],
                "group_b": names[pairs["b"]],
                "items": np.array([m["n"] for m in found["pair_across"]], dtype=np.int64),
                **_metric_columns("percent", found["pair_percent"]),
                **_metric_columns("across", found["pair_across"]),
                "p": pairs["p"],
                "q": pairs["q"],
                **_metric_columns("difference", found["pair_difference"]),
                "p_difference": pairs["p_difference"],
                "q_difference": pairs["q_difference"],
            },
            None,
            pandas,
        )
        rows = columns_of(found["divided"])
        self.divided: Any = make_table(
            {
                "task": votes.tasks[rows["task"]],
                "group_a": names[rows["a"]],
                "group_b": names[rows["b"]],
                "votes_a": rows["votes_a"],
                "votes_b": rows["votes_b"],
                "label_a": votes._labels(rows["label_a"]),
                "label_b": votes._labels(rows["label_b"]),
                "distance": rows["distance"],
                "p": rows["p"],
                "q": rows["q"],
            },
            None,
            pandas,
        )

    def __repr__(self) -> str:
        value, p = (None if x is None else f"{x:.4g}" for x in (self.apart.value, self.p_apart))
        return f"GroupAgreement({', '.join(self.names)}; apart={value}, p_apart={p})"

    def _repr_html_(self) -> str:
        return shown_with(self, self.groups, self.pairs, self.divided)


def group_agreement(
    votes: Any,
    groups: Any,
    *,
    ordinal: bool = False,
    resamples: int = 1000,
    permutations: int = 1000,
    over: str = "annotators",
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> GroupAgreement:
    """Agreement within and between groups of people.

    Parameters
    ----------
    votes : Votes or a table
        As aggregators take them.
    groups : Groups or a mapping
        Who belongs to which; a mapping of worker to group stands for Groups(mapping).
    ordinal : bool
        The order of the classes has a meaning. This is assumed of labels whose type declares an order.
    resamples, permutations : int
        Resamples of the items for 95 % intervals, and random assignments of groups to workers for p-values; 0: none.
    over : str
        What intervals hold for: "annotators" (other annotators of the groups and other items) or "items".

    >>> votes = [(t, w, (t + (w > 2)) % 2) for t in range(8) for w in range(6)]
    >>> sides = Groups({w: "ab"[w > 2] for w in range(6)}, min_group=3)
    >>> found = group_agreement(votes, sides, permutations=0, resamples=0)
    >>> found.names, found.groups["within"].tolist(), found.pairs["across"].tolist()
    (['a', 'b'], [1.0, 1.0], [-1.0])
    """
    table = as_votes(votes, n_jobs)
    values, how = as_groups(groups).of(table)
    with Watching(n_jobs, progress) as watching:
        found = _core.group_agreement(
            table.core,
            values,
            **how,
            ordinal=ordinal or table.ordered,
            resamples=checked_count("resamples", resamples),
            permutations=checked_count("permutations", permutations),
            over=over,
            seed=seed_of(random_state),
            **watching,
        )
    return GroupAgreement(found, table)


def group_votes(votes: Any, groups: Any, *, n_jobs: int | None = None) -> dict[str, Votes]:
    """The votes of each group of people, by its name: for soft labels of groups.

    ``groups`` is what group_agreement() takes. All classes stay, tasks without votes of the group are gone.

    >>> votes = [(t, w, "no" if w > 2 else "yes") for t in range(2) for w in range(6)]
    >>> by_group = group_votes(votes, Groups({w: "ab"[w > 2] for w in range(6)}, min_group=3))
    >>> by_group["a"]
    Votes(2 tasks, 3 workers, 2 classes, 6 votes)
    """
    table = as_votes(votes, n_jobs)
    values, how = as_groups(groups).of(table)
    found = _core.worker_groups(table.core, values, **how)
    code = np.asarray(found["group"])
    task, worker, label = table.rows()
    out: dict[str, Votes] = {}
    for g, name in enumerate(found["names"]):
        in_group = code[worker] == g
        part = Votes(
            (table.tasks[task[in_group]], table.workers[worker[in_group]], table.classes[label[in_group]]),
            classes=table.classes.tolist(),
            duplicates="all",
            n_jobs=n_jobs,
        )
        part.pandas, part.categories = table.pandas, table.categories
        out[name] = part
    return out


class GroupEvaluation(Framed):
    """What group_evaluation() found: ``groups``, a table with a row per group; ``votes_left_out`` counts votes on other
    items."""

    _frame = "groups"

    def __init__(self, found: dict[str, Any], votes: Votes) -> None:
        self.names: list[str] = found["groups"]["names"]
        self.votes_left_out: int = found["votes_left_out"]
        rows = columns_of(found["rows"])
        columns: dict[str, Any] = {
            "group": np.array(self.names, dtype=object),
            **{c: rows[c] for c in ("workers", "votes", "items")},
        }
        for name in ("log_loss", "agreement", "apart"):
            columns.update(_metric_columns(name, found[name]))
        self.groups: Any = make_table({**columns, "p": rows["p"], "q": rows["q"]}, "group", votes.pandas)

    def __repr__(self) -> str:
        return f"GroupEvaluation({', '.join(self.names)})"

    def _repr_html_(self) -> str:
        return shown_with(self, self.groups)


def group_evaluation(
    pred: Any,
    votes: Any,
    groups: Any,
    *,
    resamples: int = 1000,
    permutations: int = 1000,
    over: str = "annotators",
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> GroupEvaluation:
    """Whom predictions speak for: every vote of a group against what is predicted for its item.

    Parameters
    ----------
    pred : labels
        What a model says: SoftLabels, a fitted aggregator, a DataFrame, a file.
    votes, groups, permutations, over
        As group_agreement() takes them.

    >>> votes = [(t, w, "no" if w > 2 else "yes") for t in "ab" for w in range(6)]
    >>> import dissent
    >>> pred = dissent.SoftLabels(["a", "b"], ["no", "yes"], [[0.9, 0.1], [0.9, 0.1]])
    >>> sides = Groups({w: "xy"[w > 2] for w in range(6)}, min_group=3)
    >>> found = group_evaluation(pred, votes, sides, permutations=0, resamples=0)
    >>> found.names, found.groups["agreement"].tolist()
    (['x', 'y'], [0.0, 1.0])
    """
    table = as_votes(votes, n_jobs)
    values, how = as_groups(groups).of(table)
    labels = label_table(pred, "predictions")
    if labels.tasks is None or labels.classes is None:
        raise _core.DataError("predictions: whose they are is not known; give a table with tasks and classes")
    with Watching(n_jobs, progress) as watching:
        found = _core.group_evaluation(
            table.core,
            (values, *how.values()),
            id_texts(labels.tasks.ids),
            id_texts(labels.classes.ids),
            np.ascontiguousarray(labels.p, dtype=np.float64),
            resamples=checked_count("resamples", resamples),
            permutations=checked_count("permutations", permutations),
            over=over,
            seed=seed_of(random_state),
            **watching,
        )
    return GroupEvaluation(found, table)
