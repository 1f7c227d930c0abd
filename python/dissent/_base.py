"""What label methods share: fitting by the library's table of methods, and what a fit shows."""

from __future__ import annotations

import functools
import sys
import warnings
from typing import Any, ClassVar

import numpy as np

from . import _core
from ._columns import is_pandas
from ._estimator import Estimator, FitWarning, in_python, named_in_python, seed_of, spec_of
from ._results import SoftLabels, Values, frame_of, ids_index
from ._checks import device_of
from ._running import ProgressLike, end_progress, progress_of, threads_of
from ._ids import Ids
from ._tables import count_unknown, gold_codes, label_table
from ._votes import Votes, as_votes

METHODS: dict[str, dict[str, Any]] = {row["name"]: row for row in _core.methods()}
COMBINERS: dict[str, dict[str, Any]] = {row["name"]: row for row in _core.combiners()}


def gold_of(votes: Votes, known: Any) -> np.ndarray | None:
    """Known labels by task (a Series, a dict, a Values) as class indices, -1 where nothing is known. Labels of tasks
    without votes are counted in a warning."""
    if known is None:
        return None
    tasks = Ids(votes.tasks.tolist())
    gold = gold_codes(known, tasks, Ids(votes.classes.tolist()), what="true_labels")
    count_unknown(known, tasks, "true_labels")
    return gold


def predictions_of(votes: Votes, predictions: Any) -> tuple[np.ndarray | None, dict[str, int]]:
    """Predictions of a model for each task (SoftLabels, a DataFrame by task, ...), in the order of the votes, with rows
    of zeros for tasks without a prediction. Also counts tasks with and without a prediction, and predictions for tasks
    without votes."""
    if predictions is None:
        return None, {}
    table = label_table(predictions, "predictions")
    if table.tasks is None or table.classes is None:
        raise _core.DataError(
            "predictions: tasks and classes are not known; give SoftLabels, "
            "or a DataFrame by task with a column per class"
        )
    columns = table.classes.find_all(votes.classes.tolist())
    if (columns < 0).any():
        raise _core.DataError(f"predictions: no column for the class {votes.classes[columns < 0][0]!r} of the votes")
    if len(table.classes.ids) > len(columns):
        extra = sorted(set(range(len(table.classes.ids))) - set(columns.tolist()))[0]
        raise _core.DataError(
            f"predictions: nobody voted for the class {table.classes.ids[extra]!r}; give Votes all classes"
        )
    rows = table.tasks.find_all(votes.tasks.tolist())
    has_row = rows >= 0
    if not has_row.any():
        raise _core.DataError("predictions: no task of the votes is among them")
    p = np.zeros((len(rows), len(columns)))
    p[has_row] = table.p[rows[has_row]][:, columns]
    matched = int(has_row.sum())
    return p, {"matched": matched, "missing": len(rows) - matched, "without_votes": len(table.p) - matched}


def _empty_as_empty(fit: Any) -> Any:
    """fit() that takes an empty DataFrame with the usual columns, as crowd-kit does; its results are empty."""

    @functools.wraps(fit)
    def fit_or_not(self: Any, data: Any, *args: Any, **kwargs: Any) -> Any:
        if is_pandas(data) and data.ndim == 2 and not len(data) and {"task", "worker", "label"} <= set(data.columns):
            self._fitted = {"empty": True}
            return self
        return fit(self, data, *args, **kwargs)

    return fit_or_not


def _empty_result(name: str, labels: Any) -> Any:
    import pandas as pd

    if name in ("probas", "errors"):
        return pd.DataFrame()
    text = {"labels": "agg_label", "skills": "skill", "priors": "prior"}.get(name, name)
    return pd.Series(dtype=labels if name == "labels" else float, name=text)


class PickledFit:
    """The results of a fit that was pickled."""

    def __init__(self, fit: Any) -> None:
        self.trace: np.ndarray = np.array(fit.trace)
        self._summary: dict[str, Any] = fit.summary()
        self._parameters: dict[str, tuple[str, np.ndarray]] = {
            k: (axes, np.array(v)) for k, (axes, v) in fit.parameters().items()
        }

    def summary(self) -> dict[str, Any]:
        return self._summary

    def parameters(self) -> dict[str, tuple[str, np.ndarray]]:
        return self._parameters


