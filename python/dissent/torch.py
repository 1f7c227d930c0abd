"""PyTorch: the training objectives as modules, a data set of items and their labels, and the crowd layer.

Import it as ``import dissent.torch``; it needs PyTorch, which ``import dissent`` does not load. The losses have the values
and gradients of ``dissent train``. docs/guides/pytorch.md is the guide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

try:
    import torch
except ImportError as error:
    raise ImportError("dissent.torch needs PyTorch; install it with: pip install torch") from error

from . import _core
from ._ids import Ids
from ._tables import gold_codes, label_table
from ._votes import Votes, as_votes

F = torch.nn.functional

__all__ = [
    "CrowdLayer",
    "GoldAndSoftLoss",
    "InverseKLLoss",
    "JensenShannonLoss",
    "KLLoss",
    "SoftCrossEntropyLoss",
    "SoftLabelDataset",
    "SoftLoss",
    "loss",
]


class SoftLoss(torch.nn.Module):
    """A loss of logits (items, classes) and soft labels of the same shape: the mean over the items.

    Rows of zeros in the soft labels are items without a target and do not count.

    Parameters
    ----------
    log_base : float
        Base of the logarithm; 0: e.
    """

    def __init__(self, log_base: float = 0.0) -> None:
        super().__init__()
        if log_base < 0 or log_base == 1:
            raise _core.OptionError(f"log_base={log_base!r}: must be 0 or above 0, and not 1")
        self.log_base = log_base

    def per_item(self, logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """The loss of each item, in nats."""
        raise NotImplementedError

    def forward(
        self, logits: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None = None
    ) -> torch.Tensor:
        """The mean loss, weighted by `weight` (items)."""
        if target.shape != logits.shape:
            raise _core.DataError(f"logits of shape {tuple(logits.shape)}, soft labels of shape {tuple(target.shape)}")
        target = target.to(logits.dtype)
        known = (target.sum(-1) > 0).to(logits.dtype)
        weight = known if weight is None else known * weight.to(logits.dtype)
        each = self.per_item(logits, target)
        mean = (each * weight).sum() / weight.sum().clamp(min=torch.finfo(logits.dtype).tiny)
        return mean / math.log(self.log_base) if self.log_base else mean

    def extra_repr(self) -> str:
        return f"log_base={self.log_base}" if self.log_base else ""


class SoftCrossEntropyLoss(SoftLoss):
    """Cross-entropy to the soft label: -sum p log q (objective soft-ce)."""

    def per_item(self, logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return -(target * F.log_softmax(logits, -1)).sum(-1)


class KLLoss(SoftLoss):
    """KL divergence from the soft label to the prediction: sum p log(p / q) (objective kl)."""

    def per_item(self, logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return (torch.xlogy(target, target) - target * F.log_softmax(logits, -1)).sum(-1)


class InverseKLLoss(SoftLoss):
    """KL divergence from the prediction to the soft label: sum q log(q / p) (objective inverse-kl).

    Parameters
    ----------
    floor : float
        Smallest probability of a soft label; rows are rescaled to sum 1.
    """

    def __init__(self, floor: float = 1e-6, log_base: float = 0.0) -> None:
        super().__init__(log_base)
        self.floor = floor

    def per_item(self, logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        raised = target.clamp(min=self.floor)
        raised = raised / raised.sum(-1, keepdim=True)
        log_q = F.log_softmax(logits, -1)
        return (log_q.exp() * (log_q - raised.log())).sum(-1)


class JensenShannonLoss(SoftLoss):
    """Jensen-Shannon divergence of the soft label and the prediction (objective js)."""

    def per_item(self, logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        log_q = F.log_softmax(logits, -1)
        q = log_q.exp()
        log_m = ((target + q) / 2).log()
        of_target = torch.xlogy(target, target) - target * log_m
        return (of_target + q * (log_q - log_m)).sum(-1) / 2


_SOFT: dict[str, type[SoftLoss]] = {
    "soft-ce": SoftCrossEntropyLoss,
    "ce": SoftCrossEntropyLoss,
    "kl": KLLoss,
    "inverse-kl": InverseKLLoss,
    "js": JensenShannonLoss,
}


class GoldAndSoftLoss(torch.nn.Module):
    """The loss of two heads: cross-entropy to the gold label, plus soft_weight times a soft loss (objectives gold+kl, ...).

    Gold labels are class numbers; -1 is an item without one.
    """

    def __init__(self, soft: SoftLoss | None = None, soft_weight: float = 1.0) -> None:
        super().__init__()
        self.soft = KLLoss() if soft is None else soft
        self.soft_weight = soft_weight

    def forward(
        self, gold_logits: torch.Tensor, soft_logits: torch.Tensor, gold: torch.Tensor, target: torch.Tensor
    ) -> torch.Tensor:
        """The sum of both losses, each the mean over the items that have a target of the kind."""
        known = gold >= 0
        hard = F.cross_entropy(gold_logits[known], gold[known]) if bool(known.any()) else gold_logits.sum() * 0
        return hard + self.soft_weight * self.soft(soft_logits, target)


class CrowdLayer(torch.nn.Module):
    """The crowd layer of Rodrigues and Pereira 2018: a map per annotator between the prediction and the vote.

    forward() returns the mean loss of votes. Predict with ``softmax(logits)``; the maps serve training alone.

    Parameters
    ----------
    n_workers, n_classes : int
        Number of annotators and of classes.
    kind : {"mw", "vw", "vb", "vwb", "sw"}
        The map: a matrix, a factor per class, a term per class, both, or one factor. It starts as the identity.
    on : {"logits", "probabilities"}
        What the map reads.
    """

    def __init__(self, n_workers: int, n_classes: int, kind: str = "mw", on: str = "logits") -> None:
        super().__init__()
        if kind not in ("mw", "vw", "vb", "vwb", "sw"):
            raise _core.OptionError(f"kind={kind!r}: choose 'mw', 'vw', 'vb', 'vwb' or 'sw'")
        if on not in ("logits", "probabilities"):
            raise _core.OptionError(f"on={on!r}: choose 'logits' or 'probabilities'")
        self.kind, self.on = kind, on
        if kind == "mw":
            self.matrix = torch.nn.Parameter(torch.eye(n_classes).repeat(n_workers, 1, 1))
        if kind in ("vw", "vwb", "sw"):
            self.factor = torch.nn.Parameter(torch.ones(n_workers, 1 if kind == "sw" else n_classes))
        if kind in ("vb", "vwb"):
            self.term = torch.nn.Parameter(torch.zeros(n_workers, n_classes))

    def vote_logits(self, logits: torch.Tensor, item: torch.Tensor, worker: torch.Tensor) -> torch.Tensor:
        """Logits (votes, classes) of the votes of `worker` on row `item` of the logits."""
        x = logits[item] if self.on == "logits" else F.softmax(logits, -1)[item]
        if self.kind == "mw":
            return torch.einsum("vkj,vj->vk", self.matrix[worker], x)
        if self.kind in ("vw", "vwb", "sw"):
            x = x * self.factor[worker]
        return x + self.term[worker] if self.kind in ("vb", "vwb") else x

    def forward(
        self, logits: torch.Tensor, item: torch.Tensor, worker: torch.Tensor, label: torch.Tensor
    ) -> torch.Tensor:
        """Mean cross-entropy of the votes: row of the logits, annotator, and class of each vote."""
        return F.cross_entropy(self.vote_logits(logits, item, worker), label)


def loss(objective: str, **options: Any) -> torch.nn.Module:
    """The loss of an objective by its name: soft-ce, kl, inverse-kl, js, gold+kl and the like.

    >>> loss("js")
    JensenShannonLoss()
    """
    if objective == "gold":
        return torch.nn.CrossEntropyLoss(ignore_index=-1, **options)
    head, _, soft = objective.partition("+")
    if head == "gold" and soft in _SOFT:
        weight = options.pop("soft_weight", 1.0)
        return GoldAndSoftLoss(_SOFT[soft](**options), weight)
    if objective not in _SOFT or objective == "ce":
        raise _core.OptionError(
            f"no loss for the objective {objective!r}; there are gold, soft-ce, kl, inverse-kl, js, and gold+ one of ce, "
            "kl, inverse-kl, js; CrowdLayer is for votes"
        )
    return _SOFT[objective](**options)


class SoftLabelDataset(torch.utils.data.Dataset):
    """Items with their labels, matched by task id, for a DataLoader.

    Each element is a dict: ``x`` (the item), ``target`` (its soft label), and, where given, ``gold`` (class number, -1 where
    it is not known). Pass ``collate_fn=data.collate`` to the DataLoader if there are votes: the batch then has
    ``vote_item`` (row in the batch), ``vote_worker`` and ``vote_label``, which CrowdLayer takes.

    Parameters
    ----------
    items : dict, Series or sequence
        Items by task id, or in the order of `tasks`.
    labels : SoftLabels, a fitted aggregator or a table, optional
        Soft labels by task.
    tasks : list, optional
        Task ids of a sequence of items; None: those of the labels, in their order.
    gold : labels by task, optional
        Gold labels.
    votes : Votes or a table, optional
        Votes, for a crowd layer.
    dtype : torch.dtype, optional
        Of soft labels; None: the default of PyTorch.

    >>> from dissent import SoftLabels
    >>> people = SoftLabels(["a", "b"], ["no", "yes"], [[0.25, 0.75], [1.0, 0.0]])
    >>> data = SoftLabelDataset({"b": [1.0, 2.0], "a": [3.0, 4.0]}, people, gold={"a": "yes"})
    >>> data[0]["x"].tolist(), data[0]["target"].tolist(), data[0]["gold"].item(), data[1]["gold"].item()
    ([1.0, 2.0], [1.0, 0.0], -1, 1)
    """

    def __init__(
        self,
        items: Any,
        labels: Any = None,
        *,
        tasks: Sequence[Any] | None = None,
        gold: Any = None,
        votes: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        table = None if labels is None else label_table(labels)
        self.votes: Votes | None = None if votes is None else as_votes(votes)
        if table is None and self.votes is None:
            raise _core.OptionError("nothing to learn from: give labels or votes")
        if isinstance(items, Mapping):
            tasks, items = list(items), list(items.values())
        elif tasks is None and hasattr(items, "index") and hasattr(items, "tolist"):  # a Series of pandas
            tasks, items = items.index.tolist(), items.tolist()
        elif tasks is None:
            known = table.tasks.ids if table is not None and table.tasks is not None else None
            tasks = known if known is not None or self.votes is None else self.votes.tasks.tolist()
        self.items = items
        n = len(items)
        self.tasks: list[Any] = list(range(n)) if tasks is None else list(tasks)
        if len(self.tasks) != n:
            raise _core.DataError(f"{len(self.tasks)} task ids for {n} items")
        classes = table.classes.ids if table is not None and table.classes is not None else None
        if classes is None:
            classes = self.votes.classes.tolist() if self.votes is not None else list(range(table.p.shape[1]))  # type: ignore[union-attr]
        self.classes = list(classes)
        dtype = torch.get_default_dtype() if dtype is None else dtype
        self.target = None if table is None else torch.from_numpy(self._rows(table)).to(dtype)
        self.gold = None
        if gold is not None:
            codes = gold_codes(gold, Ids(self.tasks), Ids(self.classes), what="gold")
            self.gold = torch.from_numpy(codes.astype(np.int64))
        self._gather_votes()

    def _rows(self, table: Any) -> np.ndarray:
        if table.tasks is None:
            if len(table.p) != len(self.tasks):
                raise _core.DataError(f"labels: {len(table.p)} rows for {len(self.tasks)} items")
            return table.p
        place = table.tasks.find_all(self.tasks)
        if (place < 0).any():
            missing = self.tasks[int(np.argmax(place < 0))]
            raise _core.DataError(f"labels: nothing about task {missing!r}; leave the item out, or add its label")
        return table.p[place]

    def _gather_votes(self) -> None:
        if self.votes is None:
            return
        item, worker, label = self.votes.rows()
        order = np.argsort(item, kind="stable")
        first = np.searchsorted(item[order], np.arange(self.votes.core.n_items + 1))
        classes = Ids(self.classes).find_all(self.votes.classes.tolist())
        if (classes < 0).any():
            raise _core.DataError(f"votes: the class {self.votes.classes[classes < 0][0]!r} is not among {self.classes}")
        place = Ids(self.votes.tasks.tolist()).find_all(self.tasks)
        self._worker, self._label = torch.from_numpy(worker[order]), torch.from_numpy(classes[label[order]])
        self._range = [(int(first[i]), int(first[i + 1])) if i >= 0 else (0, 0) for i in place.tolist()]

    @property
    def n_workers(self) -> int:
        """Number of annotators, for CrowdLayer."""
        return 0 if self.votes is None else self.votes.core.n_workers

    def __len__(self) -> int:
        return len(self.tasks)

    def __getitem__(self, i: int) -> dict[str, Any]:
        if not -len(self) <= i < len(self):
            raise IndexError(f"item {i} of {len(self)}")
        i %= len(self)
        x = self.items[i]
        row: dict[str, Any] = {"x": x if isinstance(x, (str, dict, torch.Tensor)) else torch.as_tensor(x)}
        if self.target is not None:
            row["target"] = self.target[i]
        if self.gold is not None:
            row["gold"] = self.gold[i]
        if self.votes is not None:
            low, high = self._range[i]
            row["vote_worker"], row["vote_label"] = self._worker[low:high], self._label[low:high]
        return row

    def collate(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """A batch of elements: the default one, and the votes of all of them in a row."""
        from torch.utils.data import default_collate

        votes = ("vote_worker", "vote_label")
        batch: dict[str, Any] = default_collate([{k: v for k, v in row.items() if k not in votes} for row in rows])
        if self.votes is not None:
            batch.update({name: torch.cat([row[name] for row in rows]) for name in votes})
            sizes = torch.tensor([len(row["vote_worker"]) for row in rows])
            batch["vote_item"] = torch.repeat_interleave(torch.arange(len(rows)), sizes)
        return batch
