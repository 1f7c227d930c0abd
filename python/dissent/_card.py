"""Model cards: what a model was trained on, the inter-annotator agreement there, and the quality of the model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._agreement import agreement
from ._evaluate import Evaluation
from ._tables import label_table
from ._votes import as_votes

_SHOWN = ("accuracy", "macro_f1", "log_loss", "ece", "cross_entropy", "human_entropy", "kl", "jsd", "entropy_correlation")


def _figure(metric: Any) -> str:
    if metric.value is None:
        return "–"
    interval = "" if metric.ci_low is None else f" [{metric.ci_low:.3f}, {metric.ci_high:.3f}]"
    return f"{metric.value:.3f}{interval}"


def _table(rows: Sequence[tuple[str, str]]) -> list[str]:
    return ["| figure | value |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows), ""]


def _of_votes(votes: Any) -> list[str]:
    table = as_votes(votes)
    counts = table.counts()
    voted = counts.sum(axis=1) > 1
    top = counts.max(axis=1)
    mixed = float(np.mean(top[voted] < counts.sum(axis=1)[voted])) if voted.any() else float("nan")
    found = agreement(table, items=False, workers=False, pairs=False, resamples=1000 if len(table) < 10**6 else 0)
    name = "alpha_ordinal" if table.ordered and found.keys().count("alpha_ordinal") else "alpha_nominal"
    return _table(
        [
            ("tasks", f"{table.core.n_items:,}"),
            ("annotators", f"{table.core.n_workers:,}" if table.core.n_workers else "unknown"),
            ("votes", f"{len(table):,}"),
            ("tasks with votes for several classes", "–" if mixed != mixed else f"{100 * mixed:.1f} %"),
            (f"Krippendorff's alpha ({name.removeprefix('alpha_')})", _figure(found[name])),
        ]
    )


def _of_labels(labels: Any) -> list[str]:
    p = label_table(labels).p
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(p > 0, p * np.log(p), 0.0).sum(axis=1)
    return _table(
        [
            ("tasks with soft labels", f"{len(p):,}"),
            ("mean entropy of the soft labels", f"{entropy.mean():.3f} nats of at most {np.log(p.shape[1]):.3f}"),
            ("mean probability of the most probable class", f"{p.max(axis=1).mean():.3f}"),
        ]
    )


def model_card(
    name: str,
    classes: Sequence[Any],
    *,
    objective: str | None = None,
    votes: Any = None,
    labels: Any = None,
    evaluation: Evaluation | None = None,
    base_model: str | None = None,
    pipeline: str = "text-classification",
) -> str:
    """A model card in Markdown, with the header that the Hugging Face Hub reads.

    Parameters
    ----------
    name : str
        Title of the card.
    classes : list
        Classes in the order of the outputs.
    objective : str, optional
        Training objective.
    votes, labels : Votes, soft labels, optional
        What the model was trained on; adds the figures of disagreement.
    evaluation : Evaluation, optional
        A result of evaluate() on held-out data.
    base_model : str, optional
        The pretrained encoder.
    pipeline : str
        Task of the model in the Hub's terms.
    """
    head: dict[str, Any] = {"library_name": "transformers", "pipeline_tag": pipeline}
    if base_model:
        head["base_model"] = base_model
    head["tags"] = ["soft-labels", "label-variation", "dissent"]
    lines = ["---", *(f"{k}: {json.dumps(v)}" for k, v in head.items()), "---", "", f"# {name}", ""]
    lines += ["This model predicts the distribution of the labels that people give, not one label alone."]
    if objective:
        lines += [f"It was trained with the objective `{objective}` of dissent {_core.__version__}."]
    lines += ["", "Classes: " + ", ".join(f"`{c}`" for c in classes), ""]
    if votes is not None or labels is not None:
        lines += ["## Disagreement in the training data", ""]
        lines += [] if votes is None else _of_votes(votes)
        lines += [] if labels is None else _of_labels(labels)
    if evaluation is not None:
        shown = [(k, _figure(evaluation[k])) for k in _SHOWN if k in evaluation.keys() and evaluation[k].value is not None]
        lines += ["## Evaluation", "", f"On {evaluation.n_items:,} tasks; intervals are 95 %.", "", *_table(shown)]
    lines += [
        "## Use",
        "",
        "Read the probabilities, not only the most probable class: an even distribution means that people disagree.",
        "",
    ]
    return "\n".join(lines)
