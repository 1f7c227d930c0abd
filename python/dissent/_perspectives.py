"""Predictions for single workers, compared with their votes."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from . import _core
from ._columns import _is_missing, is_pandas, records
from ._estimator import seed_of
from ._figures import Metric, make_table, metric, shown_with
from ._results import Framed
from ._measuring import Watching, checked_count
from ._running import ProgressLike
from ._votes import as_votes

_WHO = ("model", "worker_most_frequent", "majority_of_others")


@dataclass(frozen=True, repr=False)
class Perspectives(Framed):
    """error_rate[who][over], with who "model", "worker_most_frequent" or "majority_of_others" and over "votes", "items"
    or "workers". absolute_distance has the same in steps, for ordered classes. Also a row per worker, and the numbers
    of votes that were measured and that had no prediction."""

    _frame: ClassVar[str] = "workers"

    error_rate: dict[str, dict[str, Metric]]
    absolute_distance: dict[str, dict[str, Metric]] | None
    workers: Any
    n_votes: int
    n_items: int
    n_left_out: int

    def __repr__(self) -> str:
        rates = ((who, row["votes"].value) for who, row in self.error_rate.items())
        errors = ", ".join(f"{who}={'None' if x is None else f'{x:.4g}'}" for who, x in rates)
        return f"Perspectives({self.n_votes} votes on {self.n_items} tasks; error rate: {errors})"

    def _repr_html_(self) -> str:
        return shown_with(self, self.workers)

    def to_dict(self) -> dict[str, Any]:
        """Figures alone, as JSON has them."""
        figures = {"error_rate": self.error_rate}
        if self.absolute_distance is not None:
            figures["absolute_distance"] = self.absolute_distance
        return {
            name: {who: {over: m.to_dict() for over, m in row.items()} for who, row in f.items()}
            for name, f in figures.items()
        }


def _figures(found: Mapping[str, Any]) -> dict[str, dict[str, Metric]]:
    return {who: {over: metric(m) for over, m in row.items()} for who, row in found.items()}


def perspectives(
    votes: Any,
    predictions: Any,
    *,
    history: Any = None,
    ordered: bool = False,
    lenient: bool = False,
    resamples: int = 1000,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> Perspectives:
    """Errors of predictions for single workers.

    Two baselines are compared with the model: the most frequent label of the worker, and the majority of the others.

    Parameters
    ----------
    votes : Votes or a table
        Votes of people: task, worker, label.
    predictions : Votes or a table
        Predictions for each worker, in the same form.
    history : Votes or a table, optional
        Earlier votes, to take the most frequent answers from; without it, those of the worker's other votes.
    ordered : bool
        Classes are steps of a scale: also how many steps predictions are off. This is assumed of labels whose type
        declares an order.
    lenient : bool
        Leave votes without a prediction out, and count them.
    resamples : int
        For intervals; 0 for none.
    """
    table = as_votes(votes, n_jobs)
    ordered = ordered or table.ordered
    predicted = as_votes(predictions, n_jobs)
    before = None if history is None else as_votes(history, n_jobs)
    with Watching(n_jobs, progress) as watching:
        found = _core.perspectives(
            table.core,
            predicted.core,
            None if before is None else before.core,
            ordered=ordered,
            lenient=lenient,
            resamples=checked_count("resamples", resamples),
            seed=seed_of(random_state),
            **watching,
        )
    rows = np.array(found["rows"], dtype=np.float64).reshape(-1, 7)
    measured = rows[:, 0] > 0
    columns: dict[str, Any] = {"worker": table.workers[measured], "votes": rows[measured, 0].astype(np.int64)}
    for i, who in enumerate(_WHO):
        columns[f"error_{who}"] = rows[measured, 1 + i]
    for i, who in enumerate(_WHO if ordered else ()):
        columns[f"distance_{who}"] = rows[measured, 4 + i]
    return Perspectives(
        error_rate=_figures(found["error_rate"]),
        absolute_distance=_figures(found["absolute_distance"]) if ordered else None,
        workers=make_table(columns, "worker", table.pandas),
        n_votes=found["votes"],
        n_items=found["items"],
        n_left_out=found["left_out"],
    )


def _columns(table: Any) -> Mapping[Any, Any]:
    if is_pandas(table):
        return {c: table[c].tolist() for c in table.columns}
    if isinstance(table, Mapping):
        return table
    if hasattr(table, "to_pydict"):
        return table.to_pydict()
    if hasattr(table, "to_dict") and hasattr(table, "columns"):
        return table.to_dict(as_series=False)
    return records(table) or {}


@contextmanager
def table_file(table: Any) -> Iterator[str | None]:
    """A worker table as a file that the library reads: the file itself, or one that exists for the time of the
    call."""
    if table is None or isinstance(table, (str, os.PathLike)):
        yield None if table is None else os.fspath(table)
        return
    columns = _columns(table)
    with tempfile.TemporaryDirectory(prefix="dissent-") as folder:
        path = os.path.join(folder, "workers.csv")
        with open(path, "w", newline="", encoding="utf-8") as f:
            out = csv.writer(f, lineterminator="\n")
            out.writerow(columns)
            out.writerows(["" if _is_missing(x) else str(x) for x in row] for row in zip(*columns.values()))
        yield path
