"""Which items to label again, and which workers to look at."""

from __future__ import annotations

from typing import Any

from . import _core
from ._checks import real, word
from ._estimator import seed_of
from ._figures import make_table, shown_with
from ._measuring import Watching, checked_count, columns_of, known_classes
from ._running import ProgressLike
from ._ids import Ids
from ._texts import item_texts
from ._votes import Votes, as_votes

# columns that a notebook shows
_ITEMS = ("task", "text", "label", "right", "gain", "buy", "reason")
_WORKERS = ("worker", "votes", "quality", "low", "high", "peers", "cause", "reason")


class Review:
    """What review() found: ``items`` and ``workers`` are tables, ranked, each row with its reason in plain words.

    ``right`` is the expected share of right labels now, ``right_independent`` the same if people never erred alike on
    the same tasks, ``right_after`` once the budget is spent as column ``buy`` proposes, ``spent`` how much of it has
    somewhere to go, ``typical`` the share of right votes. ``beyond_chance`` is False where votes on one task agree no
    more than chance would have it. ``n_doubtful``, ``n_weak`` and ``n_unjudged`` count workers by verdict (column
    ``cause``: fine, constant, random, confuses, weak, unjudged), ``n_accepted`` the labels accepted and
    ``right_accepted`` the share of them expected to be right.

    Votes with scale="ordinal": ``items`` also has ``place`` (on the line of classes, which are at 0, 1, 2, ...) and
    ``place_se``, ``workers`` has ``bias`` and ``spread`` in classes, each with its 95 % interval (``bias_low``, ...),
    and ``lapse``, the share of votes cast without looking; ``n_biased`` counts workers whose bias is more than a
    quarter of a class.
    """

    def __init__(self, found: dict[str, Any], votes: Votes, texts: list[str] | None = None) -> None:
        self.method: str = found["method"]
        self.n_items: int = found["n_items"]
        self.right: float = found["right"]
        self.right_independent: float = found["right_independent"]
        self.beyond_chance: bool = bool(found["beyond_chance"])
        self.agreement: float = found["agreement"]
        self.n_doubtful: int = found["n_doubtful"]
        self.n_weak: int = found["n_weak"]
        self.n_biased: int = found["n_biased"]
        self.n_unjudged: int = found["n_unjudged"]
        self.n_accepted: int = found["n_accepted"]
        self.right_accepted: float = found["right_accepted"]
        self.right_after: float = found["right_after"]
        self.spent: int = found["spent"]
        self.typical: float = found["typical"]
        columns = columns_of(found["items"] or {})
        items = columns.pop("item")
        tasks = votes.tasks[items]
        columns.update({name: x[items] for name, x in columns_of(found["ordinal_items"] or {}).items()})
        for name in ("label", "other", "best"):
            columns[name] = votes._labels(columns[name])
        for name in ("known", "accepted"):
            columns[name] = columns[name].astype(bool)
        said = {} if texts is None else {"text": [texts[i] for i in items.tolist()]}
        self.items: Any = make_table(
            {"task": tasks, **columns, "reason": found["item_reasons"], **said}, "task", votes.pandas, _ITEMS
        )
        self.workers: Any = None
        if found["workers"] is not None:
            columns = columns_of(found["workers"])
            numbers = columns.pop("worker")
            ids = votes.workers[numbers]
            columns.update({name: x[numbers] for name, x in columns_of(found["ordinal_workers"] or {}).items()})
            for name in ("said", "truth"):
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
            "right": self.right,
            "right_independent": self.right_independent,
            "beyond_chance": self.beyond_chance,
            "agreement": self.agreement,
            "n_doubtful": self.n_doubtful,
            "n_weak": self.n_weak,
            "n_biased": self.n_biased,
            "n_unjudged": self.n_unjudged,
            "n_accepted": self.n_accepted,
            "right_accepted": self.right_accepted,
            "right_after": self.right_after,
            "spent": self.spent,
            "typical": self.typical,
        }

    def __repr__(self) -> str:
        return (
            f"Review({self.n_items} tasks, expected share of right labels {self.right:.4f}, "
            f"after {self.spent} more votes {self.right_after:.4f})"
        )

    def _repr_html_(self) -> str:
        return shown_with(self, self.items, self.workers)


def checked_share(name: str, value: float | None) -> float:
    if value is None:
        return 0.0
    return real(name, value, 1e-9, 1)


def review(
    votes: Any,
    budget: int = 0,
    *,
    by: str = "gain",
    gold: Any = None,
    labels: Any = None,
    accept: float | None = None,
    method: str | None = None,
    top: int | None = None,
    texts: Any = None,
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
        Order of the items: where further votes help most, where the label is most likely wrong, where votes are least
        like those workers.
    gold : labels by task, optional
        Known labels.
    labels : labels by task, optional
        Labels to be reviewed instead of the review's own: tasks are then ordered by the chance that theirs is wrong.
    accept : float, optional
        Labels that are right with at least this probability are accepted (column ``accepted``).
    method : str, optional
        First labels come from this method, as the command line names it ("dawid-skene").
    top : int, optional
        Only so many rows of items.
    texts : texts by task, optional
        What the items say, as column ``text``: a dict or Series by task, a table with columns task and text, or a list
        in the order of the tasks.

    >>> votes = [("t1", "a", "x"), ("t1", "b", "x"), ("t2", "a", "y"), ("t2", "b", "x")]
    >>> votes += [("t3", "a", "y"), ("t3", "b", "y")]
    >>> r = review(votes, budget=2)
    >>> r.items["task"][0], int(r.items["buy"].sum()) == r.spent
    ('t2', True)
    """
    table = as_votes(votes, n_jobs)
    said = None if texts is None else item_texts(texts, Ids(table.tasks.tolist()))
    rows: dict[str, Any] = {} if top is None else {"top": checked_count("top", top)}
    with Watching(n_jobs, progress) as watching:
        found = _core.review(
            table.core,
            method=None if method is None else word("method", method),
            gold=known_classes(table, gold),
            labels=known_classes(table, labels, "labels"),
            accept=checked_share("accept", accept),
            budget=checked_count("budget", budget),
            by=word("by", by),
            seed=seed_of(random_state),
            **rows,
            **watching,
        )
    return Review(found, table, said)
