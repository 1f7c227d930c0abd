"""Label methods, under crowd-kit's names: change ``from crowdkit.aggregation import X`` to ``from dissent import X``.

>>> from dissent import DawidSkene
>>> votes = [("t1", "ann", 1), ("t1", "bob", 1), ("t2", "ann", 0), ("t2", "bob", 0), ("t3", "ann", 1), ("t3", "bob", 0)]
>>> DawidSkene(n_iter=20).fit_predict(votes).to_dict()["t1"]
1
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from . import _core
from ._base import METHODS, Aggregator, Confusions, gold_of, spec_of
from ._docs import describe
from ._state import state_bytes
from ._votes import ProgressLike, Votes, as_votes

__all__ = [
    "BWA",
    "EBCC",
    "GLAD",
    "IBCC",
    "MACE",
    "Crowd",
    "Crowdlab",
    "DawidSkene",
    "FastDawidSkene",
    "MajorityVote",
    "OneCoinDawidSkene",
    "Ordinal",
    "Softmax",
    "Standard",
    "Wawa",
    "ZeroBasedSkill",
]


class _Simple(Aggregator):
    """Fits to votes, and where the method can, to what a model predicts."""

    def fit(self, data: Any, predictions: Any = None, predictions_weight: float | None = None) -> Any:
        """Fits to votes: a table with columns task, worker and label, of any kind that Votes takes. predictions: what a model
        says of the tasks, out of fold (SoftLabels or a DataFrame by task; SoftClassifier.out_of_fold makes them), as the prior
        of each task; predictions_weight: None to estimate their weight, else a number (1: as they are)."""
        self._run(data, predictions=predictions, predictions_weight=predictions_weight)
        return self

    def fit_predict_proba(self, data: Any, predictions: Any = None, predictions_weight: float | None = None) -> Any:
        """Fits, and gives a distribution over the classes for each task."""
        return self.fit(data, predictions, predictions_weight).probas_

    def fit_predict(self, data: Any, predictions: Any = None, predictions_weight: float | None = None) -> Any:
        """Fits, and gives the most likely class of each task."""
        return self.fit(data, predictions, predictions_weight).labels_


class Standard(_Simple):
    """The soft label of a task is the share of votes for each class. Takes counts too (Votes.from_counts)."""

    _method = "standard"

    def __init__(self, *, n_jobs: int | None = None, progress: ProgressLike = None) -> None:
        self.n_jobs = n_jobs
        self.progress = progress


class Softmax(_Simple):
    """The soft label of a task is the softmax of its vote counts. Takes counts too (Votes.from_counts)."""

    _method = "softmax"

    def __init__(self, *, n_jobs: int | None = None, progress: ProgressLike = None) -> None:
        self.n_jobs = n_jobs
        self.progress = progress


def _weighted_shares(votes: Votes, weight: np.ndarray) -> np.ndarray:
    """Shares of votes that count as much as their worker; items whose votes count nothing get equal shares."""
    item, worker, label = votes.rows()
    n_items, n_classes = votes.core.n_items, votes.core.n_classes
    flat = np.bincount(item * n_classes + label, weights=weight[worker], minlength=n_items * n_classes)
    table = flat.reshape(n_items, n_classes)
    total = table.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total != 0, table / total, 1.0 / n_classes)


def _weights_of(votes: Votes, skills: Any, missing: float | None) -> np.ndarray:
    """A number for each worker by name; NaN, or `missing`, where there is none."""
    known = dict(skills.items() if hasattr(skills, "items") else skills)
    default = float("nan") if missing is None else float(missing)
    return np.array([float(known.get(w, default)) for w in votes.workers.tolist()])


class MajorityVote(Aggregator):
    """probas_ holds the shares of votes, labels_ the class with most of them, the first one on a tie; skills_ each worker's
    share of votes that agree with labels_. Votes may be weighted by skills."""

    _method = "standard"
    _sorts_tasks = True

    def __init__(
        self,
        default_skill: float | None = None,
        on_missing_skill: str = "error",
        *,
        n_jobs: int | None = None,
        progress: ProgressLike = None,
    ) -> None:
        self.default_skill = default_skill
        self.on_missing_skill = on_missing_skill
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, data: Any, skills: Any = None) -> MajorityVote:
        """Fits to votes, weighted by skills (a Series or dict by worker) when they are given."""
        votes = as_votes(data, self.n_jobs)
        if skills is None:
            self._run(votes)
            return self
        weight = self._skill_weights(votes, skills)
        if np.isnan(weight).any():  # ignored workers
            item, worker, _ = votes.rows()
            voted = np.bincount(item, weights=~np.isnan(weight[worker]), minlength=votes.core.n_items)
            if (voted == 0).any():
                raise _core.DataError(
                    f"{int((voted == 0).sum())} tasks have no worker with a known skill; give on_missing_skill='value' and default_skill"
                )
            weight = np.nan_to_num(weight, nan=0.0)
        self._keep(votes, _weighted_shares(votes, weight), None)
        return self

    def _skill_weights(self, votes: Votes, skills: Any) -> np.ndarray:
        if self.on_missing_skill not in ("error", "ignore", "value"):
            raise _core.OptionError(f"on_missing_skill is 'error', 'ignore' or 'value', not {self.on_missing_skill!r}")
        if (self.on_missing_skill == "value") != (self.default_skill is not None):
            raise _core.OptionError("default_skill goes with on_missing_skill='value', and that needs it")
        weight = _weights_of(votes, skills, self.default_skill)
        if self.on_missing_skill == "error" and np.isnan(weight).any():
            unknown = votes.workers[np.isnan(weight)][0]
            raise _core.DataError(
                f"{int(np.isnan(weight).sum())} workers have no skill, for one {unknown!r}; give it, or another on_missing_skill"
            )
        return weight

    def fit_predict_proba(self, data: Any, skills: Any = None) -> Any:
        """Fits, and gives a distribution over the classes for each task."""
        return self.fit(data, skills).probas_

    def fit_predict(self, data: Any, skills: Any = None) -> Any:
        """Fits, and gives the class with most votes for each task."""
        return self.fit(data, skills).labels_

    @property
    def skills_(self) -> Any:
        """The share of each worker's votes that agree with labels_."""

        def make() -> Any:
            p = self._have("p")
            best = np.zeros_like(p)
            best[np.arange(len(p)), np.argmax(p, axis=1)] = 1.0
            quality = _core.worker_quality(self._have("votes").core, best)
            return self._by_worker(np.asarray(quality), "skill")

        return self._once("skills", make)