class Aggregator(Estimator):
    """Soft labels from votes by one of the library's methods.

    Attributes after fit: ``probas_`` and ``labels_`` by task, ``skills_`` by worker, and ``loss_history_``, the
    objective per vote after each iteration. Also ``n_iter_``, ``converged_``, ``objective_``, ``classes_`` and
    ``result_`` (a SoftLabels). Some methods have ``errors_`` and ``priors_``. They are pandas objects if the votes are.
    """

    _method: ClassVar[str]
    # parameters of ours -> options of the method
    _options: ClassVar[dict[str, str]] = {}
    # crowd-kit sorts the tasks of some aggregators; so do we, in pandas
    _sorts_tasks: ClassVar[bool] = False

    # type of the labels of an empty table, which is crowd-kit's
    _empty_labels: ClassVar[Any] = float

    n_jobs: int | None
    progress: ProgressLike

    # crowd-kit's base class, which joins the bases below, compares attributes
    __eq__, __hash__ = object.__eq__, object.__hash__
    __lt__, __le__, __gt__, __ge__ = object.__lt__, object.__le__, object.__gt__, object.__ge__  # type: ignore[operator]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        _join_crowdkit()
        return super().__new__(cls)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "fit" in cls.__dict__:
            cls.fit = _empty_as_empty(cls.__dict__["fit"])  # type: ignore[attr-defined]

    def _spec(self) -> str:
        return spec_of(self._method, {option: getattr(self, name) for name, option in self._options.items()})

    def _seed(self) -> int:
        return seed_of(getattr(self, "random_state", 0))

    def _progress(self) -> ProgressLike:
        return self.progress

    def _run(
        self,
        data: Any,
        known: Any = None,
        spec: str | None = None,
        start: bytes | None = None,
        predictions: Any = None,
        predictions_weight: float | None = None,
    ) -> None:
        votes = as_votes(data, self.n_jobs)
        rows, counts = predictions_of(votes, predictions)
        watcher = progress_of(self._progress())
        try:
            with named_in_python(self):
                fit = _core.fit(
                    votes.core,
                    spec or self._spec(),
                    seed=self._seed(),
                    gold=gold_of(votes, known),
                    start=start,
                    predictions=rows,
                    predictions_weight=-1.0 if predictions_weight is None else float(predictions_weight),
                    threads=threads_of(self.n_jobs),
                    progress=watcher,
                    device=device_of(getattr(self, "device", None)),
                )
        finally:
            end_progress(watcher)
        for sentence in fit.warnings():
            warnings.warn(f"{type(self).__name__}: {in_python(sentence, self)}", FitWarning, stacklevel=3)
        self._keep(votes, np.asarray(fit.p), fit)
        self._fitted["predictions_counts"] = counts
        plain = known is None and start is None and predictions is None
        self._fitted["remake"] = (spec or self._spec()) if plain else None  # how to fit it to other votes

    def _keep(self, votes: Votes, p: np.ndarray, fit: _core.Fit | None) -> None:
        self._fitted: dict[str, Any] = {"votes": votes, "p": p, "fit": fit}

    def _is_fitted(self) -> bool:
        return "_fitted" in self.__dict__

    def _fitted_state(self) -> dict[str, Any]:
        fit = self._fitted["fit"]
        p = np.array(self._fitted["p"])
        return {**self._fitted, "p": p, "fit": PickledFit(fit) if isinstance(fit, _core.Fit) else fit}

    def _restore_fitted(self, state: dict[str, Any]) -> None:
        self._fitted = state

    def _have(self, name: str) -> Any:
        if not self._is_fitted():
            raise self._not_fitted()
        if self._fitted.get("empty"):
            raise _core.DataError(f"this {type(self).__name__} was fitted to an empty table, which has no votes")
        return self._fitted[name]

    def _once(self, name: str, make: Any) -> Any:
        """A result that is made when it is first asked for."""
        if self.__dict__.get("_fitted", {}).get("empty"):
            return self._fitted.setdefault(name, _empty_result(name, self._empty_labels))
        self._have("votes")
        if name not in self._fitted:
            self._fitted[name] = make()
        return self._fitted[name]

    # ---- what comes out ----

    def _order(self) -> np.ndarray | None:
        """How tasks are sorted in pandas, None: as they appear."""
        votes: Votes = self._have("votes")
        return _order_of(votes, "task") if votes.pandas and self._sorts_tasks else None

    def _by_task(self, values: np.ndarray, name: str, as_they_appear: bool = False) -> Any:
        votes: Votes = self._have("votes")
        if not votes.pandas:
            return Values(votes.tasks, values, name, "task")
        import pandas as pd

        order = None if as_they_appear else self._order()
        if order is not None:
            values = values[order]
        return pd.Series(values, index=ids_index(votes, "task", order), name=name, copy=False)

    def _by_worker(self, values: np.ndarray, name: str, as_they_appear: bool = False) -> Any:
        votes: Votes = self._have("votes")
        if not votes.pandas:
            return Values(votes.workers, values, name, "worker")
        import pandas as pd

        order = _order_of(votes, "worker") if self._sorts_tasks and not as_they_appear else None
        if order is not None:
            values = values[order]
        return pd.Series(values, index=ids_index(votes, "worker", order), name=name)

    def _by_class(self, values: np.ndarray, name: str) -> Any:
        votes: Votes = self._have("votes")
        if not votes.pandas:
            return Values(votes.classes, values, name, "label")
        import pandas as pd

        return pd.Series(values, index=ids_index(votes, "label"), name=name)

    def _table(self, p: np.ndarray) -> Any:
        votes: Votes = self._have("votes")
        if not votes.pandas:
            return SoftLabels(votes.tasks, votes.classes, p, categories=votes.categories)
        import pandas as pd

        order = self._order()
        if order is not None:
            p = p[order]
        return pd.DataFrame(p, index=ids_index(votes, "task", order), columns=ids_index(votes, "label"), copy=False)

    def _parameter(self, name: str) -> np.ndarray | None:
        fit: _core.Fit | None = self._have("fit")
        found = None if fit is None else fit.parameters().get(name)
        return None if found is None else np.asarray(found[1])

    def _missing(self, name: str) -> AttributeError:
        return AttributeError(f"{type(self).__name__} estimates no {name}")

    @property
    def result_(self) -> SoftLabels:
        """The soft labels as SoftLabels, for any type of votes."""
        votes: Votes = self._have("votes")
        return self._once(
            "result", lambda: SoftLabels(votes.tasks, votes.classes, self._have("p"), categories=votes.categories)
        )

    @property
    def votes_(self) -> Votes:
        """The votes of the last fit."""
        return self._have("votes")

    @property
    def classes_(self) -> np.ndarray:
        """Classes in the order of columns."""
        return self._have("votes").classes

    @property
    def probas_(self) -> Any:
        """A distribution over the classes for each task."""
        return self._once("probas", lambda: self._table(self._have("p")))

    @property
    def labels_(self) -> Any:
        """The most probable class of each task; on a tie, the first one."""

        def make() -> Any:
            votes: Votes = self._have("votes")
            best = np.argmax(self._have("p"), axis=1)
            if not votes.pandas:
                return Values(votes.tasks, votes._labels(best), "agg_label", "task")
            import pandas as pd

            order = self._order()
            best = best if order is None else best[order]
            if votes.categories is None:
                labels = ids_index(votes, "label", best).array
            else:
                labels = votes.categories.to_pandas(votes.classes[best])
            return pd.Series(labels, index=ids_index(votes, "task", order), name="agg_label", copy=False)

        return self._once("labels", make)

    @property
    def skills_(self) -> Any:
        """Quality of each worker, which is the estimate of the method or the share of votes that agree with probas_."""

        def make() -> Any:
            skill = self._parameter("skill")
            votes: Votes = self._have("votes")
            if skill is None:
                if votes.core.n_workers == 0:
                    raise self._missing("skills: no workers are known")
                skill = np.asarray(_core.worker_quality(votes.core, np.ascontiguousarray(self._have("p"))))
            return self._by_worker(skill, "skill")

        return self._once("skills", make)

    @property
    def loss_history_(self) -> list[float]:
        """The objective after each iteration, per vote."""
        fit: _core.Fit | None = self._have("fit")
        n = max(1, self._have("votes").core.n_votes)
        return [] if fit is None else (np.asarray(fit.trace) / n).tolist()

    def _summary(self) -> dict[str, Any]:
        fit: _core.Fit | None = self._have("fit")
        return {"iterations": 0, "converged": True, "objective": float("nan")} if fit is None else fit.summary()

    @property
    def predictions_weight_(self) -> float | None:
        """The weight of the predictions; None without predictions."""
        weight = self._summary().get("predictions_weight", float("nan"))
        return None if np.isnan(weight) else weight

    @property
    def predictions_counts_(self) -> dict[str, int]:
        """How many tasks have a prediction (matched) and have none (missing), and how many predictions are for tasks
        without votes (without_votes), which are left out; empty without predictions."""
        self._have("votes")
        return dict(self._fitted.get("predictions_counts", {}))

    @property
    def n_iter_(self) -> int:
        """Number of iterations."""
        return self._summary()["iterations"]

    @property
    def converged_(self) -> bool:
        """Whether it converged before n_iter."""
        return self._summary()["converged"]

    @property
    def objective_(self) -> float:
        """Final value of the objective; NaN for methods without an objective."""
        return self._summary()["objective"]

    def to_frame(self, kind: str | None = None) -> Any:
        """The soft labels as a frame: kind is "pandas", "polars", "pyarrow", or None for the first that is installed."""
        return frame_of(self.result_, kind)

    def _repr_html_(self) -> str:
        if not self._is_fitted():
            return f"<code>{repr(self).replace('<', '&lt;')}</code>"
        s = self._summary()
        note = (
            f"{s['iterations']} iterations, {'converged' if s['converged'] else 'not converged'}"
            if s["iterations"]
            else ""
        )
        return f"<code>{repr(self).replace('<', '&lt;')}</code> {note}{self.result_._repr_html_()}"


