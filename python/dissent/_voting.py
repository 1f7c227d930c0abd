"""Label methods that count votes, unweighted or weighted by skill."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from . import _core
from ._base import Aggregator, Simple
from ._running import ProgressLike
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
        if np.isnan(weight).any():  # ignored workers
            item, worker, _ = votes.rows()
            voted = np.bincount(item, weights=~np.isnan(weight[worker]), minlength=votes.core.n_items)
            if (voted == 0).any():
                raise _core.DataError(
                    f"{int((voted == 0).sum())} tasks have no worker with a known skill; "
                    "give on_missing_skill='value' and default_skill"
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
        """The share of each worker's votes that agree with labels_."""

        def make() -> Any:
            p = self._have("p")
            best = np.zeros_like(p)
            best[np.arange(len(p)), np.argmax(p, axis=1)] = 1.0
            quality = _core.worker_quality(self._have("votes").core, best)
            return self._by_worker(np.asarray(quality), "skill")

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