class _Skilled(_Simple):
    """Skills of workers, then a weighted vote, which may be held over other votes of the same workers."""

    _sorts_tasks = True

    def _apply(self, data: Any) -> MajorityVote:
        votes: Votes = self._have("votes")
        known = dict(zip(votes.workers.tolist(), np.asarray(self._parameter("skill")).tolist()))
        result = MajorityVote(n_jobs=self.n_jobs).fit(data, known)
        self._fitted.update(labels=result.labels_, probas=result.probas_)  # as crowd-kit does
        return result

    def predict(self, data: Any) -> Any:
        """The most likely classes of tasks that workers of fit() voted on."""
        return self._apply(data).labels_

    def predict_proba(self, data: Any) -> Any:
        """Distributions over the classes of tasks that workers of fit() voted on."""
        return self._apply(data).probas_


class Wawa(_Skilled):
    """Worker agreement with aggregate: skills are agreements with the majority vote."""

    _method = "wawa"

    def __init__(self, *, n_jobs: int | None = None, progress: ProgressLike = None) -> None:
        self.n_jobs = n_jobs
        self.progress = progress


class ZeroBasedSkill(_Skilled):
    """Stops early when a step changes no skill: later ones would not either."""

    _method = "zero-based-skill"
    _options: ClassVar[dict[str, str]] = {
        "n_iter": "iterations",
        "lr_init": "rate",
        "lr_steps_to_reduce": "every",
        "lr_reduce_factor": "factor",
        "eps": "margin",
    }

    def __init__(
        self,
        n_iter: int = 100,
        lr_init: float = 1.0,
        lr_steps_to_reduce: int = 20,
        lr_reduce_factor: float = 0.5,
        eps: float = 1e-5,
        *,
        n_jobs: int | None = None,
        progress: ProgressLike = None,
    ) -> None:
        self.n_iter = n_iter
        self.lr_init = lr_init
        self.lr_steps_to_reduce = lr_steps_to_reduce
        self.lr_reduce_factor = lr_reduce_factor
        self.eps = eps
        self.n_jobs = n_jobs
        self.progress = progress


