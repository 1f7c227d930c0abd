"""Hugging Face: soft targets for datasets, a Trainer for the training objectives, and model cards.

Import it as ``import dissent.hf``. join() and to_dataset() need ``datasets``; SoftTrainer needs ``transformers`` and PyTorch.
``import dissent`` loads none of them. docs/guides/hugging-face.md is the guide.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._card import model_card
from ._evaluate import evaluate
from ._ids import Ids
from ._results import SoftLabels
from ._tables import gold_codes, label_table
from ._votes import as_votes

if TYPE_CHECKING:
    from ._softtrainer import SoftTrainer

__all__ = ["SoftTrainer", "join", "model_card", "soft_metrics", "to_dataset"]


def __getattr__(name: str) -> Any:
    if name != "SoftTrainer":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ._softtrainer import SoftTrainer

    return SoftTrainer


def __dir__() -> list[str]:
    """SoftTrainer is listed where transformers and PyTorch are installed, so that help() works without them."""
    labelled = all(importlib.util.find_spec(name) for name in ("transformers", "torch"))
    return sorted([*globals(), *(["SoftTrainer"] if labelled else [])])


def _datasets() -> Any:
    try:
        import datasets
    except ImportError as error:
        raise ImportError("this needs Hugging Face datasets; install it with: pip install datasets") from error
    return datasets


def _names(classes: Sequence[Any]) -> list[str]:
    return [str(c) for c in classes]


def to_dataset(labels: Any) -> Any:
    """Soft labels as a datasets.Dataset with the columns task, label, probabilities and entropy. The label is a ClassLabel
    with the names of the classes, and probabilities are in their order.
    """
    datasets = _datasets()
    table = label_table(labels)
    classes = list(range(table.p.shape[1])) if table.classes is None else table.classes.ids
    tasks = list(range(len(table.p))) if table.tasks is None else table.tasks.ids
    soft = SoftLabels(tasks, classes, table.p)
    features = datasets.Features(
        {
            "task": datasets.Value("int64" if all(type(t) is int for t in tasks) else "string"),
            "label": datasets.ClassLabel(names=_names(classes)),
            "probabilities": datasets.Sequence(datasets.Value("float64"), length=len(classes)),
            "entropy": datasets.Value("float64"),
        }
    )
    columns = {
        "task": tasks if features["task"].dtype == "int64" else [str(t) for t in tasks],
        "label": np.argmax(table.p, axis=1).tolist(),
        "probabilities": table.p.tolist(),
        "entropy": soft.entropy.tolist(),
    }
    return datasets.Dataset.from_dict(columns, features=features)


def join(
    dataset: Any,
    labels: Any = None,
    *,
    task: str = "task",
    gold: Any = None,
    votes: Any = None,
    lenient: bool = False,
) -> Any:
    """A datasets.Dataset with the labels of its tasks, matched by task id, for SoftTrainer.

    Adds the columns ``labels`` (a list of probabilities), ``gold`` (class number, -1 where it is not known), and
    ``vote_worker`` and ``vote_label`` (numbers of the annotators and classes of the votes).

    Parameters
    ----------
    dataset : datasets.Dataset
        The items.
    labels : labels, optional
        Soft labels: SoftLabels, a fitted method, or a table.
    task : str
        Column of the dataset with the task ids.
    gold : labels by task, optional
        Gold labels.
    votes : Votes or a table, optional
        Votes, for a crowd layer.
    lenient : bool
        Leave out items without a label; otherwise they are an error.
    """
    datasets = _datasets()
    if task not in dataset.column_names:
        raise _core.DataError(
            f"no column {task!r}; the columns are {', '.join(dataset.column_names)}; name the one with the ids: task="
        )
    if labels is None and votes is None:
        raise _core.OptionError("nothing to join: give labels or votes")
    table = None if labels is None else label_table(labels)
    crowd = None if votes is None else as_votes(votes)
    if table is not None and (table.tasks is None or table.classes is None):
        raise _core.DataError("labels: tasks and classes are not known; give SoftLabels or a DataFrame by task")
    classes = table.classes.ids if table is not None and table.classes is not None else crowd.classes.tolist()  # type: ignore[union-attr]
    ids = list(dataset[task])
    places = [Ids(table.tasks.ids if table is not None and table.tasks is not None else crowd.tasks.tolist()).find_all(ids)]  # type: ignore[union-attr]
    labelled = places[0] >= 0
    if not labelled.all() and not lenient:
        raise _core.DataError(
            f"no label for the task {ids[int(np.argmin(labelled))]!r} and {int((~labelled).sum()) - 1} others; lenient=True "
            "leaves such items out"
        )
    if not labelled.any():
        raise _core.DataError(f"none of the {len(ids)} items has a label; is {task!r} the column with the task ids?")
    selected = dataset if labelled.all() else dataset.select(np.flatnonzero(labelled).tolist())
    ids = [i for i, known in zip(ids, labelled.tolist()) if known]
    if table is not None:
        feature = datasets.Sequence(datasets.Value("float32"), length=len(classes))
        selected = _with(selected, "labels", table.p[places[0][labelled]].astype(np.float32).tolist(), feature)
    if gold is not None:
        codes = gold_codes(gold, Ids(ids), Ids(classes), what="gold")
        selected = _with(selected, "gold", codes.tolist(), datasets.Value("int64"))
    if crowd is not None:
        selected = _with_votes(selected, crowd, ids, classes, datasets)
    return selected


def _with(dataset: Any, name: str, values: list[Any], feature: Any) -> Any:
    if name in dataset.column_names:
        dataset = dataset.remove_columns(name)
    return dataset.add_column(name, values, feature=feature)


def _with_votes(dataset: Any, votes: Any, ids: list[Any], classes: list[Any], datasets: Any) -> Any:
    item, worker, label = votes.rows()
    place = Ids(classes).find_all(votes.classes.tolist())
    if (place < 0).any():
        raise _core.DataError(f"votes: the class {votes.classes[place < 0][0]!r} is not among the classes {classes}")
    order = np.argsort(item, kind="stable")
    first = np.searchsorted(item[order], np.arange(votes.core.n_items + 1))
    rows = Ids(votes.tasks.tolist()).find_all(ids)
    for name, values in (("vote_worker", worker[order]), ("vote_label", place[label[order]])):
        lists = [values[first[r] : first[r + 1]].tolist() if r >= 0 else [] for r in rows.tolist()]
        dataset = _with(dataset, name, lists, datasets.Sequence(datasets.Value("int64")))
    return dataset


def soft_metrics(predictions: Any) -> dict[str, float]:
    """compute_metrics for a Trainer on soft labels: cross-entropy, KL, JSD, entropy correlation, and accuracy against the
    most probable class.

    Parameters
    ----------
    predictions : transformers.EvalPrediction
        Logits, and soft labels as the label ids.
    """
    logits, target = predictions.predictions, predictions.label_ids
    logits = np.asarray(logits[0] if isinstance(logits, (tuple, list)) else logits, dtype=np.float64)
    target = np.asarray(target[0] if isinstance(target, (tuple, list)) else target, dtype=np.float64)
    q = np.exp(logits - logits.max(axis=1, keepdims=True))
    q /= q.sum(axis=1, keepdims=True)
    target = target / target.sum(axis=1, keepdims=True)
    names = ["cross_entropy", "kl", "jsd", "entropy_correlation"]
    found = evaluate(q, human=target, metrics=names, resamples=0)
    metrics = {name: value for name in names if (value := found[name].value) is not None}
    return {**metrics, "accuracy": float(np.mean(q.argmax(axis=1) == target.argmax(axis=1)))}
