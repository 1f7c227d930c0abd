"""Label methods that count votes, unweighted or weighted by skill."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from . import _core
from ._base import Aggregator, Simple
from ._ids import Ids
from ._results import Values
from ._running import ProgressLike
from ._tables import known_labels
from ._votes import Votes, as_votes


@dataclass(eq=False, repr=False)
class Standard(Simple):
    """The soft label of a task is the share of votes for each class. Takes counts too (Votes.from_counts)."""

    _method = "standard"

    _: KW_ONLY
    n_jobs: int | None = None
    progress: ProgressLike = None


@dataclass(eq=False, repr=False)
class Softmax(Simple):
    """The soft label of a task is the softmax of its vote counts. Takes counts too (Votes.from_counts)."""

    _method = "softmax"

    _: KW_ONLY
    n_jobs: int | None = None
    progress: ProgressLike = None


@dataclass(eq=False, repr=False)
class Smoothed(Simple):
    """(counts + strength * priors_) / (n + strength): the prediction of a Dirichlet-multinomial for the next vote on a
    task, and so a target for training on human label variation. Takes counts too (Votes.from_counts). After fit:
    strength_, and priors_, the class rates."""

    _method = "smoothed"
    _options: ClassVar[dict[str, str]] = {"strength": "strength"}

    strength: float | None = None
    _: KW_ONLY
    n_jobs: int | None = None
    progress: ProgressLike = None

    @property
    def strength_(self) -> float:
        """The number of pseudo-votes per task."""
        return float(self._summary()["strength"])

    @property
    def priors_(self) -> Any:
        """The class rates."""
        return self._once("priors", lambda: self._by_class(np.asarray(self._parameter("prior")), "prior"))


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
    """A number for each worker by name; NaN, or `missing`, for workers without one."""
    known = dict(skills.items() if hasattr(skills, "items") else skills)
    default = float("nan") if missing is None else float(missing)
    return np.array([float(known.get(w, default)) for w in votes.workers.tolist()])


@dataclass(eq=False, repr=False)
class MajorityVote(Aggregator):
    """probas_ holds the shares of votes, labels_ the class with most of them, the first one on a tie; skills_ each
    worker's share of votes that agree with labels_. Votes may be weighted by skills."""

    _method = "standard"
    _sorts_tasks = True

    default_skill: float | None = None
    on_missing_skill: str = "error"
    _: KW_ONLY
    n_jobs: int | None = None
    progress: ProgressLike = None

    def fit(self, data: Any, skills: Any = None) -> MajorityVote:
        """Fits to votes, weighted by skills (a Series or dict by worker) when they are given."""
        votes = as_votes(data, self.n_jobs)
        if skills is None:
            self._run(votes)
            return self
        weight = self._skill_weights(votes, skills)
        ignored = np.isnan(weight)
        if ignored.any():
            item, worker, _ = votes.rows()
            voted = np.bincount(item, weights=~np.isnan(weight[worker]), minlength=votes.core.n_items)
            if (voted == 0).any():
                raise _core.DataError(
                    f"{int((voted == 0).sum())} tasks have no worker with a known skill; "
                    "give on_missing_skill='value' and default_skill"
                )
            weight = np.nan_to_num(weight, nan=0.0)
        self._keep(votes, _weighted_shares(votes, weight), None)
        self._fitted["ignored"] = votes.workers[ignored].tolist()
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
                f"{int(np.isnan(weight).sum())} workers have no skill, for one {unknown!r}; give it, "
                "or another on_missing_skill"
            )
        return weight

    def fit_predict_proba(self, data: Any, skills: Any = None) -> Any:
        """Fits, and returns a distribution over the classes for each task."""
        return self.fit(data, skills).probas_

    def fit_predict(self, data: Any, skills: Any = None) -> Any:
        """Fits, and returns the class with most votes for each task."""
        return self.fit(data, skills).labels_

    @property
    def skills_(self) -> Any:
        """The share of each worker's votes that agree with labels_; without workers whose votes were ignored."""

        def make() -> Any:
            p = self._have("p")
            best = np.zeros_like(p)
            best[np.arange(len(p)), np.argmax(p, axis=1)] = 1.0
            quality = np.asarray(_core.worker_quality(self._have("votes").core, best))
            skills, ignored = self._by_worker(quality, "skill"), self._fitted.get("ignored")
            if not ignored:
                return skills
            if hasattr(skills, "drop"):
                return skills.drop(ignored)
            selected = ~np.isin(skills.index, ignored)
            return Values(skills.index[selected], skills.values[selected], "skill", "worker")

        return self._once("skills", make)


class _Skilled(Simple):
    """Skills of workers, then a weighted vote, which may be held over other votes of the same workers."""

    _sorts_tasks = True

    def _apply(self, data: Any) -> MajorityVote:
        votes: Votes = self._have("votes")
        known = dict(zip(votes.workers.tolist(), np.asarray(self._parameter("skill")).tolist()))
        result = MajorityVote(n_jobs=self.n_jobs).fit(data, known)
        self._fitted.update(labels=result.labels_, probas=result.probas_)  # as crowd-kit does
        return result

    def predict(self, data: Any) -> Any:
        """The most probable classes of tasks on which workers of fit() voted."""
        return self._apply(data).labels_

    def predict_proba(self, data: Any) -> Any:
        """Distributions over the classes of tasks on which workers of fit() voted."""
        return self._apply(data).probas_