class DawidSkene(Confusions):
    """Defaults are crowd-kit's. The command line's, smoothing=0.5, diagonal=2 and floor=0, are better on nearly every
    real crowd: without pseudo-counts matrices of workers with few votes become certain of what they saw once.
    ``initial_error_strategy`` says what ``initial_error`` of fit() is: with 'addition' counts of earlier votes that are added
    to those of these votes before the first iteration, with 'assign' the matrices to begin with."""

    _method = "dawid-skene"
    _options: ClassVar[dict[str, str]] = {
        "n_iter": "iterations",
        "tol": "tolerance",
        "smoothing": "smoothing",
        "diagonal": "diagonal",
        "floor": "floor",
    }

    def __init__(
        self,
        n_iter: int = 100,
        tol: float = 1e-5,
        initial_error_strategy: str | None = None,
        *,
        smoothing: float = 0.0,
        diagonal: float = 0.0,
        floor: float = 1e-10,
        n_jobs: int | None = None,
        progress: ProgressLike = None,
        device: str = "cpu",
    ) -> None:
        self.n_iter = n_iter
        self.tol = tol
        self.initial_error_strategy = initial_error_strategy
        self.smoothing = smoothing
        self.diagonal = diagonal
        self.floor = floor
        self.n_jobs = n_jobs
        self.progress = progress
        self.device = device

    def fit(
        self,
        data: Any,
        true_labels: Any = None,
        initial_error: Any = None,
        predictions: Any = None,
        predictions_weight: float | None = None,
    ) -> DawidSkene:
        """Fits to votes; true_labels (a Series or dict by task) are labels that are known and stay as they are,
        initial_error is a DataFrame by (worker, label given) with a column for each true label. predictions: what a model says
        of the tasks, out of fold (SoftLabels or a DataFrame by task; SoftClassifier.out_of_fold makes them), as the prior of
        each task; predictions_weight: None to estimate their weight, else a number (1: as they are)."""
        if initial_error is None or self.initial_error_strategy is None:
            self._run(data, true_labels, predictions=predictions, predictions_weight=predictions_weight)
            return self
        votes = as_votes(data, self.n_jobs)
        shares = _shares(votes, gold_of(votes, true_labels))
        confusion = _first_errors(votes, shares, initial_error, self.initial_error_strategy, self.floor)
        if self.n_iter == 0:
            self._keep(votes, shares, None)
            self._fitted["confusion"] = confusion
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
        kept: np.ndarray | None = self._fitted.get("confusion")
        return super()._confusion() if kept is None else kept

    def fit_predict_proba(self, data: Any, true_labels: Any = None, initial_error: Any = None, predictions: Any = None) -> Any:
        """Fits, and gives a distribution over the classes for each task."""
        return self.fit(data, true_labels, initial_error, predictions).probas_

    def fit_predict(self, data: Any, true_labels: Any = None, initial_error: Any = None, predictions: Any = None) -> Any:
        """Fits, and gives the most likely class of each task."""
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
    """initial_error as (workers, label given, true label) with 0 where it says nothing, and which (worker, label) it has."""
    if list(getattr(getattr(given, "index", None), "names", [])) != ["worker", "label"]:
        raise _core.DataError("initial_error must be a DataFrame indexed by worker and label")
    k = votes.core.n_classes
    worker_at = {w: i for i, w in enumerate(votes.workers.tolist())}
    class_at = {c: i for i, c in enumerate(votes.classes.tolist())}
    table = np.zeros((votes.core.n_workers, k, k))
    there = np.zeros((votes.core.n_workers, k), dtype=bool)
    columns = [class_at[c] for c in given.columns if c in class_at]
    if len(columns) < k:
        raise _core.DataError("initial_error must have a column for every class")
    values = given[[c for c in given.columns if c in class_at]].to_numpy(dtype=np.float64)
    for (worker, label), row in zip(given.index, values):
        if worker in worker_at and label in class_at:
            table[worker_at[worker], class_at[label], columns] = row
            there[worker_at[worker], class_at[label]] = True
    return table, there


