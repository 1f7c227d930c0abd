"""Label methods that estimate a confusion matrix per worker."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from . import _core
from ._base import Confusions, Simple, gold_of
from ._estimator import spec_of
from ._running import ProgressLike
from ._state import state_bytes
from ._votes import Votes, as_votes


@dataclass(eq=False, repr=False)
class DawidSkene(Confusions):
    """The defaults are those of crowd-kit. Those of the command line (smoothing=0.5, diagonal=2, floor=0) are better on
    nearly all real crowds: without pseudo-counts, confusion matrices of workers with few votes become overconfident.
    ``initial_error_strategy`` is the meaning of ``initial_error`` of fit(). With 'addition' it has counts of earlier
    votes, which are added before the first iteration. With 'assign' it has the initial matrices."""

    _method = "dawid-skene"
    _options: ClassVar[dict[str, str]] = {
        "n_iter": "iterations",
        "tol": "tolerance",
        "smoothing": "smoothing",
        "diagonal": "diagonal",
        "floor": "floor",
    }

    n_iter: int = 100
    tol: float = 1e-5
    initial_error_strategy: str | None = None
    _: KW_ONLY
    smoothing: float = 0.0
    diagonal: float = 0.0
    floor: float = 1e-10
    n_jobs: int | None = None
    progress: ProgressLike = None
    device: str = "cpu"

    def fit(
        self,
        data: Any,
        true_labels: Any = None,
        initial_error: Any = None,
        predictions: Any = None,
        predictions_weight: float | None = None,
    ) -> DawidSkene:
        """Fits to votes.

        true_labels (a Series or dict by task) are known labels, which stay unchanged. initial_error is a DataFrame by
        (worker, label given) with a column for each true label. predictions are out-of-fold predictions of a model
        (SoftLabels or a DataFrame by task), used as the prior of each task; SoftClassifier.out_of_fold computes them.
        predictions_weight is their weight; None estimates it, 1 uses them unchanged."""
        if initial_error is None or self.initial_error_strategy is None:
            self._run(data, true_labels, predictions=predictions, predictions_weight=predictions_weight)
            return self
        votes = as_votes(data, self.n_jobs)
        shares = _shares(votes, gold_of(votes, true_labels))
        confusion = _first_errors(votes, shares, initial_error, self.initial_error_strategy, self.floor)
        if self.n_iter == 0:
            self._keep(votes, shares, None)
            self._fitted["confusion"] = confusion
            if set(map(tuple, initial_error.index)) >= {(w, c) for w in votes.workers.tolist() for c in votes.classes.tolist()}:
                self._fitted["errors_index"] = initial_error.index
            return self
        start = state_bytes(
            "dawid-skene",
            {"confusion": ("wvt", confusion), "prior": ("t", shares.mean(axis=0))},
            votes.core.names("worker"),
            votes.core.names("label"),
        )
        # the library counts iterations from the parameters it starts with, crowd-kit from the votes
        options = {option: getattr(self, name) for name, option in self._options.items()}
        spec = spec_of(self._method, {**options, "iterations": self.n_iter - 1, "soften": 0})
        self._run(votes, true_labels, spec, start, predictions, predictions_weight)
        return self

    def _confusion(self) -> np.ndarray | None:
        stored: np.ndarray | None = self._fitted.get("confusion")
        return super()._confusion() if stored is None else stored

    def fit_predict_proba(
        self, data: Any, true_labels: Any = None, initial_error: Any = None, predictions: Any = None
    ) -> Any:
        """Fits, and returns a distribution over the classes for each task."""
        return self.fit(data, true_labels, initial_error, predictions).probas_

    def fit_predict(
        self, data: Any, true_labels: Any = None, initial_error: Any = None, predictions: Any = None
    ) -> Any:
        """Fits, and returns the most probable class of each task."""
        return self.fit(data, true_labels, initial_error, predictions).labels_


def _shares(votes: Votes, gold: np.ndarray | None) -> np.ndarray:
    """Shares of votes; known labels are certain."""
    counts = votes.counts()
    shares = counts / counts.sum(axis=1, keepdims=True)
    if gold is not None:
        known = gold >= 0
        shares[known] = np.eye(shares.shape[1])[gold[known]]
    return shares


def _given_errors(votes: Votes, given: Any) -> tuple[np.ndarray, np.ndarray]:
    """initial_error as (workers, label given, true label) with 0 where it says nothing, and which (worker, label) it
    has."""
    if list(getattr(getattr(given, "index", None), "names", [])) != ["worker", "label"]:
        raise _core.DataError("initial_error must be a DataFrame indexed by worker and label")
    k = votes.core.n_classes
    worker_at = {w: i for i, w in enumerate(votes.workers.tolist())}
    class_at = {c: i for i, c in enumerate(votes.classes.tolist())}
    table = np.zeros((votes.core.n_workers, k, k))
    has_value = np.zeros((votes.core.n_workers, k), dtype=bool)
    columns = [class_at[c] for c in given.columns if c in class_at]
    if len(columns) < k:
        raise _core.DataError("initial_error must have a column for every class")
    values = given[[c for c in given.columns if c in class_at]].to_numpy(dtype=np.float64)
    for (worker, label), row in zip(given.index, values):
        if worker in worker_at and label in class_at:
            table[worker_at[worker], class_at[label], columns] = row
            has_value[worker_at[worker], class_at[label]] = True
    return table, has_value


def _first_errors(votes: Votes, shares: np.ndarray, given: Any, strategy: str, floor: float) -> np.ndarray:
    """The confusion matrices before the first iteration, as crowd-kit makes them."""
    k = votes.core.n_classes
    item, worker, label = votes.rows()
    used = np.zeros((votes.core.n_workers, k), dtype=bool)
    used[worker, label] = True
    initial, has_value = _given_errors(votes, given)
    if strategy == "addition":
        table = np.zeros((votes.core.n_workers * k, k))
        np.add.at(table, worker * k + label, shares[item])
        table = table.reshape(-1, k, k) + initial
        has_value |= used
    elif strategy == "assign":
        missing = (used & ~has_value).any(axis=1)
        if missing.any():
            raise _core.DataError(
                f"All the workers in data should be in initial_error: {int(missing.sum())} of them are not, "
                f"for one {votes.workers[missing][0]!r}"
            )
        if (np.asarray(given.to_numpy(dtype=np.float64)) <= 1).all() and not np.allclose(initial.sum(axis=1), 1):
            raise _core.DataError("The sum of each worker's error matrix in initial_error should be 1.0")
        table = initial
    else:
        raise _core.OptionError(f"initial_error_strategy is 'assign', 'addition' or None, not {strategy!r}")
    table = np.where(has_value[:, :, None], np.maximum(table, floor), 0.0)
    total = table.sum(axis=1, keepdims=True)
    return np.divide(table, total, out=np.full_like(table, 1.0 / k), where=total > 0)


@dataclass(eq=False, repr=False)
class OneCoinDawidSkene(Simple, Confusions):
    """A worker has one accuracy for all classes; errors are uniform over the other classes. The defaults are those of
    crowd-kit; the command line's, smoothing=1 and prior='uniform', do not put every task of a crowd with a frequent
    class into that class."""

    _method = "one-coin"
    _options: ClassVar[dict[str, str]] = {
        "n_iter": "iterations",
        "tol": "tolerance",
        "smoothing": "smoothing",
        "prior": "prior",
    }

    n_iter: int = 100
    tol: float = 1e-5
    initial_error_strategy: str | None = None
    _: KW_ONLY
    smoothing: float = 0.0
    prior: str = "estimate"
    n_jobs: int | None = None
    progress: ProgressLike = None
    device: str = "cpu"

    def _confusion(self) -> np.ndarray | None:
        skill = self._parameter("skill")
        k = self._have("votes").core.n_classes
        if skill is None:
            return None
        wrong = (1.0 - skill) / max(k - 1, 1)
        return np.where(np.eye(k, dtype=bool), skill[:, None, None], wrong[:, None, None])


@dataclass(eq=False, repr=False)
class FastDawidSkene(Simple, Confusions):
    """Hard assignments: converges in a few iterations. probas_ are the posteriors at the end."""

    _method = "fast-dawid-skene"
    _options: ClassVar[dict[str, str]] = {
        "n_iter": "iterations",
        "tol": "tolerance",
        "method": "method",
        "smoothing": "smoothing",
        "floor": "floor",
    }

    n_iter: int = 100
    tol: float = 1e-9
    _: KW_ONLY
    method: str = "hard"
    smoothing: float = 0.0
    floor: float = 0.0
    n_jobs: int | None = None
    progress: ProgressLike = None
    device: str = "cpu"


@dataclass(eq=False, repr=False)
class IBCC(Simple, Confusions):
    """Dawid-Skene with priors on all parameters; works with few votes per worker."""

    _method = "ibcc"
    _options: ClassVar[dict[str, str]] = {
        "n_iter": "iterations",
        "tol": "tolerance",
        "diagonal": "diagonal",
        "off_diagonal": "off-diagonal",
        "class_prior": "class-prior",
    }

    n_iter: int = 500
    tol: float = 1e-8
    _: KW_ONLY
    diagonal: float = 4.0
    off_diagonal: float = 1.0
    class_prior: float = 1.0
    n_jobs: int | None = None
    progress: ProgressLike = None
    device: str = "cpu"


@dataclass(eq=False, repr=False)
class Crowd(Simple, Confusions):
    """The model of review(): confusion matrices shrunk towards the crowd's, and three levels of item difficulty."""

    _method = "crowd"
    _options: ClassVar[dict[str, str]] = {"n_iter": "iterations", "tol": "tolerance"}

    n_iter: int = 5
    tol: float = 0.0
    _: KW_ONLY
    n_jobs: int | None = None
    progress: ProgressLike = None


@dataclass(eq=False, repr=False)
class EBCC(Simple, Confusions):
    """errors_ averages the item types by their shares. ``combine='mean'`` averages the labels of all restarts, which end
    in different optima: this is better calibrated and takes n_restarts times as long."""

    _method = "ebcc"
    _options: ClassVar[dict[str, str]] = {
        "n_groups": "groups",
        "n_restarts": "restarts",
        "n_iter": "iterations",
        "tol": "tolerance",
        "combine": "combine",
        "group_prior": "group-prior",
        "diagonal": "diagonal",
        "off_diagonal": "off-diagonal",
        "class_prior": "class-prior",
    }

    n_groups: int = 10
    n_restarts: int = 10
    n_iter: int = 500
    tol: float = 1e-7
    _: KW_ONLY
    combine: str = "best"
    group_prior: float = 0.1
    diagonal: float = 4.0
    off_diagonal: float = 1.0
    class_prior: float = 1.0
    random_state: Any = 0
    n_jobs: int | None = None
    progress: ProgressLike = None
    device: str = "cpu"
