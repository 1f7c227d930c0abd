"""Agreement between annotators."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._estimator import seed_of
from ._figures import Figures, Metric, make_table
from ._measuring import Watching, checked_count, columns_of, figures_of, known_classes, list_of, number_of
from ._checks import device_of
from ._running import ProgressLike
from ._votes import Votes, as_votes


def agreement_measures() -> list[dict[str, Any]]:
    """The coefficients of agreement(): name, title, treatment of missing votes, source.

    >>> [m["name"] for m in agreement_measures()][:2]
    ['percent', 'fleiss']
    """
    return _core.agreement_measures()


class Agreement(Figures):
    """The result of agreement().

    Coefficients are attributes (``a.alpha_nominal``: a number, or None) and items (``a["alpha_nominal"]``: a Metric
    with interval, n and reason). ``classes``, ``items``, ``workers`` and ``pairs`` are tables; those that were not
    asked for, or need workers that are not known, are None. ``chance`` is the test of agreement against chance:
    ``verdict`` ("beyond", "noise", or "unknown" for too few votes on common tasks), ``coefficient``, ``z`` and ``p``.
    """

    def __init__(self, found: dict[str, Any], votes: Votes) -> None:
        self._figures = figures_of(found["metrics"])
        for name in (
            "n_items",
            "n_workers",
            "compared",
            "singles",
            "empty",
            "votes",
            "votes_compared",
            "pairs_too_small",
            "pairs_degenerate",
            "over",
            "chance",
        ):
            setattr(self, name, found[name])
        self._caption = f"{found['compared']} tasks with two votes or more of {found['n_items']}"
        pandas = votes.pandas
        rows = found["classes"]
        self.classes: Any = make_table(
            {
                "label": votes.classes,
                "votes": np.array([r["votes"] for r in rows], dtype=np.int64),
                "share": np.array([np.nan if r["share"] is None else r["share"] for r in rows]),
                **{c: np.array([number_of(r[c]) for r in rows]) for c in ("agreement", "fleiss", "alpha")},
            },
            "label",
            pandas,
        )
        self.items: Any = None
        if found["items"] is not None:
            columns = columns_of(found["items"])
            columns["top"] = votes._labels(columns["top"])
            self.items = make_table({"task": votes.tasks, **columns}, "task", pandas)
        self.workers: Any = None
        if found["workers"] is not None:
            self.workers = make_table({"worker": votes.workers, **columns_of(found["workers"])}, "worker", pandas)
        self.pairs: Any = None
        if found["pairs"] is not None:
            columns = columns_of(found["pairs"])
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
            "over": self.__dict__["over"],
            "metrics": {name: m.to_dict() for name, m in self._figures.items()},
        }


def agreement(
    votes: Any,
    gold: Any = None,
    *,
    items: bool = True,
    workers: bool = True,
    pairs: bool = True,
    ordinal: bool = False,
    singles: bool = False,
    resamples: int = 1000,
    over: str = "annotators",
    max_pairs: int | None = None,
    min_common: int | None = None,
    random_state: Any = 0,
    device: str = "cpu",
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> Agreement:
    """Inter-annotator agreement: overall, by task, worker, class and pair of workers.

    Parameters
    ----------
    votes : Votes or a table
        Votes, as for aggregators.
    gold : labels by task, optional
        Known labels: also computes the accuracy of workers.
    items, workers, pairs : bool
        Which tables to compute; without pairs the coefficients cohen* are left out.
    ordinal : bool
        The classes are ordered. This is assumed when all classes are numbers, of votes with
        scale="ordinal", and of labels whose type declares an order (an ordered Categorical, an Enum).
    singles : bool
        Items with one vote count in the chance agreement of Fleiss and Gwet.
    resamples : int
        Resamples of the items for 95 % intervals; 0: none.
    over : "annotators" or "items"
        What intervals hold for: other annotators and other items, or other items alone. Votes without annotator ids
        (counts) have intervals over items; the attribute ``over`` has what was used.
    max_pairs, min_common : int
        Maximum number of pairs of workers to examine, and the votes that a pair must share to count in cohen*.
    device : str
        Where items are drawn and added up for intervals, when they are many: "cpu", "cuda", "cuda:N", or "auto".

    >>> votes = [("t1", "a", "x"), ("t1", "b", "x"), ("t2", "a", "y"), ("t2", "b", "x")]
    >>> votes += [("t3", "a", "y"), ("t3", "b", "y")]
    >>> result = agreement(votes, resamples=0)
    >>> round(result.alpha_nominal, 4), result.workers["votes"].tolist()
    (0.4444, [3, 3])
    """
    table = as_votes(votes, n_jobs)
    more: dict[str, Any] = {}
    if max_pairs is not None:
        more["max_pairs"] = checked_count("max_pairs", max_pairs)
    if min_common is not None:
        more["min_common"] = checked_count("min_common", min_common)
    with Watching(n_jobs, progress) as watching:
        found = _core.agreement(
            table.core,
            gold=known_classes(table, gold),
            items=items,
            workers=workers,
            pairs=pairs,
            ordinal=ordinal or table.ordered,
            singles=singles,
            seed=seed_of(random_state),
            resamples=checked_count("resamples", resamples),
            over=over,
            **more,
            device=device_of(device),
            **watching,
        )
    return Agreement(found, table)


agreement.__doc__ = (
    f"{agreement.__doc__}\n    What is measured:\n\n{list_of(_core.agreement_measures(), 'title')}\n    "
)