def _first_errors(votes: Votes, shares: np.ndarray, given: Any, strategy: str, floor: float) -> np.ndarray:
    """The confusion matrices before the first iteration, as crowd-kit makes them."""
    k = votes.core.n_classes
    item, worker, label = votes.rows()
    used = np.zeros((votes.core.n_workers, k), dtype=bool)
    used[worker, label] = True
    initial, there = _given_errors(votes, given)
    if strategy == "addition":
        table = np.zeros((votes.core.n_workers * k, k))
        np.add.at(table, worker * k + label, shares[item])
        table = table.reshape(-1, k, k) + initial
        there |= used
    elif strategy == "assign":
        missing = (used & ~there).any(axis=1)
        if missing.any():
            raise _core.DataError(
                f"All the workers in data should be in initial_error: {int(missing.sum())} of them are not, for one {votes.workers[missing][0]!r}"
            )
        if (np.asarray(given.to_numpy(dtype=np.float64)) <= 1).all() and not np.allclose(initial.sum(axis=1), 1):
            raise _core.DataError("The sum of each worker's error matrix in initial_error should be 1.0")
        table = initial
    else:
        raise _core.OptionError(f"initial_error_strategy is 'assign', 'addition' or None, not {strategy!r}")
    table = np.where(there[:, :, None], np.maximum(table, floor), 0.0)
    total = table.sum(axis=1, keepdims=True)
    return np.divide(table, total, out=np.full_like(table, 1.0 / k), where=total > 0)


class OneCoinDawidSkene(_Simple, Confusions):
    """A worker is right with one and the same chance, whatever the class; wrong labels share the rest. Defaults are
    crowd-kit's; the command line's, smoothing=1 and prior='uniform', do not put every task of a crowd with a frequent
    class into that class."""

    _method = "one-coin"
    _options: ClassVar[dict[str, str]] = {"n_iter": "iterations", "tol": "tolerance", "smoothing": "smoothing", "prior": "prior"}

    def __init__(
        self,
        n_iter: int = 100,
        tol: float = 1e-5,
        initial_error_strategy: str | None = None,
        *,
        smoothing: float = 0.0,
        prior: str = "estimate",
        n_jobs: int | None = None,
        progress: ProgressLike = None,
        device: str = "cpu",
    ) -> None:
        self.n_iter = n_iter
        self.tol = tol
        self.initial_error_strategy = initial_error_strategy
        self.smoothing = smoothing
        self.prior = prior
        self.n_jobs = n_jobs
        self.progress = progress
        self.device = device

    def _confusion(self) -> np.ndarray | None:
        skill = self._parameter("skill")
        k = self._have("votes").core.n_classes
        if skill is None:
            return None
        wrong = (1.0 - skill) / max(k - 1, 1)
        return np.where(np.eye(k, dtype=bool), skill[:, None, None], wrong[:, None, None])


class FastDawidSkene(_Simple, Confusions):
    """Hard assignments: settles in a few iterations. probas_ are the posteriors at the end."""

    _method = "fast-dawid-skene"
    _options: ClassVar[dict[str, str]] = {
        "n_iter": "iterations",
        "tol": "tolerance",
        "method": "method",
        "smoothing": "smoothing",
        "floor": "floor",
    }

    def __init__(
        self,
        n_iter: int = 100,
        tol: float = 1e-9,
        *,
        method: str = "hard",
        smoothing: float = 0.0,
        floor: float = 0.0,
        n_jobs: int | None = None,
        progress: ProgressLike = None,
        device: str = "cpu",
    ) -> None:
        self.n_iter = n_iter
        self.tol = tol
        self.method = method
        self.smoothing = smoothing
        self.floor = floor
        self.n_jobs = n_jobs
        self.progress = progress
        self.device = device


