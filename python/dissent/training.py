"""Models that are trained on soft labels, gold labels, both, or the votes of single workers.

>>> import numpy as np
>>> from dissent import SoftClassifier
>>> x = np.array([[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.2]] * 10)
>>> p = np.array([[0.8, 0.2], [0.1, 0.9], [0.7, 0.3], [0.2, 0.8]] * 10)
>>> model = SoftClassifier(model="mlp:hidden=8,dropout=0", n_epochs=30, learning_rate=0.02).fit(x, p)
>>> model.predict(x[:2]).tolist(), model.predict_proba(x).shape
([0, 1], (40, 2))
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from . import _core
from ._categories import class_list
from ._estimator import seed_of
from ._features import as_column, check_classes, item_weights
from ._items import Rows, Targets, flat_labels, is_soft
from ._measuring import Watching
from ._perspectives import table_file
from ._results import SoftLabels
from ._checks import device_of, real, integer, word
from ._running import ProgressLike
from ._ids import Ids
from ._tables import LabelTable, id_array, known_labels, label_table
from ._trained import TrainedModel, read_extras
from ._votes import Votes, as_votes
from .aggregation import Standard

__all__ = ["SoftClassifier", "models", "objectives"]

_OBJECTIVES: dict[str, dict[str, Any]] = {row["name"]: row for row in _core.objectives()}
_USUAL = {"texts": "text", "tokens": "tagger", "features": "mlp", "images": "resnet"}


def models() -> list[dict[str, Any]]:
    """The models that SoftClassifier knows: name, summary, the items it is for, its options, its own epochs, batch and
    rate.

    >>> [m["name"] for m in models() if m["items"] == "features"]
    ['mlp']
    """
    return _core.models()


def objectives() -> list[dict[str, Any]]:
    """The training objectives: name, summary, and whether it needs gold labels, soft labels or votes.

    >>> "soft-ce" in [o["name"] for o in objectives()]
    True
    """
    return _core.objectives()


@dataclass(eq=False, repr=False)
class SoftClassifier(TrainedModel):
    """A classifier that learns from human labels, disagreement included.

    Parameters
    ----------
    objective : str
        Training objective; objectives() lists them. "soft-ce", "kl", "inverse-kl" and "js" learn soft labels,
        "gold" hard ones, "gold+kl" and the like both at once with two heads, "crowd:mw" and the like the votes of
        single workers. Settings follow the name, as on the command line ("crowd:mw:on=probabilities,warm-up=5").
    model : str
        "text", "mlp", "tagger", "stem-cnn", "resnet", "encoder", "encoder-tagger", with options as on the command line
        ("mlp:hidden=64,dropout=0.2"); models() lists them. "auto": text for texts, mlp for rows of numbers, tagger for
        sentences, resnet for images.
    n_epochs, batch_size, learning_rate, optimizer, schedule
        None: the model's own.
    keep : str, optional
        With a development set (fit(..., dev=(X, y))): the metric by which the best epoch is kept; macro_f1 with gold
        labels, else cross_entropy.
    patience : int
        Epochs without a better one until training stops; 0: all epochs.
    soft_weight : float
        Of the soft head where there is a gold one.
    log_base : float
        Of the logarithms of the soft head; 0: e.
    floor : float
        Of targets of inverse KL.
    over_all : bool
        Crowd losses are means over items x workers, as in some published code; otherwise over votes.
    order : str, optional
        Order of the items: "shuffled" every epoch (the default), "fixed" (the same batches in every epoch) or "file".
    keep_last : bool
        Keep the last of several best epochs; otherwise the first.
    class_weights : bool
        Weight each item by items / (classes x items of its class).
    accumulate : int
        Batches that make one step, the same as one batch of their size.
    aggregator : estimator, optional
        Computes soft labels if only votes are given; None: Standard(), the shares of the votes.
    classes : list, optional
        All classes in their order; else those of y.
    lenient : bool
        Leave out items without a label, and count them; otherwise they are an error.
    vectors : file, optional
        Word vectors to start from, in GloVe's text format.
    encoder : folder, optional
        The pretrained encoder of the models "encoder" and "encoder-tagger", as Hugging Face lays it out. Options of the
        model: "encoder:lora=8", "encoder:frozen=6,layer-decay=0.9", "encoder:max-length=128".
    checkpoints : folder, optional
        Where a checkpoint goes after each epoch and when training is stopped; resume=True continues from it.
    device : str
        Where the model runs: "cpu", "cuda", "cuda:N", or "auto": a CUDA device if available.
    precision : str
        "float32", "bf16", or "auto": bf16 on CUDA devices, else float32. CPUs train in float32. On CPUs with
        AVX512_BF16, set_params(precision="bf16") after fit makes predictions faster and less exact.
    random_state, n_jobs, progress
        As everywhere. The same data, options and seed give the same model for any n_jobs.

    After fit: ``classes_``, ``history_`` (one dict per epoch: loss, rate, dev, dev_cross_entropy; None where not
    measured), ``n_epochs_``, ``best_epoch_``, ``heads_``, ``n_parameters_``, ``n_left_out_``, ``model_``.
    ``save(folder)`` writes what ``dissent predict`` reads, ``SoftClassifier.load(folder)`` reads what ``dissent train``
    writes. Pickling keeps parameters and model.
    """

    _estimator_type = "classifier"

    objective: str = "soft-ce"
    model: str = "auto"
    _: KW_ONLY
    n_epochs: int | None = None
    batch_size: int | None = None
    learning_rate: float | None = None
    optimizer: str | None = None
    schedule: str | None = None
    keep: str | None = None
    patience: int = 0
    soft_weight: float = 1.0
    log_base: float = 0.0
    floor: float = 1e-6
    over_all: bool = False
    order: str | None = None
    keep_last: bool = False
    class_weights: bool = False
    accumulate: int = 1
    aggregator: Any = None
    classes: Sequence[Any] | None = None
    lenient: bool = False
    vectors: str | os.PathLike[str] | None = None
    encoder: str | os.PathLike[str] | None = None
    checkpoints: str | os.PathLike[str] | None = None
    resume: bool = False
    device: str = "cpu"
    precision: str = "auto"
    random_state: Any = 0
    n_jobs: int | None = None
    progress: ProgressLike = None

    # ---- fitting ----

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        gold: Any = None,
        votes: Any = None,
        tasks: Any = None,
        dev: Any = None,
        worker_table: Any = None,
        worker_features: Sequence[str] | None = None,
        sample_weight: Any = None,
    ) -> SoftClassifier:
        """Trains the model.

        Parameters
        ----------
        X : items
            An array (items, numbers), dense or sparse, or a list or Series of texts, of tuples of texts, or of sentences
            (lists of tokens). Sparse matrices are converted to dense ones. Images are an array (items, height, width[, channels]) of bytes or numbers from 0 to 1. The
            index of a Series or DataFrame has the task ids.
        y : labels
            Soft labels: SoftLabels, a fitted aggregator, a DataFrame or an array (items, classes). Or one label per
            item. By task id where X and y have ids, else in the order of X.
        gold : labels by task, optional
            Gold labels in addition to soft ones.
        votes : Votes or a table, optional
            For crowd objectives; where y is None their shares (see aggregator) are the soft labels.
        tasks : list, optional
            Task ids of X, where X has no index.
        dev : tuple, optional
            (X, y) or (X, y, gold): a development set, by which the best epoch is kept.
        worker_table : file or table, optional
            Worker metadata (a column worker, and others), for the objectives annotator and annot-mix.
        worker_features : list of str, optional
            Columns of it to learn from: numbers are standardized, other values are categories.
        sample_weight : array, optional
            Weight of each item in the loss, in the order of X; items of weight 0 are left out. Not for objectives that
            learn from votes.
        """
        if (worker_table is None) != (worker_features is None):
            raise _core.OptionError(
                "worker_table and worker_features go together: a table, and what of it to learn from"
            )
        with table_file(worker_table) as path:
            known = {} if path is None else {"worker_table": path, "worker_features": ",".join(worker_features or ())}
            model, rows, targets, n_given = self._train(
                X, y, gold, votes, tasks, dev, known=known, sample_weight=sample_weight
            )
        self._keep(model, id_array(targets.classes.ids), targets.categories, rows.features)
        self._left_out = n_given - rows.n
        return self

    def out_of_fold(
        self,
        X: Any,
        y: Any = None,
        *,
        folds: int = 10,
        dev_share: float = 0.0,
        jobs: int = 1,
        gold: Any = None,
        votes: Any = None,
        tasks: Any = None,
        dev: Any = None,
        sample_weight: Any = None,
    ) -> Any:
        """Out-of-fold predictions: each item is predicted by a model that was not trained on it.

        The items are split into folds by random_state, with the same share of every label in every fold. The model of
        each fold is trained on all other items and predicts the fold. Such predictions can be combined with votes:
        DawidSkene().fit(votes, predictions=...). dev_share of the items outside of a fold select its epoch. Everything
        else is as in fit(), and the classifier does not change. jobs: how many folds are trained at the same
        time; they share the threads of n_jobs. 0: as many as fit. The result does not depend on it. Gives SoftLabels
        where tasks are known, a DataFrame when X is pandas, else an array; an array per sentence of tokens."""
        if folds < 2:
            raise _core.OptionError(f"{folds} folds; 2 or more are possible")
        known = {"fold_jobs": integer("jobs", jobs, 0, 1024)}
        result, rows, targets, _ = self._train(
            X, y, gold, votes, tasks, dev, folds, dev_share, known, sample_weight=sample_weight
        )
        classes, p = id_array(targets.classes.ids), np.asarray(result)
        if rows.bounds is not None:
            return np.split(p, rows.bounds[1:-1].astype(np.int64))
        if rows.pandas:
            import pandas as pd

            return pd.DataFrame(p, index=rows.index, columns=pd.Index(classes, name="label"), copy=False)
        if rows.ids is None:
            return p
        return SoftLabels(id_array(rows.ids.ids), classes, p, categories=targets.categories)

    def _train(
        self,
        X: Any,
        y: Any,
        gold: Any,
        votes: Any,
        tasks: Any,
        dev: Any,
        folds: int = 0,
        fold_dev: float = 0.0,
        known: dict[str, Any] | None = None,
        sample_weight: Any = None,
    ) -> tuple[Any, Rows, Targets, int]:
        """A model, or the predictions of all folds; the items used, the targets, and how many items were given."""
        needs = self._needs()
        rows = Rows(X, tasks)
        table = None if votes is None else as_votes(votes, self.n_jobs)
        targets = self._targets(flat_labels(as_column(y), rows), gold, table, needs, rows)
        n_given = rows.n
        weights = item_weights(sample_weight, n_given)
        examples, used = self._examples(rows, targets)
        if weights is not None and used is not None:
            weights = np.ascontiguousarray(weights[used])
        judged = None
        if dev is not None:
            if not isinstance(dev, (tuple, list)) or len(dev) not in (2, 3):
                raise _core.OptionError("dev is (X, y) or (X, y, gold)")
            judged = self._dev(dev, targets)
        if self.resume and self.checkpoints is None:
            raise _core.OptionError("resume=True continues from a folder of checkpoints; give checkpoints=FOLDER")
        if self.checkpoints is not None:
            os.makedirs(self.checkpoints, exist_ok=True)
        with Watching(self.n_jobs, self.progress) as watching:
            result = _core.train(
                examples,
                targets.class_texts(),
                dev=judged,
                model=self._model_spec(rows.kind),
                objective=self.objective,
                seed=seed_of(self.random_state),
                epochs=0 if self.n_epochs is None else integer("n_epochs", self.n_epochs, 0, 10**9),
                batch=0 if self.batch_size is None else integer("batch_size", self.batch_size, 0, 10**9),
                rate=0.0 if self.learning_rate is None else real("learning_rate", self.learning_rate, 0, 1000),
                optimizer=self.optimizer,
                schedule=self.schedule,
                keep=self.keep,
                patience=integer("patience", self.patience),
                soft_weight=real("soft_weight", self.soft_weight),
                log_base=real("log_base", self.log_base),
                floor=real("floor", self.floor),
                over_all=self.over_all,
                order=self.order,
                keep_last=self.keep_last,
                class_weights=self.class_weights,
                accumulate=integer("accumulate", self.accumulate),
                lenient=True,
                vectors=None if self.vectors is None else os.fspath(self.vectors),
                encoder=None if self.encoder is None else os.fspath(self.encoder),
                folder=None if self.checkpoints is None else os.fspath(self.checkpoints),
                resume=self.resume,
                folds=folds,
                fold_dev=fold_dev,
                item_weights=weights,
                device=device_of(self.device),
                precision=self.precision,
                **(known or {}),
                **watching,
            )
        return result, rows, targets, n_given

    def _needs(self) -> dict[str, Any]:
        word("objective", self.objective, "'soft-ce'")
        for name in ("optimizer", "schedule", "keep", "precision"):
            if getattr(self, name) is not None:
                word(name, getattr(self, name))
        for name, row in _OBJECTIVES.items():
            if self.objective == name or self.objective.startswith(name + ":"):
                return row
        raise _core.OptionError(f"no objective {self.objective!r}; there are {', '.join(_OBJECTIVES)}")

    def _model_spec(self, kind: str) -> str:
        return _USUAL[kind] if word("model", self.model) == "auto" else self.model

    def _targets(self, y: Any, gold: Any, votes: Votes | None, needs: dict[str, Any], rows: Rows) -> Targets:
        soft, hard = None, gold
        if y is not None and is_soft(y):
            soft = label_table(y, "y")
        elif y is not None and gold is not None:
            raise _core.OptionError("y holds one label per item and so does gold; y is soft labels where gold is given")
        elif y is not None:
            hard = y
            check_classes(list(dict.fromkeys(known_labels(y, "y")[1])), class_list(self.classes))
        if soft is None and needs["needs_labels"]:
            if votes is not None:
                soft = label_table(self._aggregated(votes), "votes")
            elif hard is not None and not needs["needs_gold"]:
                soft = self._one_hot(hard, rows)
        for need, have, what in (
            ("needs_labels", soft, "soft labels: give them as y, or votes"),
            ("needs_gold", hard, "gold labels: give them as y, or as gold beside soft labels"),
            ("needs_votes", votes, "votes: fit(X, votes=...)"),
        ):
            if needs[need] and have is None:
                nothing = f"{type(self).__name__} requires y to be passed, but the target y is None: "
                predict_only = y is None and gold is None and votes is None
                raise _core.OptionError(f"{nothing if predict_only else ''}the objective {self.objective} needs {what}")
        if soft is None and hard is None and votes is None:
            raise _core.OptionError("nothing to learn from: give y or votes")
        return Targets(
            soft if needs["needs_labels"] else None,
            hard if needs["needs_gold"] else None,
            votes if needs["needs_votes"] else None,
            self.classes,
        )

    def _aggregated(self, votes: Votes) -> Any:
        aggregator = (self.aggregator if self.aggregator is not None else Standard(n_jobs=self.n_jobs)).clone()
        return aggregator.fit(votes).result_

    def _one_hot(self, hard: Any, rows: Rows) -> LabelTable:
        targets = Targets(None, hard, None, self.classes)
        codes = targets.gold_rows(rows)
        if codes is None or not len(targets.classes.ids):
            raise _core.DataError("y: no labels")
        p = np.zeros((rows.n, len(targets.classes.ids)))
        p[np.arange(rows.n)[codes >= 0], codes[codes >= 0]] = 1
        known = np.flatnonzero(codes >= 0)
        ids = list(range(rows.n)) if rows.ids is None else rows.ids.ids
        if len(known) < rows.n and rows.ids is None:
            rows.ids = Ids(ids)
        tasks = None if len(known) == rows.n else [ids[i] for i in known.tolist()]
        return LabelTable(p[known], tasks, targets.classes.ids, False, "y", targets.categories)

    def _examples(self, rows: Rows, targets: Targets) -> tuple[tuple[Any, Any, Any, Any], np.ndarray | None]:
        """What the library learns from, and the rows of X that are used; None: all."""
        keep: np.ndarray | None = None
        p, codes = targets.soft_rows(rows), targets.gold_rows(rows)
        texts: list[str] | None = None
        has = np.zeros(rows.n, dtype=bool)
        if p is not None:
            has |= ~np.isnan(p[:, 0])
        elif codes is not None:
            has |= codes >= 0
        if targets.votes is not None:
            texts, voted = self._task_texts(rows, targets.votes)
            has |= voted
        if not has.all():
            i = int(np.argmin(has))
            name = i if rows.ids is None else rows.ids.ids[i]
            if not has.any():
                ask = "give them with fit(..., tasks=ids of X)" if rows.ids is None else "do they match?"
                raise _core.DataError(f"none of the {rows.n} items has a label by its id ({name!r}, ...); {ask}")
            if not self.lenient:
                others = int((~has).sum()) - 1
                also = ["", ", nor has 1 other"][others] if others < 2 else f", nor have {others} others"
                raise _core.DataError(f"the item {name!r} has no label{also}; lenient=True leaves such items out")
            keep = np.flatnonzero(has)
            rows.keep(keep)
            p = None if p is None else p[keep]
            codes = None if codes is None else codes[keep]
            texts = None if texts is None else [texts[i] for i in keep.tolist()]
        items = rows.items(texts)
        return (
            items,
            None if p is None else np.ascontiguousarray(p),
            None if codes is None else np.ascontiguousarray(codes),
            None if targets.votes is None else targets.votes.core,
        ), keep

    def _task_texts(self, rows: Rows, votes: Votes) -> tuple[list[str], np.ndarray]:
        """The items' ids as the votes' texts, and which of them have votes."""
        task_ids, names = Ids(votes.tasks.tolist()), votes.core.names("task")
        ids = list(range(rows.n)) if rows.ids is None else rows.ids.ids
        place = task_ids.find_all(ids)
        used_names = set(names)
        texts = []
        for i, (at, k) in enumerate(zip(place.tolist(), ids)):
            text = names[at] if at >= 0 else f"{k}"
            while at < 0 and text in used_names:
                text += f" (item {i})"
            used_names.add(text)
            texts.append(text)
        return texts, place >= 0

    def _dev(self, dev: Sequence[Any], train: Targets) -> tuple[Any, Any, Any, Any]:
        rows = Rows(dev[0])
        y, gold = flat_labels(dev[1], rows), dev[2] if len(dev) == 3 else None
        soft = label_table(y, "dev") if is_soft(y) else None
        hard = gold if soft is not None else y
        targets = Targets(soft, hard, None, train.classes.ids)
        p, codes = targets.soft_rows(rows), targets.gold_rows(rows, "dev")
        if p is not None and np.isnan(p).any():
            raise _core.DataError("dev: an item has no soft label")
        return rows.items(), p, codes, None

    # ---- folders ----

    @classmethod
    def load(cls, folder: str | os.PathLike[str], **params: Any) -> SoftClassifier:
        """A trained model of a folder, also one that ``dissent train`` has written; its classes are then texts."""
        path = os.fspath(folder)
        model = _core.load_model(path)
        view = model.view()
        classifier = cls(objective=view["objective"], model=view["model"], random_state=view["seed"])
        classifier.set_params(**params)
        classes, features = read_extras(path, view["classes"])
        classifier._keep(model, id_array(classes), features=features)
        return classifier
