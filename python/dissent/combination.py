"""One set of soft labels from several views of the same votes.

>>> from dissent import DawidSkene, JensenShannonCentroid, Standard
>>> votes = [("t1", "ann", 1), ("t1", "bob", 1), ("t2", "ann", 0), ("t2", "bob", 0), ("t3", "ann", 1), ("t3", "bob", 0)]
>>> JensenShannonCentroid([Standard(), DawidSkene()]).fit_predict(votes)["t2"]
0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from . import _core
from ._base import COMBINERS, METHODS, Aggregator, Simple
from ._docs import describe
from ._checks import listed
from ._estimator import named_in_python, spec_of
from ._results import SoftLabels
from ._running import ProgressLike, progress_of, threads_of
from ._tables import Aligned, label_table
from ._votes import Votes, as_votes
from .aggregation import MACE, Crowd, DawidSkene, Softmax, Standard

__all__ = ["Average", "Calibrated", "Hybrid", "JensenShannonCentroid", "Temperature"]


def _same_rows(views: Sequence[Any]) -> tuple[list[np.ndarray], Any]:
    """The numbers of several views of the same tasks and classes, and the first view to make the result like."""
    tables = [label_table(view, f"view {i + 1}") for i, view in enumerate(views)]
    first = tables[0]
    if first.tasks is None and any(t.tasks is not None and not t.tasks.are_numbers_of_rows() for t in tables):
        raise _core.DataError(
            "view 1 has no task ids to match with those of the others: give ids to all views or to none"
        )
    return Aligned(tables, tasks=first.tasks, classes=first.classes).p, views[0]


class _Combination(Simple):
    _combiner: ClassVar[str]
    _method = "standard"

    aggregators: Sequence[Aggregator] | None
    weights: Any
    random_state: Any

    def _combiner_spec(self) -> str:
        options = {option: getattr(self, name) for name, option in self._options.items() if name != "weights"}
        return spec_of(self._combiner, options)

    def _usual(self) -> list[Aggregator]:
        return [Standard(), Softmax(), DawidSkene(tol=1e-7, floor=0.0), MACE(n_iter=500, tol=1e-7)]

    def _members(self) -> list[Aggregator]:
        if self.aggregators is None:
            return self._usual()
        given = listed("aggregators", self.aggregators, "label methods such as [DawidSkene(), MACE()]")
        for a in given:
            if not isinstance(a, Aggregator):
                raise TypeError(f"aggregators holds {a!r}; list label methods such as [DawidSkene(), MACE()]")
        if not given:
            raise _core.OptionError("no aggregators to combine")
        return [a.clone() for a in given]

    def _weights(self, n: int, votes: Votes | None, members: Sequence[Aggregator]) -> np.ndarray | None:
        if self.weights is None or (isinstance(self.weights, str) and self.weights == "equal"):
            return None
        if isinstance(self.weights, str):
            if self.weights not in ("auto", "votes"):
                raise _core.OptionError(f"weights are numbers, 'equal', 'auto' or 'votes', not {self.weights!r}")
            if votes is None:
                raise _core.OptionError(f"weights={self.weights!r} needs the votes: call fit()")
            return np.asarray(
                _core.view_weights(
                    votes.core,
                    [m._spec() for m in members],
                    by_votes=self.weights == "votes",
                    seed=self._seed(),
                    threads=threads_of(self.n_jobs),
                )
            )
        weights = np.ascontiguousarray(self.weights, dtype=np.float64)
        if weights.shape != (n,):
            raise _core.OptionError(f"{n} views, but weights of shape {weights.shape}")
        if not np.isfinite(weights).all() or (weights <= 0).any():
            raise _core.OptionError("weights are positive numbers")
        return weights

    def _combine(
        self, tables: Sequence[np.ndarray], weights: np.ndarray | None, votes: Votes | None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        n_items, n_classes = tables[0].shape
        with named_in_python(self):
            p, info = _core.combine(
                tuple(np.ascontiguousarray(t) for t in tables),
                n_items,
                n_classes,
                self._combiner_spec(),
                weights=weights,
                votes=votes.core if votes is not None else None,
                threads=threads_of(self.n_jobs),
                progress=progress_of(self._progress()),
            )
        return np.asarray(p), info

    def fit(self, data: Any, predictions: Any = None, predictions_weight: float | None = None) -> Any:
        """Fits every aggregator to the votes and combines their labels. Aggregators that use out-of-fold predictions get
        them (DawidSkene.fit)."""
        votes = as_votes(data, self.n_jobs)
        members = self._members()
        tables = []
        for member in members:
            useful = METHODS[member._method]["predictions"] != "unused"
            member._run(votes, predictions=predictions if useful else None, predictions_weight=predictions_weight)
            tables.append(member._have("p"))
        p, info = self._combine(tables, self._weights(len(members), votes, members), votes)
        self._keep(votes, p, None)
        self._fitted.update(members=members, info=info)
        return self

    def combine(self, views: Sequence[Any]) -> Any:
        """Combines existing soft labels: SoftLabels, DataFrames or arrays. The result is of the same kind."""
        views = list(views)
        if not views:
            raise _core.OptionError("no views to combine")
        tables, like = _same_rows(views)
        p, _ = self._combine(tables, self._weights(len(tables), None, ()), None)
        if isinstance(like, SoftLabels):
            return SoftLabels(like.tasks, like.classes, p, categories=like.categories)
        if hasattr(like, "result_"):
            like = like.probas_
        if hasattr(like, "columns") and hasattr(like, "index"):
            return type(like)(p, index=like.index, columns=like.columns)
        if isinstance(like, SoftLabels):
            return SoftLabels(like.tasks, like.classes, p, categories=like.categories)
        return p

    @property
    def aggregators_(self) -> list[Aggregator]:
        """The fitted aggregators."""
        return self._have("members")

    @property
    def weights_(self) -> np.ndarray:
        """The weight of each view; weights sum to 1."""
        return np.array(self._have("info")["weights"])

    @property
    def temperatures_(self) -> np.ndarray:
        """The temperature of each view; 0 if it has none."""
        return np.array(self._have("info")["temperatures"])

    @property
    def on_bound_(self) -> np.ndarray:
        """Whether a temperature is at its bound."""
        return np.array(self._have("info")["on_bound"])


@dataclass(eq=False, repr=False)
class Average(_Combination):
    """The mean of the views."""

    _combiner = "average"

    aggregators: Sequence[Aggregator] | None = None
    weights: Any = "equal"
    _: KW_ONLY
    random_state: Any = 0
    n_jobs: int | None = None
    progress: ProgressLike = None


@dataclass(eq=False, repr=False)
class JensenShannonCentroid(_Combination):
    """The distribution that is closest to all views in Jensen-Shannon divergence."""

    _combiner = "centroid"
    _options: ClassVar[dict[str, str]] = {"tol": "tolerance", "n_iter": "steps"}

    aggregators: Sequence[Aggregator] | None = None
    weights: Any = "equal"
    tol: float = 1e-12
    n_iter: int = 100
    _: KW_ONLY
    random_state: Any = 0
    n_jobs: int | None = None
    progress: ProgressLike = None


@dataclass(eq=False, repr=False)
class Temperature(_Combination):
    """temperatures_ has the temperature of each view; on_bound_ marks those at the bound."""

    _combiner = "temperature"
    _options: ClassVar[dict[str, str]] = {"penalty": "lambda", "bound": "bound", "start": "start", "fixed": "fixed"}

    aggregators: Sequence[Aggregator] | None = None
    weights: Any = "equal"
    penalty: float = 1e-3
    bound: float = 1.0
    start: float = 1.5
    fixed: float | None = None
    _: KW_ONLY
    random_state: Any = 0
    n_jobs: int | None = None
    progress: ProgressLike = None


@dataclass(eq=False, repr=False)
class Hybrid(_Combination):
    """Temperature scaling, then the centroid."""

    _combiner = "hybrid"
    _options: ClassVar[dict[str, str]] = {
        "penalty": "lambda",
        "bound": "bound",
        "start": "start",
        "fixed": "fixed",
        "tol": "tolerance",
        "n_iter": "steps",
    }

    aggregators: Sequence[Aggregator] | None = None
    weights: Any = "equal"
    penalty: float = 1e-3
    bound: float = 1.0
    start: float = 1.5
    fixed: float | None = None
    tol: float = 1e-12
    n_iter: int = 100
    _: KW_ONLY
    random_state: Any = 0
    n_jobs: int | None = None
    progress: ProgressLike = None


@dataclass(eq=False, repr=False)
class Calibrated(_Combination):
    """Corrects the overconfidence of annotator models on real crowds. Without arguments, it computes the default labels of
    the command line."""

    _combiner = "calibrated"
    _options: ClassVar[dict[str, str]] = {"power": "power", "limit": "limit", "mix": "mix"}

    aggregators: Sequence[Aggregator] | None = None
    weights: Any = "votes"
    power: float | str = "auto"
    limit: float = 16.0
    mix: float = 0.02
    _: KW_ONLY
    random_state: Any = 0
    n_jobs: int | None = None
    progress: ProgressLike = None

    @property
    def power_(self) -> float:
        """Exponent of the number of votes in the temperature of a task."""
        return float(self._have("info")["power"])

    @property
    def overdispersion_(self) -> float:
        """Standard deviation of the effect of a task on the log-odds of a correct vote, estimated from the votes; NaN if
        power was given."""
        return float(self._have("info")["overdispersion"])

    def _usual(self) -> list[Aggregator]:
        return [DawidSkene(tol=1e-7, smoothing=0.5, diagonal=2.0, floor=0.0), Crowd(), Standard()]

    def combine(self, views: Sequence[Any]) -> Any:
        """Not supported: the number of votes per task is unknown here; use fit()."""
        raise _core.OptionError("Calibrated needs the votes: call fit(), or take another combination")


_OWN = {
    "aggregators": "What to combine; None: Standard, Softmax, DawidSkene and MACE, the views of Wright & Augenstein "
    "2022.",
    "weights": "One number per view, 'equal', 'auto' (by how well each predicts held-out votes), or 'votes' (less for "
    "methods with one matrix per annotator if annotators have few votes).",
}
for _class in (Average, JensenShannonCentroid, Temperature, Hybrid):
    describe(_class, COMBINERS[_class._combiner], _OWN)
describe(
    Calibrated,
    COMBINERS["calibrated"],
    {**_OWN, "aggregators": "What to combine; None: DawidSkene with smoothing, Crowd and Standard, as the command line does."},
)
