"""Distances between sets of soft labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._estimator import seed_of
from ._figures import Metric, Table, metric
from ._measuring import Watching, checked_count, in_order
from ._results import _table, _text, frame_of
from ._running import ProgressLike
from ._tables import Aligned, label_table


@dataclass(frozen=True)
class ViewDistances:
    """The result of view_distances(): ``jsd[i][j]`` is the mean Jensen-Shannon divergence (nats) of views i and j, a
    Metric.

    ``entropy``, ``to_others`` and ``to_centroid`` have one Metric per view; ``hub_over_items`` and ``hub_over_views``
    are the correlations of being near the centroid and near the others.
    """

    names: list[str]
    n_items: int
    jsd: list[list[Metric]]
    entropy: list[Metric]
    to_others: list[Metric]
    to_centroid: list[Metric]
    hub_over_items: Metric
    hub_over_views: Metric

    def matrix(self) -> np.ndarray:
        """The distances as an array (views, views)."""
        return np.array([[m.value for m in row] for row in self.jsd], dtype=np.float64)

    def to_pandas(self) -> Any:
        """The distances as a DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.matrix(), index=self.names, columns=self.names)

    def to_frame(self, kind: str | None = None) -> Any:
        """The distances as a frame with a row and a column per view: kind is "pandas", "polars", "pyarrow", or None for
        the first that is installed."""
        return frame_of(Table({"view": self.names, **dict(zip(self.names, self.matrix()))}, "view"), kind)

    def to_dict(self) -> dict[str, Any]:
        return {
            "views": self.names,
            "items": self.n_items,
            "jsd": [[m.to_dict() for m in row] for row in self.jsd],
            **{name: [m.to_dict() for m in getattr(self, name)] for name in ("entropy", "to_others", "to_centroid")},
            "hub_over_items": self.hub_over_items.to_dict(),
            "hub_over_views": self.hub_over_views.to_dict(),
        }

    def __repr__(self) -> str:
        return f"ViewDistances({len(self.names)} views of {self.n_items} tasks: {', '.join(self.names)})"

    def _repr_html_(self) -> str:
        rows = [[_text(n), *(m._cell() for m in row)] for n, row in zip(self.names, self.jsd)]
        return _table(
            ["nats", *(_text(n) for n in self.names)], rows, f"mean Jensen-Shannon divergence, {self.n_items} tasks"
        )


def view_distances(
    views: Mapping[str, Any] | Iterable[Any],
    *,
    resamples: int = 1000,
    fraction: float = 1.0,
    lenient: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> ViewDistances:
    """Computes distances between several sets of soft labels of the same tasks.

    views are tables of labels (see evaluate()) or fitted aggregators, in a dict by name or in a list.

    >>> a, b = [[1.0, 0.0], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]
    >>> view_distances({"a": a, "b": b}, resamples=0).matrix().round(4).tolist()
    [[0.0, 0.1079], [0.1079, 0.0]]
    """
    named = in_order(views)
    if not named:
        raise _core.OptionError("no views")
    aligned = Aligned([label_table(v, name) for name, v in named.items()], lenient)
    with Watching(n_jobs, progress) as watching:
        d = _core.distances(
            tuple(aligned.p),
            len(aligned.tasks.ids),
            len(aligned.classes.ids),
            seed=seed_of(random_state),
            resamples=checked_count("resamples", resamples),
            fraction=float(fraction),
            **watching,
        )
    n = len(named)
    return ViewDistances(
        names=list(named),
        n_items=d["n_items"],
        jsd=[[metric(d["jsd"][i * n + j]) for j in range(n)] for i in range(n)],
        **{name: [metric(m) for m in d[name]] for name in ("entropy", "to_others", "to_centroid")},
        hub_over_items=metric(d["hub_over_items"]),
        hub_over_views=metric(d["hub_over_views"]),
    )