def _join_crowdkit() -> None:
    """Makes label methods subclasses of crowd-kit's base class where crowd-kit is loaded: BinaryRelevance and others of
    crowd-kit accept no other methods. The base has no ABCMeta, so it cannot be registered as a virtual one."""
    base = getattr(sys.modules.get("crowdkit.aggregation.base"), "BaseClassificationAggregator", None)
    if base is not None and base not in Aggregator.__bases__:
        Aggregator.__bases__ = (*Aggregator.__bases__, base)


class Confusions(Aggregator):
    """Aggregators that estimate class priors and confusion matrices."""

    @property
    def priors_(self) -> Any:
        """Estimated class prior."""

        def make() -> Any:
            prior = self._parameter("prior")
            if prior is None:
                raise self._missing("priors")
            return self._by_class(prior, "prior")

        return self._once("priors", make)

    def _confusion(self) -> np.ndarray | None:
        """(workers, label given, true label)"""
        votes: Votes = self._have("votes")
        fit: _core.Fit | None = self._have("fit")
        found = None if fit is None else fit.parameters().get("confusion")
        if found is None:
            return None
        axes, values = found
        k = votes.core.n_classes
        table = np.asarray(values).reshape(votes.core.n_workers, k, k)
        return table if axes == "wvt" else table.transpose(0, 2, 1)

    @property
    def errors_(self) -> Any:
        """Probability of each label of a worker (rows), given the true label (columns)."""

        def make() -> Any:
            table = self._confusion()
            if table is None:
                raise self._missing("confusion matrices")
            votes: Votes = self._have("votes")
            if not votes.pandas:
                return table
            import pandas as pd

            k = votes.core.n_classes
            workers = ids_index(votes, "worker")
            labels = ids_index(votes, "label")
            index = pd.MultiIndex.from_arrays(
                [workers.repeat(k), labels.take(np.tile(np.arange(k), len(workers)))], names=["worker", "label"]
            )
            frame = pd.DataFrame(table.reshape(-1, k), index=index, columns=labels.rename(None))
            given = self._fitted.get("errors_index")  # rows in the order of initial_error
            return frame if given is None or len(given) != len(frame) else frame.reindex(given)

        return self._once("errors", make)


