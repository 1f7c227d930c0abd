"""The shared task Le-Wi-Di 2025."""

from __future__ import annotations

import os
from typing import Any

from . import _core


def lewidi_scores(
    name: str,
    official: str | os.PathLike[str],
    soft: str | os.PathLike[str] | None = None,
    annotators: str | os.PathLike[str] | None = None,
    submission: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Scores of Le-Wi-Di 2025 with their rounding: ``soft_score`` and ``perspective_score``, None where nothing was
    given.

    Parameters
    ----------
    name : {"MP", "CSC", "Paraphrase", "VariErrNLI"}
        The set.
    official : file
        Its official JSON file.
    soft, annotators : file, optional
        Soft predictions (a label file, or one to submit); predictions for each annotator (a table of task, worker and
        label, or a file to submit). In VariErrNLI tasks are called ID:entailment and so on, with labels 0 and 1.
    submission : folder, optional
        Where both are written in the form to submit.
    """
    if soft is None and annotators is None:
        raise _core.OptionError("give predictions: soft, annotators, or both")
    paths = [None if p is None else os.fspath(p) for p in (soft, annotators)]
    out: list[str | None] = [None, None]
    if submission is not None:
        os.makedirs(submission, exist_ok=True)
        out = [os.path.join(os.fspath(submission), f"{name}_test_{kind}.tsv") for kind in ("soft", "pe")]
    return _core.lewidi(name, os.fspath(official), *paths, *out)
