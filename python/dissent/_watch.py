"""Labels that are updated with every vote, and items that are complete."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from . import _core
from ._categories import class_list
from ._columns import _is_missing, _plain
from ._core import OptionError
from ._checks import real, integer
from ._ids import id_text
from ._results import _table, _text as _cell

_DUPLICATES = ("error", "first", "last", "all")


def _text(what: str, value: object) -> str:
    """An id as its text, as Votes has it."""
    if _is_missing(value):
        raise _core.DataError(f"{what} is {value!r}; every vote needs a task, a worker and a label")
    return id_text(_plain(value))


class WatchRow(NamedTuple):
    """A result of a vote: an item is complete (`confident`), needs votes (`needs_votes`), or has reached the maximum (`vote_limit`)."""

    task: str
    label: str
    p: float
    votes: int
    reason: str

    def _repr_html_(self) -> str:
        cells = [_cell(self.task), _cell(self.label), f"{self.p:.4f}", str(self.votes), self.reason]
        return _table(list(self._fields), [cells], "a result of a vote", (0, 1, 4))


class Watch:
    """Counts votes one by one; each call returns the rows that result from the vote (`dissent watch`, docs/guides/watch.md).

    Parameters
    ----------
    retire : float
        An item is complete if its label has at least this probability.
    min_votes : int
        Minimum number of votes of a complete item.
    ask_from : int
        Report an incomplete item with this many votes; 0: never.
    max_votes : int
        An item is complete after this many votes; 0: no limit.
    remember : int
        Number of complete items to keep for late votes; 0: all.
    power, limit : float
        Temper probabilities by the number of votes, up to `limit` votes; power=0: votes are independent.
    duplicates : {"error", "first", "last", "all"}
        Rule for several votes of one worker on an open item.
    classes : list, optional
        The classes in order; None: from the votes.
    memory : int
        Memory limit in bytes for open items, workers and complete items; 0: all available.

    Ids and labels are texts; other values are converted to text.

    >>> import dissent
    >>> watch = dissent.Watch(power=0, classes=["a", "b"])
    >>> watch.add("t1", "ann", "a")
    []
    >>> watch.add("t1", "bob", "a")
    [WatchRow(task='t1', label='a', p=0.961538..., votes=2, reason='confident')]
    >>> watch.counts["confident"]
    1
    """

    def __init__(
        self,
        *,
        retire: float = 0.95,
        min_votes: int = 2,
        ask_from: int = 3,
        max_votes: int = 0,
        remember: int = 0,
        power: float = 0.7,
        limit: float = 16,
        duplicates: str = "error",
        classes: Sequence[object] | None = None,
        memory: int = 0,
    ) -> None:
        if duplicates not in _DUPLICATES:
            raise OptionError(f"duplicates is {duplicates!r}; one of {', '.join(_DUPLICATES)} is possible")
        names = None if classes is None else [_text("a class", name) for name in class_list(classes) or ()]
        rule = _DUPLICATES.index(duplicates)
        self._watch = _core.watch_open(
            real("retire", retire),
            integer("min_votes", min_votes),
            integer("ask_from", ask_from),
            integer("max_votes", max_votes),
            integer("remember", remember, high=2**63 - 1),
            real("power", power),
            real("limit", limit),
            rule,
            names,
            integer("memory", memory, high=2**63 - 1),
        )

    def add(self, task: object, worker: object, label: object) -> list[WatchRow]:
        """Counts a vote, and returns the resulting rows."""
        vote = _text("the task", task), _text("the worker", worker), _text("the label", label)
        return [WatchRow(*row) for row in self._watch.add(*vote)]

    def finalize(self) -> list[WatchRow]:
        """Checks all open items again with the current estimates of workers, and returns rows of complete items."""
        return [WatchRow(*row) for row in self._watch.finalize()]

    @property
    def counts(self) -> dict[str, int]:
        """votes, late, duplicates, confident, at_vote_limit (done at max_votes), open, n_workers, n_classes."""
        return self._watch.view()

    def __repr__(self) -> str:
        n = self.counts
        return f"Watch({n['votes']} votes; {n['confident']} tasks confident, {n['at_vote_limit']} at the limit, {n['open']} open)"

    def _repr_html_(self) -> str:
        return _table(["", "count"], [[name.removeprefix("n_"), f"{n:,}"] for name, n in self.counts.items()], "Watch")

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the labels of open items to a file: CSV, TSV, JSONL or npy, by its extension."""
        self._watch.write(path)
