"""Soft labels from votes in one call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _core
from ._checks import listed, word
from ._estimator import seed_of
from ._measuring import Watching, known_classes
from ._results import SoftLabels
from ._running import ProgressLike
from ._votes import as_votes


def method_specs(method: str | Iterable[str] | None) -> list[str]:
    """Methods as the command line names them; none: the default."""
    if method is None:
        return []
    if isinstance(method, str):
        return [method]
    return [word("method", m, '"dawid-skene"') for m in listed("method", method, "methods")]


def labels(
    votes: Any,
    method: str | Iterable[str] | None = None,
    *,
    combine: str | None = None,
    gold: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> SoftLabels:
    """Soft labels from votes, as ``dissent labels`` writes them.

    Parameters
    ----------
    votes : Votes or a table
        As aggregators take them.
    method : str or list of str, optional
        Label methods or a recipe, as the command line names them ("dawid-skene:smoothing=1"); several are combined.
        Without it, the default recipe.
    combine : str, optional
        How several methods are combined ("average").
    gold : labels by task, optional
        Known labels.

    >>> votes = [("t1", "a", "x"), ("t1", "b", "x"), ("t2", "a", "y"), ("t2", "b", "x"), ("t3", "a", "y"), ("t3", "b", "y")]
    >>> labels(votes).labels.tolist()
    ['x', 'x', 'y']
    >>> labels(votes, "majority")["t1"]
    {'x': 1.0, 'y': 0.0}
    """
    table = as_votes(votes, n_jobs)
    with Watching(n_jobs, progress) as watching:
        p = _core.make_labels(
            table.core,
            methods=method_specs(method),
            combine=None if combine is None else word("combine", combine, '"average"'),
            gold=known_classes(table, gold),
            seed=seed_of(random_state),
            **watching,
        )
    return SoftLabels(table.tasks, table.classes, np.asarray(p), categories=table.categories)