@dataclass(eq=False, repr=False)
class GoldMajorityVote(MajorityVote):
    """Votes weighted by the accuracy of each worker on tasks with known labels: skills_. A task may have several known
    labels, as in a Series with repeated tasks. Workers without a vote on such a task have no skill, and predict() fails
    with an error that names one."""

    _: KW_ONLY
    n_jobs: int | None = None
    progress: ProgressLike = None

    default_skill: ClassVar[None] = None  # type: ignore[misc]
    on_missing_skill: ClassVar[str] = "error"  # type: ignore[misc]

    def fit(self, data: Any, true_labels: Any) -> GoldMajorityVote:  # type: ignore[override]
        """Estimates skills from votes and known labels by task."""
        votes = as_votes(data, self.n_jobs)
        right, n = _gold_accuracy(votes, true_labels)
        known = n > 0
        if not known.any():
            raise _core.DataError("true_labels: no vote is on a task with a known label")
        self._keep(votes, _weighted_shares(votes, np.divide(right, n, out=np.zeros(len(n)), where=known)), None)
        self._fitted["gold_skill"] = np.divide(right, n, out=np.full(len(n), np.nan), where=known)
        return self

    def predict(self, data: Any) -> Any:
        """The label with the largest sum of skills for each task."""
        return self._apply(data).labels_

    def predict_proba(self, data: Any) -> Any:
        """Distributions over the classes of tasks that workers of fit() voted on."""
        return self._apply(data).probas_

    def fit_predict(self, data: Any, true_labels: Any) -> Any:  # type: ignore[override]
        """Estimates skills, and gives the label of each task."""
        return self.fit(data, true_labels).predict(data)

    def fit_predict_proba(self, data: Any, true_labels: Any) -> Any:  # type: ignore[override]
        """Estimates skills, and gives a distribution over the classes for each task."""
        return self.fit(data, true_labels).predict_proba(data)

    def _apply(self, data: Any) -> MajorityVote:
        if self.__dict__.get("_fitted", {}).get("empty"):
            return MajorityVote(n_jobs=self.n_jobs).fit(data)
        votes, skill = self._have("votes"), self._have("gold_skill")
        known = {w: s for w, s in zip(votes.workers.tolist(), skill.tolist()) if s == s}
        result = MajorityVote(n_jobs=self.n_jobs).fit(data, known)
        self._fitted.update(labels=result.labels_, probas=result.probas_)  # as crowd-kit does
        return result

    @property
    def skills_(self) -> Any:
        """The accuracy of each worker on tasks with known labels; workers without votes there are left out."""

        def make() -> Any:
            values = self._by_worker(self._have("gold_skill"), "skill")
            if hasattr(values, "dropna"):
                return values.dropna()
            selected = ~np.isnan(values.values)
            return Values(values.index[selected], values.values[selected], "skill", "worker")

        return self._once("skills", make)


def _gold_accuracy(votes: Votes, true_labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """Correct votes and votes of each worker on tasks with known labels, of which a task may have several."""
    tasks, labels = known_labels(true_labels, "true_labels")
    item, worker, label = votes.rows()
    n_items, n_classes = votes.core.n_items, votes.core.n_classes
    if tasks is None:
        if len(labels) != n_items:
            raise _core.DataError(f"true_labels: {len(labels)} labels without task ids for {n_items} tasks")
        places = np.arange(n_items)
    else:
        places = Ids(votes.tasks.tolist()).find_all(list(tasks))
    classes = Ids(votes.classes.tolist())
    code = np.array([-1 if k is None else classes.find(k) for k in labels], dtype=np.int64)
    correct, judged = np.zeros((n_items, max(n_classes, 1)), dtype=bool), np.zeros(n_items, dtype=bool)
    known = (places >= 0) & np.array([k is not None for k in labels], dtype=bool)
    judged[places[known]] = True
    correct[places[known & (code >= 0)], code[known & (code >= 0)]] = True
    used = judged[item]
    n = np.bincount(worker[used], minlength=votes.core.n_workers).astype(np.float64)
    right = np.bincount(worker[used], weights=correct[item, label][used], minlength=votes.core.n_workers)
    return right, n


@dataclass(eq=False, repr=False)
class Wawa(_Skilled):
    """Worker agreement with aggregate: skills are agreements with the majority vote."""

    _method = "wawa"

    _: KW_ONLY
    n_jobs: int | None = None
    progress: ProgressLike = None


@dataclass(eq=False, repr=False)
class ZeroBasedSkill(_Skilled):
    """Stops as soon as a step changes no skill."""

    _method = "zero-based-skill"
    _options: ClassVar[dict[str, str]] = {
        "n_iter": "iterations",
        "lr_init": "rate",
        "lr_steps_to_reduce": "every",
        "lr_reduce_factor": "factor",
        "eps": "margin",
    }

    n_iter: int = 100
    lr_init: float = 1.0
    lr_steps_to_reduce: int = 20
    lr_reduce_factor: float = 0.5
    eps: float = 1e-5
    _: KW_ONLY
    n_jobs: int | None = None
    progress: ProgressLike = None
