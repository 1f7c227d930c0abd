"""Votes that are not one class each: sets of classes, numbers, comparisons, spans."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._estimator import seed_of
from ._figures import Figures, make_table
from ._groups import as_groups
from ._measuring import Watching, checked_count, figures_of
from ._running import ProgressLike
from ._votes import Votes


class Scaled(Figures):
    """What scaled() found.

    Measures of agreement are attributes (``s.alpha_interval``: a number, or None) and items (``s["alpha_interval"]``: a
    Metric with interval, n and reason). ``labels``, ``items`` and ``workers`` are tables, and so are the others of the
    scale in ``tables``; items and workers have the most doubtful first.
    """

    def __init__(self, found: dict[str, Any], votes: Votes) -> None:
        self._figures = figures_of(found["measures"])
        self._caption = f"scale {found['scale']}"
        self.scale: str = found["scale"]
        self.method: str = found["method"]
        self.n_iter: int = found["n_iter"]
        self.converged: bool = found["converged"]
        self.notes: list[str] = found["notes"]
        self.tables: dict[str, Any] = {}
        for name, table in found["tables"].items():
            columns = {}
            for column, values in table.items():
                columns[column] = np.array(values, dtype=object) if isinstance(values, list) else np.asarray(values)
            self.tables[name] = make_table(columns, next(iter(columns)), votes.pandas)
        self.labels: Any = self.tables["labels"]
        self.items: Any = self.tables["items"]
        self.workers: Any = self.tables["workers"]


def _covariate(name: str, given: Any, votes: Votes) -> tuple[str, np.ndarray]:
    """One number per item, in the order of votes.tasks."""
    if isinstance(given, Mapping):
        numbers = {"\x1f".join(map(str, key)): float(value) for key, value in given.items()}
        given = [numbers.get(str(task), np.nan) for task in votes.tasks]
        if np.isnan(given).all():
            raise _core.DataError(f"covariates: no key of {name!r} is (task, a, b) of a vote, or (a, b) without tasks")
    return name, np.ascontiguousarray(given, dtype=np.float64)


def scaled(
    votes: Any,
    scale: str | None = None,
    *,
    method: str | Sequence[str] | None = None,
    combine: str | None = None,
    covariates: Mapping[str, Any] | None = None,
    groups: Any = None,
    append: str | os.PathLike[str] | None = None,
    save_state: str | os.PathLike[str] | None = None,
    resamples: int = 1000,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> Scaled:
    """Labels, agreement and what to review of votes of the scales multi-label, numeric, pairwise and spans.

    Parameters
    ----------
    votes : Votes or a table
        Of that scale; of a table the scale must be named.
    scale : str
        "multi-label", "numeric", "pairwise" or "spans"; None: that of the votes.
    method : str or list of str
        The scale's model with options ("random-effects:shrink=10", "bradley-terry:reliability=no"), or label methods
        for multi-label and spans; None: the scale's own.
    combine : str
        Combination of several label methods.
    covariates : mapping, optional
        For pairwise: name to values in favor of the first candidate, such as the difference of two lengths. Values are a
        mapping of (task, a, b), or (a, b) without tasks, to a number; or an array in the order of ``votes.tasks``.
    groups : Groups or a mapping, optional
        For pairwise: groups of annotators, for scores of each group. A mapping of worker to group stands for
        Groups(mapping).
    append : path, optional
        For pairwise: a saved state. Its comparisons are added to the votes, and the fit starts at its scores.
    save_state : path, optional
        For pairwise: file for all comparisons and their fit, for ``append``.
    resamples : int
        Resamples of the items for 95 % intervals; 0: none.

    >>> s = scaled([("t1", "ann", 3), ("t1", "bob", 4.5), ("t2", "ann", 7), ("t2", "bob", 8)], "numeric", resamples=0)
    >>> round(s.alpha_interval, 4)
    0.8446
    >>> s.labels["task"].tolist()
    ['t1', 't2']
    """
    if not isinstance(votes, Votes):
        if scale is None:
            raise _core.OptionError(
                "of which scale are these votes? scale='numeric', 'multi-label', 'pairwise' or 'spans'"
            )
        votes = Votes(votes, scale=scale, n_jobs=n_jobs)
    elif scale is not None and votes.scale != scale:
        raise _core.OptionError(f"the votes are of scale {votes.scale!r}; make them with Votes(..., scale={scale!r})")
    members = None
    if groups is not None:
        values, how = as_groups(groups).of(votes)
        members = (values, how["min_group"], how["hide"], how["cuts"])
    with Watching(n_jobs, progress) as watching:
        found = _core.scaled(
            votes.core,
            method=[method] if isinstance(method, str) else None if method is None else list(method),
            combine=combine,
            seed=seed_of(random_state),
            resamples=checked_count("resamples", resamples),
            groups=members,
            covariates=[_covariate(name, values, votes) for name, values in (covariates or {}).items()],
            append=None if append is None else os.fspath(append),
            save_state=None if save_state is None else os.fspath(save_state),
            **watching,
        )
    return Scaled(found, votes)
