"""Label methods that estimate a few parameters per worker: skill, competence or bias."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from . import _core
from ._base import Simple
from ._running import ProgressLike
from ._voting import MajorityVote, _Skilled
from ._votes import Votes


@dataclass(eq=False, repr=False)
class BWA(Simple):
    """The average is computed separately for each class. The method is fast and well calibrated."""

    _method = "bwa"
    _options: ClassVar[dict[str, str]] = {
        "n_iter": "iterations",
        "tol": "tolerance",
        "weight_prior": "weight-prior",
        "mean_prior": "mean-prior",
        "correction": "correction",
    }

    n_iter: int = 500
    tol: float = 1e-6
    _: KW_ONLY
    weight_prior: float = 15.0
    mean_prior: float = 1.0
    correction: str = "yes"
    n_jobs: int | None = None
    progress: ProgressLike = None


@dataclass(eq=False, repr=False)
class GLAD(Simple):
    """alphas_ are the abilities of workers, betas_ the easiness of tasks, as in crowd-kit."""

    _method = "glad"
    _sorts_tasks = True
    _options: ClassVar[dict[str, str]] = {"n_iter": "iterations", "tol": "tolerance"}

    n_iter: int = 100
    tol: float = 1e-5
    silent: bool = True
    labels_priors: Any = None
    alphas_priors_mean: Any = None
    betas_priors_mean: Any = None
    m_step_max_iter: int = 25
    m_step_tol: float = 1e-2
    _: KW_ONLY
    n_jobs: int | None = None
    progress: ProgressLike = None

    def _progress(self) -> ProgressLike:
        return self.progress if self.progress is not None else not self.silent

    def fit(self, data: Any, predictions: Any = None, predictions_weight: float | None = None) -> GLAD:
        """Fits to votes. Predictions are not supported and raise an error."""
        for name in ("labels_priors", "alphas_priors_mean", "betas_priors_mean"):
            if getattr(self, name) is not None:
                raise _core.OptionError(
                    f"GLAD's {name} cannot be chosen here: classes are equally likely, abilities and easiness N(1, 1)"
                )
        self._run(data, predictions=predictions, predictions_weight=predictions_weight)
        return self

    @property
    def priors_(self) -> Any:
        """The class prior, which is uniform."""
        k = self._have("votes").core.n_classes
        return self._once("priors", lambda: self._by_class(np.full(k, 1.0 / k), "prior"))

    @property
    def alphas_(self) -> Any:
        """The ability of each worker."""
        return self._once("alphas", lambda: self._by_worker(np.asarray(self._parameter("ability")), "alpha", True))

    @property
    def betas_(self) -> Any:
        """The logarithm of the easiness of each task."""
        return self._once(
            "betas", lambda: self._by_task(-np.log(np.asarray(self._parameter("difficulty"))), "beta", True)
        )

    @property
    def skills_(self) -> Any:
        """The ability of each worker."""
        return self._once("skills", lambda: self._by_worker(np.asarray(self._parameter("ability")), "skill"))


@dataclass(eq=False, repr=False)
class KOS(Simple):
    """For two classes. skills_ are the mean messages of workers: negative for those who are mostly wrong."""

    _method = "kos"
    _empty_labels: ClassVar[Any] = object
    _options: ClassVar[dict[str, str]] = {"n_iter": "iterations"}

    n_iter: int = 100
    random_state: Any = 0
    _: KW_ONLY
    n_jobs: int | None = None
    progress: ProgressLike = None


@dataclass(eq=False, repr=False)
class MMSR(_Skilled):
    """skills_ are the log-odds that a vote adds to its class, scores_ each class's share of their sum, as crowd-kit has
    them, and probas_ the posterior."""

    _method = "mmsr"
    _options: ClassVar[dict[str, str]] = {"n_iter": "iterations", "tol": "tolerance"}

    n_iter: int = 10000
    tol: float = 1e-10
    random_state: Any = 0
    _: KW_ONLY
    n_jobs: int | None = None
    progress: ProgressLike = None

    def fit(self, data: Any, predictions: Any = None, predictions_weight: float | None = None) -> MMSR:
        """Fits to votes; it has no use for predictions."""
        super().fit(data, predictions, predictions_weight)
        self._apply(self._have("votes"))
        return self

    def _apply(self, data: Any) -> MajorityVote:
        votes: Votes = self._have("votes")
        known = dict(zip(votes.workers.tolist(), np.asarray(self._parameter("skill")).tolist()))
        result = MajorityVote(n_jobs=self.n_jobs).fit(data, known)
        self._fitted.update(labels=result.labels_, scores=result.probas_)
        return result

    @property
    def scores_(self) -> Any:
        """The share of each class in the sum of the skills that voted on the task; negative where workers of negative
        skill voted for it."""
        return self._have("scores")

    def predict_score(self, data: Any) -> Any:
        """Scores of the classes for tasks that workers of fit() voted on."""
        return self._apply(data).probas_

    def fit_predict_score(self, data: Any) -> Any:
        """Fits, and gives the scores of the classes for each task."""
        return self.fit(data).scores_


@dataclass(eq=False, repr=False)
class MACE(Simple):
    """spamming_ has the probabilities of spamming and of competence per worker, thetas_ the spamming strategy. Of all
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

    n_restarts: int = 10
    n_iter: int = 50
    method: str = "vb"
    smoothing: float = 0.01
    default_noise: float = 0.5
    alpha: float = 0.5
    beta: float = 0.5
    random_state: Any = 0
    verbose: int = 0
    _: KW_ONLY
    tol: float = 0.0
    n_jobs: int | None = None
    progress: ProgressLike = None
    device: str = "cpu"

    def _progress(self) -> ProgressLike:
        return self.progress if self.progress is not None else self.verbose > 0

    @property
    def spamming_(self) -> np.ndarray:
        """The probabilities of spamming and of competence, (workers, 2)."""
        return np.column_stack([np.asarray(self._parameter("guess")), np.asarray(self._parameter("know"))])

    @property
    def thetas_(self) -> np.ndarray:
        """The distribution of each worker's spam votes, (workers, classes)."""
        return np.asarray(self._parameter("strategy")).reshape(self._have("votes").core.n_workers, -1)

    @property
    def skills_(self) -> Any:
        """The competence of each worker."""

        def make() -> Any:
            guess, know = self.spamming_.T
            return self._by_worker(know / (know + guess), "skill")

        return self._once("skills", make)


