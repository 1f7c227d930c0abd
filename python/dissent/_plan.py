"""Plans of studies: how many items, annotators and votes they need."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from . import _core
from ._checks import listed, real, integer, word
from ._estimator import seed_of
from ._figures import make_table, shown_with
from ._judge import _name
from ._measuring import columns_of, known_classes
from ._panel import people_among
from ._results import Framed
from ._votes import Votes


class Plan(Framed):
    """Expected precision of studies that have not been carried out: the result of plan().

    ``designs``: a table of items, annotators, votes per item, expected value, half width of the 95 % interval, power and
    cost. ``answer``: the cheapest design that reaches the target, as a dictionary; None without one, with a ``reason``.
    ``items_low`` and ``items_high``: items of the answer if the variances are one standard error lower and higher than in
    the pilot. ``variance``: shares of the variance of a vote that come from items, annotators and single votes.
    ``split``: people and a judge for the same cost, as a dictionary, or None.
    """

    _frame = "designs"

    def __init__(self, found: dict[str, Any], metric: str, pandas: bool) -> None:
        designs = columns_of(found["designs"])
        possible = ~np.isnan(designs["half_width"])
        self.metric = metric
        self.value: float = found["value"]
        self.designs: Any = make_table({name: x[possible] for name, x in designs.items()}, None, pandas)
        self.answer: dict[str, Any] | None = _first(found.get("answer"))
        self.reason: str | None = found["reason"] or None
        self.items_low: float | None = None
        self.items_high: float | None = None
        if self.answer and found["n_items"]:
            self.items_low, self.items_high = found["items_low"], found["items_high"]
        parts = {part: found[part] for part in ("items", "annotators", "votes")}
        total = sum(parts.values())
        self.variance: dict[str, float] = {part: x / total for part, x in parts.items()}
        self.split: dict[str, Any] | None = _first(found.get("split"))
        self.n_items: int = found["n_items"]
        self.n_annotators: int = found["n_annotators"]
        self.n_votes: int = found["n_votes"]
        self.effective_annotators: float = found["effective_annotators"]

    def __repr__(self) -> str:
        if self.answer is None:
            return f"Plan({self.metric!r}, {self.reason or 'no target'})"
        a = self.answer
        votes = a["votes_per_item"]
        return (
            f"Plan({self.metric!r}, {a['items']} items with {votes} vote{'s' * (votes != 1)} each "
            f"by at least {a['annotators']} annotators)"
        )

    def _repr_html_(self) -> str:
        return shown_with(self, self.designs)


def _first(rows: Any) -> dict[str, Any] | None:
    return None if rows is None else {name: np.asarray(x)[0].item() for name, x in rows.items()}


def _counts(name: str, values: Iterable[int]) -> tuple[int, ...]:
    return tuple(integer(name, x, 1) for x in listed(name, values, "numbers"))


def plan(
    votes: Any = None,
    *,
    metric: str = "labels",
    judge: Any = None,
    second_judge: Any = None,
    people: Iterable[Any] | None = None,
    gold: Any = None,
    class_name: Any = None,
    value: float | None = None,
    kappa: float | None = None,
    spread: float | None = None,
    discordant: float | None = None,
    judge_kappa: float | None = None,
    n_classes: int = 2,
    effect: float | None = None,
    power: float = 0.8,
    half_width: float | None = None,
    min_accuracy: float | None = None,
    items: Sequence[int] = (50, 100, 200, 400, 800, 1600),
    annotators: Sequence[int] = (5, 8, 12, 20, 30, 50, 100),
    votes_per_item: Sequence[int] = (1, 2, 3, 5, 7, 10),
    max_items: int | None = None,
    budget: float | None = None,
    vote_cost: float = 1,
    item_cost: float = 0,
    annotator_cost: float = 0,
    judge_cost: float = 0.01,
    page: str | os.PathLike[str] | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Plan:
    """Predict the 95 % interval and the power of studies, and find the cheapest that is good enough.

    Parameters
    ----------
    votes : Votes or a table, optional
        Votes of a pilot study. Without it, figures are stated.
    metric : str
        "labels" (accuracy of majority labels), "alpha", "kappa", "percent" (agreement of people), "judge" (share of
        people's votes that equal the judge's answer), "difference" (of two judges), or "share" (of a class).
    judge, second_judge : worker ids, optional
        The judge, and the second judge for "difference". They may be models.
    people : list of worker ids, optional
        People; all workers but the judges without it.
    gold : labels by task, optional
        Known labels for "labels". Without it, accuracy is against the label that many votes would give.
    class_name : label, optional
        The class for "share"; the first one without it.
    value, kappa, spread, discordant, judge_kappa : float, optional
        Figures without a pilot. ``value`` is the expected value of the metric, and ``kappa`` the agreement of two people.
        ``spread`` is the standard deviation of the value over annotators (0.05). ``discordant`` is the share of votes that
        equal the answer of one judge only, and ``judge_kappa`` the kappa of the judge and a person.
    n_classes : int
        Without a pilot: number of classes.
    effect, power : float
        The smallest difference to detect, and the probability of detecting it.
    half_width : float, optional
        Largest half width of the 95 % interval.
    min_accuracy : float, optional
        Least accuracy of labels.
    items, annotators, votes_per_item : lists of int
        The designs. The search for an answer takes annotators and votes per item from these lists.
    max_items : int, optional
        Number of items that are available.
    budget : float, optional
        Highest cost.
    vote_cost, item_cost, annotator_cost, judge_cost : float
        Costs of a vote, an item, an annotator, and an answer of the judge.
    page : path, optional
        Write the plan as an HTML page.

    >>> found = plan(metric="judge", value=0.8, kappa=0.5, half_width=0.05, annotators=[20])
    >>> found.answer["items"] > 200
    True
    """
    numbers = {
        "value": value,
        "kappa": kappa,
        "spread": spread,
        "discordant": discordant,
        "judge_kappa": judge_kappa,
        "effect": effect,
        "power": power,
        "half_width": half_width,
        "min_accuracy": min_accuracy,
        "budget": budget,
        "vote_cost": vote_cost,
        "item_cost": item_cost,
        "annotator_cost": annotator_cost,
        "judge_cost": judge_cost,
    }
    table = None if votes is None else votes if isinstance(votes, Votes) else Votes(votes, duplicates="all", n_jobs=n_jobs)
    person = codes = None
    first: str | None = None
    second: str | None = None
    if table is None:
        if judge is not None or second_judge is not None or gold is not None or class_name is not None or people is not None:
            raise _core.OptionError("judge, second_judge, people, gold and class_name are about the votes of a pilot; pass votes")
    else:
        first, second = (None if j is None else _name(table, j) for j in (judge, second_judge))
        judges = [j for j in (judge, second_judge) if j is not None]
        if people is None:
            person = people_among(table, judges) if judges else np.ones(len(table.workers), np.uint8)
        else:
            person = (1 - people_among(table, listed("people", people, "worker ids"))).astype(np.uint8)
        codes = known_classes(table, gold)
    found = _core.plan(
        None if table is None else table.core,
        person,
        codes,
        word("metric", metric, "'alpha'"),
        first,
        second,
        None if class_name is None else str(class_name),
        {name: real(name, x) for name, x in numbers.items() if x is not None},
        _counts("items", items),
        _counts("annotators", annotators),
        _counts("votes_per_item", votes_per_item),
        integer("n_classes", n_classes, 2, 64),
        0 if max_items is None else integer("max_items", max_items, 2),
        seed_of(random_state),
        None if page is None else os.fspath(page),
    )
    return Plan(found, metric, table is not None and table.pandas)