def _order_of(votes: Votes, role: str) -> np.ndarray:
    """Indices that sort ids as pandas would."""
    if votes.axes[role].kind == "text":
        return np.asarray(votes.core.order(role))
    values = votes._ids(role)
    try:
        return np.argsort(values, kind="stable")
    except TypeError:
        return np.arange(len(values))


class Simple(Aggregator):
    """Fits to votes, and where the method can, to what a model predicts."""

    def fit(self, data: Any, predictions: Any = None, predictions_weight: float | None = None) -> Any:
        """Fits to votes: a table with columns task, worker and label, of any kind that Votes accepts.

        predictions are out-of-fold predictions of a model (SoftLabels or a DataFrame by task), used as the prior of
        each task; SoftClassifier.out_of_fold computes them. predictions_weight is their weight; None estimates it, 1
        uses them unchanged."""
        self._run(data, predictions=predictions, predictions_weight=predictions_weight)
        return self

    def fit_predict_proba(self, data: Any, predictions: Any = None, predictions_weight: float | None = None) -> Any:
        """Fits, and returns a distribution over the classes for each task."""
        return self.fit(data, predictions, predictions_weight).probas_

    def fit_predict(self, data: Any, predictions: Any = None, predictions_weight: float | None = None) -> Any:
        """Fits, and returns the most probable class of each task."""
        return self.fit(data, predictions, predictions_weight).labels_