class IBCC(_Simple, Confusions):
    """Dawid and Skene's model with priors on everything, so that few votes per worker are enough."""

    _method = "ibcc"
    _options: ClassVar[dict[str, str]] = {
        "n_iter": "iterations",
        "tol": "tolerance",
        "diagonal": "diagonal",
        "off_diagonal": "off-diagonal",
        "class_prior": "class-prior",
    }

    def __init__(
        self,
        n_iter: int = 500,
        tol: float = 1e-8,
        *,
        diagonal: float = 4.0,
        off_diagonal: float = 1.0,
        class_prior: float = 1.0,
        n_jobs: int | None = None,
        progress: ProgressLike = None,
        device: str = "cpu",
    ) -> None:
        self.n_iter = n_iter
        self.tol = tol
        self.diagonal = diagonal
        self.off_diagonal = off_diagonal
        self.class_prior = class_prior
        self.n_jobs = n_jobs
        self.progress = progress
        self.device = device


class Crowd(_Simple, Confusions):
    """The model of the crowd behind review(): matrices drawn towards the crowd's, items of three difficulties."""

    _method = "crowd"
    _options: ClassVar[dict[str, str]] = {"n_iter": "iterations", "tol": "tolerance"}

    def __init__(self, n_iter: int = 5, tol: float = 0.0, *, n_jobs: int | None = None, progress: ProgressLike = None) -> None:
        self.n_iter = n_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.progress = progress


class Crowdlab(_Simple):
    """Needs predictions: ``Crowdlab().fit(votes, predictions)``. skills_ are the shares of co-voters that each worker agrees
    with, weights_ what they count, predictions_weight_ what the model counts beside them."""

    _method = "crowdlab"

    def __init__(self, *, n_jobs: int | None = None, progress: ProgressLike = None) -> None:
        self.n_jobs = n_jobs
        self.progress = progress

    @property
    def skills_(self) -> Any:
        """The share of the other votes on their tasks that each worker agrees with."""
        return self._once("skills", lambda: self._by_worker(np.asarray(self._parameter("agreement")), "skill"))

    @property
    def weights_(self) -> Any:
        """What each worker's votes count."""
        return self._once("weights", lambda: self._by_worker(np.asarray(self._parameter("weight")), "weight"))


class EBCC(_Simple, Confusions):
    """IBCC with several kinds of items per class, so that workers may err together. errors_ averages the kinds by their
    shares. ``combine='mean'`` averages the labels of all restarts, which end in different optima: better calibrated, and
    n_restarts times the work."""

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

    def __init__(
        self,
        n_groups: int = 10,
        n_restarts: int = 10,
        n_iter: int = 500,
        tol: float = 1e-7,
        *,
        combine: str = "best",
        group_prior: float = 0.1,
        diagonal: float = 4.0,
        off_diagonal: float = 1.0,
        class_prior: float = 1.0,
        random_state: Any = 0,
        n_jobs: int | None = None,
        progress: ProgressLike = None,
        device: str = "cpu",
    ) -> None:
        self.n_groups = n_groups
        self.n_restarts = n_restarts
        self.n_iter = n_iter
        self.tol = tol
        self.combine = combine
        self.group_prior = group_prior
        self.diagonal = diagonal
        self.off_diagonal = off_diagonal
        self.class_prior = class_prior
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.device = device


class BWA(_Simple):
    """Class by class, a mean of the votes weighted by how closely each worker keeps to such means. Calibrated, and cheap."""

    _method = "bwa"
    _options: ClassVar[dict[str, str]] = {
        "n_iter": "iterations",
        "tol": "tolerance",
        "weight_prior": "weight-prior",
        "mean_prior": "mean-prior",
        "correction": "correction",
    }

    def __init__(
        self,
        n_iter: int = 500,
        tol: float = 1e-6,
        *,
        weight_prior: float = 15.0,
        mean_prior: float = 1.0,
        correction: str = "yes",
        n_jobs: int | None = None,
        progress: ProgressLike = None,
    ) -> None:
        self.n_iter = n_iter
        self.tol = tol
        self.weight_prior = weight_prior
        self.mean_prior = mean_prior
        self.correction = correction
        self.n_jobs = n_jobs
        self.progress = progress


