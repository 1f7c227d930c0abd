"""Prediction sets: sets of classes that contain an annotator's answer with a stated probability."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._checks import real, word
from ._estimator import seed_of
from ._figures import Metric, make_table, metric, shown_with
from ._groups import _metric_columns
from ._ids import id_texts
from ._measuring import columns_of
from ._results import Framed
from ._running import threads_of
from ._tables import Aligned, label_table, vote_places
from ._votes import as_votes


class PredictionSets(Framed):
    """Result of prediction_sets().

    ``sets[task]`` is the list of classes of a task. ``table`` has a row per task: its classes joined by +, and their
    number. ``in_set`` (tasks, classes) is True for classes in the set, and ``p_values`` has the smallest 1 - coverage
    without the class. ``threshold``: the largest score within sets.

    ``coverage``: Metric, the share of votes on these tasks that sets contain, if the tasks have votes that do not
    calibrate; otherwise None. ``new_annotators``: Metric, the same for annotators who did not calibrate, each left out in
    turn. ``rows``: a table of the coverage by class, set size, entropy and annotator.

    ``n_calibration``, ``n_annotators``: items and annotators that calibrate. ``min_items``: with fewer, sets contain all
    classes. ``unmatched``: share of votes for classes that predictions lack.
    """

    _frame = "table"

    def __init__(self, found: dict[str, Any], asked: float, aligned: Aligned, written: np.ndarray, workers: Any) -> None:
        n, k = len(aligned.tasks.ids), len(aligned.classes.ids)
        self.asked = asked
        self.classes: np.ndarray = aligned.class_column()
        self.tasks: np.ndarray = aligned.task_column()[written]
        self.in_set: np.ndarray = np.asarray(found["in_set"]).reshape(n, k)[written].astype(bool)
        self.p_values: np.ndarray = np.asarray(found["p_values"]).reshape(n, k)[written]
        self.threshold: float | None = found["threshold"]
        self.n_calibration: int = found["n_calibration"]
        self.n_annotators: int | None = found["n_annotators"] or None
        self.min_items: int = found["min_items"]
        self.unmatched: float = found["unmatched"]
        self.n_filled: int = found["n_filled"]
        names = id_texts(self.classes.tolist())
        self.table: Any = make_table(
            {
                "task": self.tasks,
                "set": ["+".join(name for name, x in zip(names, row) if x) for row in self.in_set],
                "size": self.in_set.sum(axis=1),
            },
            "task",
            aligned.pandas,
        )
        kinds = found["kinds"]
        coverage = [metric(m) for m in found["coverage"]]
        first = dict(zip(reversed(kinds), reversed(coverage)))
        self.coverage: Metric | None = first.get("all") if found["n_tested"] else None
        self.new_annotators: Metric | None = first.get("new_annotators")
        columns = columns_of(found["rows"])
        ids = {"class": names, "annotator": workers}
        index = columns.pop("index").tolist()
        shown = [str(ids[by][i]) if by in ids else "" if by in ("all", "new_annotators") else str(i + (by == "entropy"))
                 for by, i in zip(kinds, index)]
        self.rows: Any = make_table(
            {
                "by": kinds,
                "value": shown,
                **columns,
                **_metric_columns("coverage", found["coverage"]),
            },
            None,
            aligned.pandas,
        )
        self._place = {task: i for i, task in enumerate(self.tasks.tolist())}

    def __getitem__(self, task: Any) -> list[Any]:
        return self.classes[self.in_set[self._place[task]]].tolist()

    def __len__(self) -> int:
        return len(self.tasks)

    @property
    def sizes(self) -> np.ndarray:
        """The number of classes of each set."""
        return self.in_set.sum(axis=1)

    def __repr__(self) -> str:
        size = self.sizes.mean() if len(self) else float("nan")
        return f"PredictionSets({len(self)} sets, coverage {self.asked:g}, {size:.2f} classes on average)"

    def _repr_html_(self) -> str:
        return shown_with(self, self.table)


def prediction_sets(
    pred: Any,
    votes: Any,
    *,
    calibration: Any = None,
    coverage: float = 0.9,
    score: str = "lac",
    allow_empty: bool = False,
    lenient: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> PredictionSets:
    """Sets of classes that contain the answer of an annotator with probability ``coverage`` or more.

    Conformal prediction from several votes per item. The coverage holds on average over items, for any model. Calibration
    items and new items must be of the same kind, and the model must not be trained on the calibration items.

    Parameters
    ----------
    pred : labels
        Predictions: SoftLabels, a DataFrame (rows tasks, columns classes), a table with task and p:CLASS columns, or a
        file. Without ``calibration``, tasks with votes calibrate the sets of the others.
    votes : Votes or a table
        Votes of people on calibration items.
    calibration : labels, optional
        Predictions for the calibration items. Votes on tasks of ``pred`` then measure the coverage.
    coverage : float
        Between 0 and 1.
    score : str
        "lac" (smallest sets on average) or "aps" (more equal coverage of clear and unclear items).
    allow_empty : bool
        Keep empty sets. Otherwise they get the most probable class.
    lenient : bool
        Accept votes for classes that the predictions lack. No set contains them.
    random_state : int
        Seed of the random shares of "aps".

    >>> import dissent
    >>> votes = [(f"t{i}", w, "yes" if (i + w) % 4 else "no") for i in range(40) for w in range(3)]
    >>> pred = dissent.SoftLabels([f"t{i}" for i in range(50)], ["no", "yes"], [[0.3, 0.7]] * 50)
    >>> found = dissent.prediction_sets(pred, dissent.Votes(votes), coverage=0.9)
    >>> found["t49"], len(found)
    (['no', 'yes'], 10)
    """
    table = as_votes(votes, n_jobs=n_jobs)
    tables = [label_table(pred, "predictions")]
    if calibration is not None:
        tables.append(label_table(calibration, "calibration"))
    aligned, calibrates = _joined(tables)
    places = _vote_places(table, aligned, lenient)
    found = _core.prediction_sets(
        aligned.p[0],
        len(aligned.tasks.ids),
        len(aligned.classes.ids),
        id_texts(aligned.tasks.ids),
        calibrates,
        table.core,
        places["item"],
        places["class_"],
        real("coverage", coverage, 0, 1),
        word("score", score, "'lac'"),
        bool(allow_empty),
        seed_of(random_state),
        threads_of(n_jobs),
    )
    n = len(tables[0].p)
    written = np.zeros(len(aligned.tasks.ids), dtype=bool)
    written[:n] = True if calibration is not None else places["item"] < 0
    if not written.any():
        written[:] = True
    aligned.pandas = aligned.pandas or table.pandas
    return PredictionSets(found, float(coverage), aligned, written, table.workers.tolist())


def _vote_places(table: Any, aligned: Aligned, lenient: bool) -> dict[str, np.ndarray]:
    """Where tasks are among the votes; tasks without votes are allowed, unknown classes if lenient."""
    places = vote_places(table, aligned, lenient=True)
    unknown = places["class_"] < 0
    if not lenient and unknown.any():
        raise _core.DataError(
            f"votes: the class {table.classes[int(np.argmax(unknown))]!r} is not among the classes {aligned.classes.ids} "
            "of the predictions; lenient=True accepts it, and no set contains it"
        )
    return places


def _joined(tables: list[Any]) -> tuple[Aligned, np.ndarray]:
    """Predictions and calibration items as one table; which rows calibrate."""
    first = Aligned(tables[:1])
    n = len(first.tasks.ids)
    calibrates = np.ones(n, dtype=np.uint8)
    if len(tables) == 1:
        return first, calibrates
    second = Aligned(tables[1:], classes=first.classes)
    both = next((t for t in second.tasks.ids if first.tasks.find(t) >= 0), None)
    if both is not None:
        raise _core.DataError(f"task {both!r} is in pred and in calibration; leave it out of one of them")
    first.tasks = type(first.tasks)([*first.tasks.ids, *second.tasks.ids])
    first.p = [np.ascontiguousarray(np.vstack([first.p[0], second.p[0]]))]
    first.pandas = first.pandas or second.pandas
    return first, np.concatenate([np.zeros(n, np.uint8), np.ones(len(second.tasks.ids), np.uint8)])
