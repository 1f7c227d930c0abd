"""Crowds whose truth is known."""

from __future__ import annotations

import csv
import os
import tempfile
from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._checks import real, integer, word
from ._figures import Table, shown_with
from ._estimator import seed_of
from ._results import frame_of
from ._votes import Votes, read_votes


class SyntheticCrowd(NamedTuple):
    """What synth() made: ``votes``; ``gold``, the true class by task; ``texts`` by task and ``features``, a row per
    task in the order of ``gold``, None unless asked for."""

    votes: Votes
    gold: dict[str, str]
    texts: dict[str, str] | None
    features: np.ndarray | None

    def __repr__(self) -> str:
        beside = [name for name in ("texts", "features") if getattr(self, name) is not None]
        return f"SyntheticCrowd({self.votes!r}{''.join(', ' + name for name in beside)})"

    def _items(self) -> Table:
        columns: dict[str, Any] = {"task": list(self.gold), "gold": list(self.gold.values())}
        if self.texts is not None:
            columns["text"] = [self.texts[task] for task in self.gold]
        for k in range(0 if self.features is None else self.features.shape[1]):
            columns[f"x{k}"] = self.features[:, k].astype(np.float64)  # type: ignore[index]
        return Table(columns, "task", shown=("task", "gold", "text"))

    def to_frame(self, kind: str | None = None) -> Any:
        """A frame with a row per task: the true class, its text, its features. kind is "pandas", "polars", "pyarrow", or
        None for the first that is installed."""
        return frame_of(self._items(), kind)

    def _repr_html_(self) -> str:
        return shown_with(self, self._items())


def _pairs(path: str) -> dict[str, str]:
    with open(path, encoding="utf-8", newline="") as f:
        return dict(list(csv.reader(f))[1:])


def synth(
    n_items: int = 1000,
    n_workers: int = 50,
    n_classes: int = 4,
    votes_per_item: int = 5,
    *,
    model: str = "dawid-skene",
    accuracy: float = 0.7,
    spread: float = 0.15,
    spammers: float = 0.2,
    shuffle: bool = False,
    texts: bool = False,
    n_features: int = 0,
    theme: str | None = None,
    n_judges: int = 0,
    human_items: int = 0,
    random_state: Any = 0,
) -> SyntheticCrowd:
    """Votes of a crowd that is drawn, with the truth: for examples, tests and trying methods out. The same as ``dissent
    synth``.

    Parameters
    ----------
    n_items, n_workers, n_classes, votes_per_item : int
        Its size; votes on an item are by as many different workers.
    model : {"dawid-skene", "one-coin", "spammer", "difficulty", "ambiguous"}
        How the crowd votes.
    accuracy, spread : float
        Mean chance that a worker is right, and how much workers differ: the standard deviation of that chance.
    spammers : float
        Share of workers who vote without looking (models spammer and ambiguous).
    shuffle : bool
        Rows in random order instead of grouped by item.
    texts : bool
        Also texts whose words depend on the true class.
    n_features : int
        Also so many numbers per item that depend on the true class.
    theme : {"tickets", "reviews"}, optional
        Class names and English texts: support tickets (up to 6 classes) or product reviews (up to 4).
    n_judges : int
        LLM judges that vote on every item, as workers judge1, judge2, ...
    human_items : int
        With ``n_judges``: people vote on the first ``human_items`` items; 0 means all.
    random_state
        As everywhere; the same one gives the same crowd on every machine.

    >>> from dissent import DawidSkene, evaluate, synth
    >>> crowd = synth(200, n_classes=3)
    >>> crowd.votes
    Votes(200 tasks, 50 workers, 3 classes, 1000 votes)
    >>> round(evaluate(DawidSkene().fit(crowd.votes), gold=crowd.gold).accuracy, 2) > 0.8
    True
    """
    n_features = integer("n_features", n_features, 0, 16384)
    with tempfile.TemporaryDirectory() as folder:
        path = {name: os.path.join(folder, name) for name in ("votes.csv", "gold.csv", "texts.csv", "features.npy")}
        _core.synth(
            path["votes.csv"],
            path["gold.csv"],
            model=word("model", model),
            n_items=integer("n_items", n_items, 1),
            n_workers=integer("n_workers", n_workers, 1),
            n_classes=integer("n_classes", n_classes, 1),
            votes_per_item=integer("votes_per_item", votes_per_item, 1),
            seed=seed_of(random_state),
            accuracy=real("accuracy", accuracy),
            spread=real("spread", spread),
            spammers=real("spammers", spammers),
            shuffle=shuffle,
            text=path["texts.csv"] if texts else None,
            features=path["features.npy"] if n_features else None,
            n_features=n_features or 16,
            theme=None if theme is None else word("theme", theme),
            n_judges=integer("n_judges", n_judges, 0, 64),
            human_items=integer("human_items", human_items, 0),
        )
        return SyntheticCrowd(
            read_votes(path["votes.csv"]),
            _pairs(path["gold.csv"]),
            _pairs(path["texts.csv"]) if texts else None,
            np.load(path["features.npy"]) if n_features else None,
        )