class GLAD(_Simple):
    """alphas_ are the abilities of workers, betas_ the easiness of tasks, as crowd-kit has them."""

    _method = "glad"
    _sorts_tasks = True
    _options: ClassVar[dict[str, str]] = {"n_iter": "iterations", "tol": "tolerance"}

    def __init__(
        self,
        n_iter: int = 100,
        tol: float = 1e-5,
        silent: bool = True,
        labels_priors: Any = None,
        alphas_priors_mean: Any = None,
        betas_priors_mean: Any = None,
        m_step_max_iter: int = 25,
        m_step_tol: float = 1e-2,
        *,
        n_jobs: int | None = None,
        progress: ProgressLike = None,
    ) -> None:
        self.n_iter = n_iter
        self.tol = tol
        self.silent = silent
        self.labels_priors = labels_priors
        self.alphas_priors_mean = alphas_priors_mean
        self.betas_priors_mean = betas_priors_mean
        self.m_step_max_iter = m_step_max_iter
        self.m_step_tol = m_step_tol
        self.n_jobs = n_jobs
        self.progress = progress

    def _progress(self) -> ProgressLike:
        return self.progress if self.progress is not None else not self.silent

    def fit(self, data: Any, predictions: Any = None, predictions_weight: float | None = None) -> GLAD:
        """Fits to votes; it has no use for predictions, and says so."""
        for name in ("labels_priors", "alphas_priors_mean", "betas_priors_mean"):
            if getattr(self, name) is not None:
                raise _core.OptionError(f"GLAD's {name} cannot be chosen here: classes are equally likely, abilities and easiness N(1, 1)")
        self._run(data, predictions=predictions, predictions_weight=predictions_weight)
        return self

    @property
    def priors_(self) -> Any:
        """Classes are equally likely beforehand."""
        k = self._have("votes").core.n_classes
        return self._once("priors", lambda: self._by_class(np.full(k, 1.0 / k), "prior"))

    @property
    def alphas_(self) -> Any:
        """The ability of each worker."""
        return self._once("alphas", lambda: self._by_worker(np.asarray(self._parameter("ability")), "alpha", True))

    @property
    def betas_(self) -> Any:
        """The easiness of each task, in logarithms."""
        return self._once("betas", lambda: self._by_task(-np.log(np.asarray(self._parameter("difficulty"))), "beta", True))

    @property
    def skills_(self) -> Any:
        """The ability of each worker."""
        return self._once("skills", lambda: self._by_worker(np.asarray(self._parameter("ability")), "skill"))


class MACE(_Simple):
    """spamming_ holds for each worker the chances of guessing and of knowing, thetas_ the strategy of guessing. Of all
    restarts only the one that is best after a few iterations is run to the end, which has the same winner."""

    _method = "mace"
    _options: ClassVar[dict[str, str]] = {
        "n_restarts": "restarts",
        "n_iter": "iterations",
        "method": "method",
        "smoothing": "smoothing",
        "default_noise": "noise",
        "alpha": "guess-prior",
        "beta": "know-prior",
        "tol": "tolerance",
    }

    def __init__(
        self,
        n_restarts: int = 10,
        n_iter: int = 50,
        method: str = "vb",
        smoothing: float = 0.01,
        default_noise: float = 0.5,
        alpha: float = 0.5,
        beta: float = 0.5,
        random_state: Any = 0,
        verbose: int = 0,
        *,
        tol: float = 0.0,
        n_jobs: int | None = None,
        progress: ProgressLike = None,
        device: str = "cpu",
    ) -> None:
        self.n_restarts = n_restarts
        self.n_iter = n_iter
        self.method = method
        self.smoothing = smoothing
        self.default_noise = default_noise
        self.alpha = alpha
        self.beta = beta
        self.random_state = random_state
        self.verbose = verbose
        self.tol = tol
        self.n_jobs = n_jobs
        self.progress = progress
        self.device = device

    def _progress(self) -> ProgressLike:
        return self.progress if self.progress is not None else self.verbose > 0

    @property
    def spamming_(self) -> np.ndarray:
        """(workers, 2): the chances of guessing and of knowing."""
        return np.column_stack([np.asarray(self._parameter("guess")), np.asarray(self._parameter("know"))])

    @property
    def thetas_(self) -> np.ndarray:
        """(workers, classes): what a worker says when guessing."""
        return np.asarray(self._parameter("strategy")).reshape(self._have("votes").core.n_workers, -1)

    @property
    def skills_(self) -> Any:
        """The chance that a worker knows."""

        def make() -> Any:
            guess, know = self.spamming_.T
            return self._by_worker(know / (know + guess), "skill")

        return self._once("skills", make)


