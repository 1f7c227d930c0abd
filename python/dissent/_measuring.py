"""What the functions that measure share: how they call the library, and what they make of its answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ._figures import Metric, metric
from ._checks import integer
from ._running import ProgressLike, progress_of, threads_of
from ._ids import Ids
from ._tables import count_unknown, gold_codes
from ._votes import Votes


class Watching:
    """Progress and threads of one call."""

    def __init__(self, n_jobs: int | None, progress: ProgressLike) -> None:
        self.threads = threads_of(n_jobs)
        self.progress = progress_of(progress)

    def __enter__(self) -> dict[str, Any]:
        return {"threads": self.threads, "progress": self.progress}

    def __exit__(self, *error: object) -> None:
        close = getattr(self.progress, "close", None)  # of our own bar
        if close is not None:
            close()


def checked_count(name: str, value: int) -> int:
    return integer(name, value)


def columns_of(table: Mapping[str, Any]) -> dict[str, np.ndarray]:
    return {name: np.asarray(values) for name, values in table.items()}


def figures_of(found: Mapping[str, Any]) -> dict[str, Metric]:
    return {name: metric(m) for name, m in found.items()}


def number_of(m: Mapping[str, Any]) -> float:
    return np.nan if m["value"] is None else m["value"]


def known_classes(votes: Votes, gold: Any, what: str = "gold") -> np.ndarray | None:
    if gold is None:
        return None
    tasks = Ids(votes.tasks.tolist())
    codes = gold_codes(gold, tasks, Ids(votes.classes.tolist()), what=what)
    count_unknown(gold, tasks, what)
    return codes


def in_order(views: Any) -> dict[str, Any]:
    if isinstance(views, Mapping):
        return {str(k): v for k, v in views.items()}
    named: dict[str, Any] = {}
    for i, v in enumerate(views):
        name = type(v).__name__ if hasattr(v, "get_params") else f"view {i + 1}"
        named[name if name not in named else f"{name} {i + 1}"] = v
    return named


def one_or_named(things: Any, name: str) -> dict[str, Any]:
    if (
        isinstance(things, Mapping)
        and not any(isinstance(v, Mapping) for v in things.values())
        and "task" not in things
    ):
        return {str(k): v for k, v in things.items()}
    rows = isinstance(things, (list, tuple)) and bool(things) and isinstance(things[0], Mapping) and "task" in things[0]
    if (
        isinstance(things, (list, tuple))
        and things
        and not rows
        and not np.isscalar(things[0])
        and not isinstance(things[0], (list, tuple))
    ):
        return in_order(things)
    return {type(things).__name__ if hasattr(things, "get_params") else name: things}


def list_of(rows: Iterable[Mapping[str, Any]], text: str) -> str:
    return "\n".join(f"    - ``{r['name']}``: {r[text]}" for r in rows)