@dataclass(eq=False, repr=False)
class Ordinal(Simple):
    """The order of the classes is that of the votes: use Votes with scale="ordinal", or pass classes. The soft label of a
    task is how workers who look at it would vote."""

    _method = "ordinal"
    _options: ClassVar[dict[str, str]] = {
        "n_iter": "iterations",
        "tol": "tolerance",
        "points": "points",
        "bias": "bias",
        "spread": "spread",
        "lapse": "lapse",
    }

    n_iter: int = 1000
    tol: float = 1e-5
    _: KW_ONLY
    points: int = 0
    bias: float = 0.5
    spread: float = 0.15
    lapse: float = 0.1
    n_jobs: int | None = None
    progress: ProgressLike = None

    @property
    def biases_(self) -> Any:
        """The bias of each worker, in classes. Positive values mean that votes are too high."""
        return self._once("biases", lambda: self._by_worker(np.asarray(self._parameter("bias")), "bias"))

    @property
    def spreads_(self) -> Any:
        """The spread of each worker's votes, in classes."""
        return self._once("spreads", lambda: self._by_worker(np.asarray(self._parameter("spread")), "spread"))

    @property
    def lapses_(self) -> Any:
        """The share of random votes (lapses) of each worker."""
        return self._once("lapses", lambda: self._by_worker(np.asarray(self._parameter("lapse")), "lapse"))

    @property
    def scores_(self) -> Any:
        """The position of each task on the latent scale; classes are at 0, 1, 2, ..."""
        return self._once("scores", lambda: self._by_task(np.asarray(self._parameter("score")), "score"))


@dataclass(eq=False, repr=False)
class Crowdlab(Simple):
    """Needs predictions: ``Crowdlab().fit(votes, predictions)``. skills_ are the shares of co-voters that each worker
    agrees with, weights_ the weights of workers, predictions_weight_ the weight of the model."""

    _method = "crowdlab"
    _options: ClassVar[dict[str, str]] = {"rounds": "rounds"}

    _: KW_ONLY
    rounds: int = 1
    n_jobs: int | None = None
    progress: ProgressLike = None

    @property
    def skills_(self) -> Any:
        """The share of the other votes on their tasks that each worker agrees with."""
        return self._once("skills", lambda: self._by_worker(np.asarray(self._parameter("agreement")), "skill"))

    @property
    def weights_(self) -> Any:
        """What each worker's votes count."""
        return self._once("weights", lambda: self._by_worker(np.asarray(self._parameter("weight")), "weight"))