class Ordinal(_Simple):
    """Classes in an order, which is that of the votes: give Votes with scale="ordinal", or classes. The soft label of a task
    is how workers who look at it would vote."""

    _method = "ordinal"
    _options: ClassVar[dict[str, str]] = {
        "n_iter": "iterations",
        "tol": "tolerance",
        "points": "points",
        "bias": "bias",
        "spread": "spread",
        "lapse": "lapse",
    }

    def __init__(
        self,
        n_iter: int = 1000,
        tol: float = 1e-5,
        *,
        points: int = 0,
        bias: float = 0.5,
        spread: float = 0.15,
        lapse: float = 0.1,
        n_jobs: int | None = None,
        progress: ProgressLike = None,
    ) -> None:
        self.n_iter = n_iter
        self.tol = tol
        self.points = points
        self.bias = bias
        self.spread = spread
        self.lapse = lapse
        self.n_jobs = n_jobs
        self.progress = progress

    @property
    def biases_(self) -> Any:
        """How much too high each worker votes, in classes."""
        return self._once("biases", lambda: self._by_worker(np.asarray(self._parameter("bias")), "bias"))

    @property
    def spreads_(self) -> Any:
        """How far each worker's votes are spread, in classes."""
        return self._once("spreads", lambda: self._by_worker(np.asarray(self._parameter("spread")), "spread"))

    @property
    def lapses_(self) -> Any:
        """Which share of each worker's votes was cast without looking at the task."""
        return self._once("lapses", lambda: self._by_worker(np.asarray(self._parameter("lapse")), "lapse"))

    @property
    def scores_(self) -> Any:
        """Where each task lies on the line of classes, which are at 0, 1, 2, ..."""
        return self._once("scores", lambda: self._by_task(np.asarray(self._parameter("score")), "score"))


_OWN = {
    "initial_error_strategy": "'assign', 'addition' or None; a model with one number per worker does not use it.",
    "default_skill": "Weight of workers whose skill is not given, with on_missing_skill='value'.",
    "on_missing_skill": "'error', 'ignore' (their votes count nothing) or 'value', when skills lack a worker.",
    "silent": "False for a progress bar.",
    "verbose": "Anything but 0 for a progress bar.",
    "m_step_max_iter": "Not used: an M step is one step of Newton's method here.",
    "m_step_tol": "Not used, likewise.",
    "labels_priors": "Only None: classes are equally likely beforehand.",
    "alphas_priors_mean": "Only None: 1 for all.",
    "betas_priors_mean": "Only None: 1 for all.",
}
for _class in (
    Standard, Softmax, MajorityVote, Wawa, ZeroBasedSkill, DawidSkene, OneCoinDawidSkene, FastDawidSkene, IBCC, EBCC, BWA, GLAD, MACE, Crowd, Crowdlab, Ordinal
):  # fmt: skip
    describe(_class, METHODS[_class._method], _OWN)
DawidSkene.__doc__ = (DawidSkene.__doc__ or "").replace(_OWN["initial_error_strategy"], "'assign', 'addition' or None, as above.")
