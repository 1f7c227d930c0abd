"""What a SoftClassifier has once it is fitted: its epochs, predictions, folders, and how notebooks show it."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _core
from ._categories import Categories
from ._columns import is_pandas
from ._estimator import Estimator
from ._features import Features, as_column, item_weights
from ._items import Rows, Targets, flat_labels, is_soft
from ._perspectives import table_file
from ._results import _table, _text
from ._running import threads_of
from ._ids import id_texts
from ._tables import label_table

_CLASSES_FILE = "python.json"


class TrainedModel(Estimator):
    """The part of SoftClassifier that needs a trained model."""

    n_jobs: int | None
    device: str
    precision: str

    # ---- what was fitted ----

    def _fitted_state(self) -> dict[str, Any]:
        """The files of the model's folder, and the state outside of them."""
        with tempfile.TemporaryDirectory() as folder:
            self.model_.save(folder)
            files = {name: (Path(folder) / name).read_bytes() for name in sorted(os.listdir(folder))}
        return {
            "files": files,
            "classes": self._classes,
            "categories": self._categories,
            "left_out": self._left_out,
            "features": (self._features.n, self._features.names),
        }

    def _restore_fitted(self, state: dict[str, Any]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name, content in state["files"].items():
                (Path(folder) / os.path.basename(name)).write_bytes(content)
            self._keep(_core.load_model(folder), state["classes"], state.get("categories"), Features(*state["features"]))
        self._left_out = state["left_out"]

    def _keep(
        self,
        model: _core.Model,
        classes: np.ndarray,
        categories: Categories | None = None,
        features: Features | None = None,
    ) -> None:
        self._features = features or Features()
        self._trained = model
        self._view: dict[str, Any] = model.view()
        self._classes = classes
        self._categories = categories
        self._left_out = 0

    def _is_fitted(self) -> bool:
        return "_trained" in self.__dict__

    def _have(self, name: str) -> Any:
        if not self._is_fitted():
            raise self._not_fitted()
        return self.__dict__[name]

    @property
    def model_(self) -> _core.Model:
        """The trained model."""
        return self._have("_trained")

    @property
    def classes_(self) -> np.ndarray:
        """Classes in the order of the columns of predict_proba."""
        return self._have("_classes")

    @property
    def n_features_in_(self) -> int:
        """Number of features of X in fit(), if X was an array of features."""
        self._have("_trained")
        if self._features.n is None:
            raise AttributeError(f"this {type(self).__name__} was not fitted to an array of features")
        return self._features.n

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the columns of X in fit(), if X was a table with text names."""
        self._have("_trained")
        if self._features.names is None:
            raise AttributeError(f"this {type(self).__name__} was not fitted to a table with column names")
        return np.array(self._features.names, dtype=object)

    @property
    def history_(self) -> list[dict[str, float | None]]:
        """One dict per epoch: loss, rate, dev (the metric that the best epoch is kept by), dev_cross_entropy."""
        return self._have("_view")["epochs"]

    @property
    def n_epochs_(self) -> int:
        """Number of epochs."""
        return len(self._have("_view")["epochs"])

    @property
    def best_epoch_(self) -> int:
        """The epoch that was kept, from 0."""
        return self._have("_view")["best_epoch"]

    @property
    def keep_(self) -> str | None:
        """The metric that selected the epoch; None without a development set."""
        return self._have("_view")["keep"]

    @property
    def heads_(self) -> list[str]:
        """Names of the heads; predictions are those of the first unless asked for another."""
        return self._have("_view")["heads"]

    @property
    def n_parameters_(self) -> int:
        """Number of parameters of the model."""
        return self._have("_view")["n_parameters"]

    @property
    def n_left_out_(self) -> int:
        """Items without a label that lenient=True left out."""
        self._have("_trained")
        return self._left_out

    # ---- predicting ----

    def _rows(self, X: Any) -> Rows:
        rows = Rows(X)
        self._features.check(rows.features, type(self).__name__)
        return rows

    def predict_log_proba(self, X: Any, *, head: str | None = None) -> Any:
        """Logarithms of predict_proba(X), in its form."""
        p = self.predict_proba(X, head=head)
        with np.errstate(divide="ignore"):
            return [np.log(s) for s in p] if isinstance(p, list) else np.log(p)

    def predict_proba(self, X: Any, *, head: str | None = None) -> Any:
        """A distribution over classes_ for every item: an array, a DataFrame when X is pandas, an array per sentence of
        tokens."""
        model: _core.Model = self._have("_trained")
        rows = self._rows(X)
        p = np.asarray(
            model.predict(
                rows.items(), head=head, threads=threads_of(self.n_jobs), device=self.device, precision=self.precision
            )
        )
        if rows.bounds is not None:
            return np.split(p, rows.bounds[1:-1].astype(np.int64))
        if rows.pandas:
            import pandas as pd

            return pd.DataFrame(p, index=rows.index, columns=pd.Index(self.classes_, name="label"), copy=False)
        return p

    def predict_workers(self, X: Any, workers: Any, *, worker_table: Any = None) -> np.ndarray:
        """Predicted labels of single workers. workers has one per row of X; repeat rows for several. Needs the
        objective annotator or annot-mix.

        A worker without votes in training is treated as an average worker. If the model was trained with worker_features, the
        features in worker_table are used.
        """
        model: _core.Model = self._have("_trained")
        rows = self._rows(X)
        worker_ids = [str(w) for w in (workers.tolist() if hasattr(workers, "tolist") else workers)]
        if len(worker_ids) != rows.n:
            raise _core.DataError(f"{len(worker_ids)} workers for {rows.n} items")
        rows.ids = None
        tasks = [str(i) for i in range(rows.n)]
        with table_file(worker_table) as path:
            return np.asarray(model.predict_workers(rows.items(), tasks, worker_ids, threads_of(self.n_jobs), path))

    def predict(self, X: Any, *, head: str | None = None) -> Any:
        """The most probable class of every item; the first one on a tie."""
        p = self.predict_proba(X, head=head)
        if isinstance(p, list):
            return [self.classes_[np.argmax(s, axis=1)] for s in p]
        labels = self.classes_[np.argmax(np.asarray(p), axis=1)]
        if is_pandas(p):
            values = labels if self._categories is None else self._categories.to_pandas(labels)
            return type(p[p.columns[0]])(values, index=p.index, name="label")
        return labels

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy against one label per item; against soft labels minus the cross-entropy, nats. Higher is better.
        sample_weight: a weight per item of X."""
        self._have("_trained")
        rows = Rows(X)
        y = flat_labels(as_column(y), rows)
        p = self.predict_proba(X)
        q = np.ascontiguousarray(np.concatenate(p) if isinstance(p, list) else np.asarray(p))
        targets = Targets(
            label_table(y, "y") if is_soft(y) else None, None if is_soft(y) else y, None, self.classes_.tolist()
        )
        human, codes = targets.soft_rows(rows), targets.gold_rows(rows)
        if human is not None and np.isnan(human).any():
            raise _core.DataError("y: an item has no soft label")
        weights = item_weights(sample_weight, rows.n)
        if weights is not None:
            return _weighted_score(q, codes, human, weights)
        name = "accuracy" if human is None else "cross_entropy"
        found = _core.evaluate(q, *q.shape, gold=codes, human=human, metrics=[name], threads=threads_of(self.n_jobs))
        value = found["metrics"][name]
        if value["value"] is None:
            raise _core.DataError(f"{name}: {value['reason']}")
        return value["value"] if human is None else -value["value"]

    # ---- folders ----

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes the model as a folder that ``dissent predict`` and load() read."""
        model: _core.Model = self._have("_trained")
        path = os.fspath(folder)
        model.save(path)
        classes = self.classes_.tolist()
        beside = os.path.join(path, _CLASSES_FILE)
        extras: dict[str, Any] = {}
        if all(type(c) in (int, float, bool) for c in classes):
            extras["classes"] = classes
        if self._features.names is not None:
            extras["feature_names"] = self._features.names
        if extras:
            with open(beside + ".new", "w", encoding="utf-8") as f:
                json.dump(extras, f)
            os.replace(beside + ".new", beside)
        elif os.path.exists(beside):
            os.remove(beside)

    def export(
        self, folder: str | os.PathLike[str], *, votes: Any = None, labels: Any = None, evaluation: Any = None
    ) -> None:
        """Writes a model of a pretrained encoder as a folder that transformers loads with the same logits, LoRA added
        to the encoder's matrices; of two heads the first. The model card (README.md) has the disagreement in `votes` and
        soft `labels`, and the figures of an `evaluation`, where they are given."""
        from ._card import model_card

        model: _core.Model = self._have("_trained")
        path = os.fspath(folder)
        model.export(path)
        card = model_card(
            os.path.basename(os.path.normpath(path)),
            self.classes_.tolist(),
            objective=self._view["objective"],
            votes=votes,
            labels=labels,
            evaluation=evaluation,
        )
        with open(os.path.join(path, "README.md"), "w", encoding="utf-8") as f:
            f.write(card)

    # ---- manners ----

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(string=True, sparse=True, three_d_array=True, allow_nan=False),
        )

    def _repr_html_(self) -> str:
        name = f"<code>{_text(repr(self), 200)}</code>"
        if not self._is_fitted():
            return name
        losses = [e["loss"] for e in self.history_ if e["loss"] is not None]
        rows = [
            ["epochs", str(self.n_epochs_)],
            ["epoch kept", str(self.best_epoch_ + 1)],
            ["loss", f"{losses[-1]:.4f}" if losses else "–"],
        ]
        rows += [
            ["parameters", f"{self.n_parameters_:,}"],
            ["classes", _text(", ".join(map(str, self.classes_.tolist())))],
        ]
        return name + _curve(losses) + _table(["", ""], rows, "trained model")


def _weighted_score(q: np.ndarray, codes: Any, human: Any, weights: np.ndarray) -> float:
    """Weighted mean of the score of each item."""
    if human is None:
        known = codes >= 0
        score = (np.argmax(q, axis=1) == codes)[known].astype(np.float64)
    else:
        known = np.ones(len(q), dtype=bool)
        with np.errstate(divide="ignore", invalid="ignore"):
            score = np.where(human > 0, human * np.log(q), 0.0).sum(axis=1)
    if not weights[known].sum() > 0:
        raise _core.DataError("sample_weight: the weights of the items with a label sum to 0")
    return float(np.average(score, weights=weights[known]))


def read_extras(path: str, texts: list[str]) -> tuple[list[Any], Features]:
    """What save() adds to the model of a folder: the classes, which are otherwise texts, and the names of features."""
    try:
        with open(os.path.join(path, _CLASSES_FILE), encoding="utf-8") as f:
            extras = json.load(f)
        were, names = extras.get("classes", texts), extras.get("feature_names")
        if names is not None and not all(isinstance(name, str) for name in names):
            raise TypeError("feature_names are texts")
        return were if id_texts(were) == texts else texts, Features(None if names is None else len(names), names)
    except FileNotFoundError:
        return texts, Features()
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise _core.DataError(f"{path}/{_CLASSES_FILE}: not what save() writes: {e}") from None


def _curve(values: Sequence[float], width: int = 240, height: int = 60) -> str:
    """A line of losses."""
    if len(values) < 2:
        return ""
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    points = " ".join(
        f"{width * i / (len(values) - 1):.1f},{height - height * (v - low) / span:.1f}" for i, v in enumerate(values)
    )
    line = f'<polyline fill="none" stroke="#3b6fb6" stroke-width="1.5" points="{points}"/>'
    return f'<svg width="{width}" height="{height + 4}" role="img">{line}</svg>'
