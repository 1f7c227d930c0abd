"""A Trainer of transformers for the training objectives."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from typing import Any

try:
    import torch
    import transformers
except ImportError as error:
    raise ImportError("SoftTrainer needs transformers and PyTorch: pip install transformers torch accelerate") from error

from . import _core
from ._card import model_card
from ._evaluate import Evaluation
from .torch import CrowdLayer, GoldAndSoftLoss, loss

_HEADS = ("classifier", "score", "classification_head")
_VOTES = ("vote_worker", "vote_label")


def _head_of(model: Any) -> tuple[str, Any]:
    for name in _HEADS:
        if isinstance(getattr(model, name, None), torch.nn.Module):
            return name, getattr(model, name)
    raise _core.OptionError(
        f"{type(model).__name__} has no classifier ({', '.join(_HEADS)}) to copy for a second head; use kl, js, ..."
    )


class _VoteCollator:
    """Pads the rest of a batch, and puts the votes of all items in a row."""

    def __init__(self, rest: Any) -> None:
        self.rest = rest

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> Any:
        batch = self.rest([{k: v for k, v in row.items() if k not in _VOTES} for row in rows])
        for name in _VOTES:
            batch[name] = torch.tensor([v for row in rows for v in row[name]], dtype=torch.long)
        sizes = torch.tensor([len(row[_VOTES[0]]) for row in rows])
        batch["vote_item"] = torch.repeat_interleave(torch.arange(len(rows)), sizes)
        return batch


class SoftTrainer(transformers.Trainer):
    """transformers.Trainer on the labels that join() adds.

    A plain Trainer reads lists of floats as labels of a multi-label problem and trains on the binary cross-entropy of each
    class. SoftTrainer trains on distributions.

    Parameters
    ----------
    *args, **kwargs
        As transformers.Trainer takes them. The model is one for sequence classification with a label per class.
    objective : str
        "soft-ce", "kl", "inverse-kl" or "js" for soft labels, and "gold" for gold labels. "gold+ce", "gold+kl",
        "gold+inverse-kl" and "gold+js" learn both: the classifier from gold labels, and a copy of it from soft labels.
        "crowd:mw", "crowd:vw", "crowd:vb", "crowd:vwb" and "crowd:sw" learn from votes.
    soft_weight, floor, log_base : float
        As in SoftClassifier.
    n_workers : int, optional
        Number of annotators, for crowd objectives; None: one more than the largest in the training data.
    votes, labels : optional
        What the labels were estimated from, for the model card.
    evaluation : Evaluation, optional
        A result of evaluate(), for the model card.

    save_model() also writes a model card with the disagreement in the training data.
    """

    def __init__(
        self,
        *args: Any,
        objective: str = "kl",
        soft_weight: float = 1.0,
        floor: float = 1e-6,
        log_base: float = 0.0,
        n_workers: int | None = None,
        votes: Any = None,
        labels: Any = None,
        evaluation: Evaluation | None = None,
        **kwargs: Any,
    ) -> None:
        model = kwargs.get("model", args[0] if args else None)
        if model is None:
            raise _core.OptionError("SoftTrainer: give a model")
        self.objective, self._about = objective, {"votes": votes, "labels": labels, "evaluation": evaluation}
        kind, _, rest = objective.partition(":")
        self._loss: Any = None
        if kind == "crowd":
            data = kwargs.get("train_dataset")
            if n_workers is None and data is not None:
                n_workers = 1 + max((max(w) for w in data["vote_worker"] if len(w)), default=-1)
            if not n_workers:
                raise _core.OptionError("crowd objectives need votes: dissent.hf.join(dataset, votes=...), or n_workers=")
            model.crowd_layer = CrowdLayer(n_workers, model.config.num_labels, rest or "mw")
        else:
            options: dict[str, Any] = {} if objective == "gold" else {"log_base": log_base}
            if objective.endswith("inverse-kl"):
                options["floor"] = floor
            if objective.startswith("gold+"):
                options["soft_weight"] = soft_weight
                _, head = _head_of(model)
                model.soft_head = copy.deepcopy(head)
            self._loss = loss(objective, **options)
        super().__init__(*args, **kwargs)
        self.model_accepts_loss_kwargs = False  # losses are means: the Trainer divides them by the accumulated batches
        if kind == "crowd":
            self.data_collator: Any = _VoteCollator(self.data_collator)
        if objective == "gold":
            self.label_names = ["gold"]
        if kind == "crowd":
            self.label_names = list(_VOTES)

    def _set_signature_columns_if_needed(self) -> None:
        super()._set_signature_columns_if_needed()
        known: list[str] = list(getattr(self, "_signature_columns", None) or [])
        self._signature_columns = list(dict.fromkeys([*known, "labels", "gold", *_VOTES]))

    def compute_loss(
        self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """The loss of a batch."""
        names = ("labels", "gold", "vote_item", *_VOTES)
        given = {name: inputs[name] for name in names if name in inputs}
        rest = {name: value for name, value in inputs.items() if name not in names}
        plain = self.accelerator.unwrap_model(model)
        if isinstance(self._loss, GoldAndSoftLoss):
            captured: list[Any] = []
            name, head = _head_of(plain)
            hook = head.register_forward_hook(lambda _module, seen, _out: captured.append(seen[0]))
            try:
                outputs = model(**rest)
            finally:
                hook.remove()
            value = self._loss(outputs.logits, plain.soft_head(captured[-1]), given["gold"], given["labels"])
        else:
            outputs = model(**rest)
            if self._loss is None:
                value = plain.crowd_layer(outputs.logits, given["vote_item"], given["vote_worker"], given["vote_label"])
            else:
                value = self._loss(outputs.logits, given["gold" if self.objective == "gold" else "labels"])
        return (value, outputs) if return_outputs else value

    def save_model(self, output_dir: str | None = None, _internal_call: bool = False) -> None:
        """Saves the model, and a model card if it is not a checkpoint."""
        super().save_model(output_dir, _internal_call)
        folder = output_dir or self.args.output_dir
        if _internal_call or not self.args.should_save:
            return
        config = self.model.config
        classes = [config.id2label[i] for i in range(config.num_labels)]
        base = getattr(config, "_name_or_path", "") or None
        card = model_card(
            os.path.basename(os.path.normpath(folder)),
            classes,
            objective=self.objective,
            base_model=None if base is None or os.path.isabs(base) else base,
            **self._about,
        )
        with open(os.path.join(folder, "README.md"), "w", encoding="utf-8") as f:
            f.write(card)


SoftTrainer.__module__ = "dissent.hf"
