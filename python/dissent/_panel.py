"""People and LLM judges as annotators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import _core
from ._checks import listed, real
from ._estimator import seed_of
from ._figures import Metric, make_table, metric, shown_with
from ._groups import _metric_columns
from ._measuring import Watching, checked_count, columns_of
from ._results import Framed, SoftLabels
from ._running import ProgressLike
from ._ids import Ids
from ._votes import Votes, as_votes


def people_among(votes: Votes, models: Iterable[Any]) -> np.ndarray:
    """For each worker, whether it is a person."""
    workers = Ids(votes.workers.tolist())
    person = np.ones(votes.core.n_workers, dtype=np.uint8)
    for model in models:
        at = workers.find(model)
        if at < 0:
            raise _core.DataError(f"model {model!r} cast no vote")
        person[at] = 0
    return person


class Panel(Framed):
    """Result of panel().

    ``unknown``: why nothing is reported about judges (people agree no more than chance, or too few items), or None.
    ``models``: a table with a row per judge: agreement with people, the test against chance, error rate, the
    alternative-annotator test, error group (0: unknown). ``pairs``: correlation of the errors of two judges. ``copies``: judges that
    copy a person (source None: the majority of people). ``rates``: bias of each judge and the share of each class among
    people's answers (model None: the majority of the judges, ties split evenly). ``items``: where to ask people next.
    ``labels``: SoftLabels calibrated to people. ``effective``: Metric, the number of independent judges that the judges
    are worth. ``labelled_differ``: items with votes of people differ from the others in the judges' answers.
    ``few_people``: fewer than 5 people, so that intervals do not hold for other people.
    """

    _frame = "models"

    def __init__(self, found: dict[str, Any], votes: Votes) -> None:
        pandas = votes.pandas
        self.correlation: Metric = metric(found["correlation"])
        self.effective: Metric = metric(found["effective"])
        self.loss_rates, self.loss_shares, self.loss_calibrated = (
            metric(found[k]) for k in ("loss_rates", "loss_shares", "loss_calibrated")
        )
        self.unknown: str | None = found["unknown"]
        self.n_above_chance: int = found["n_above_chance"]
        for name in (
            "n_error_groups",
            "n_people",
            "few_people",
            "items_with_people",
            "items_with_two_people",
            "p_people",
            "p_labelled",
            "labelled_differ",
            "copies_tested",
            "exponent",
            "strength",
            "spent",
        ):
            setattr(self, name, found[name])
        judges = columns_of(found["judges"])
        names = votes.workers[judges["worker"]]
        columns: dict[str, Any] = {"model": names, "votes": judges["votes"], "shared": judges["shared"]}
        columns.update(_metric_columns("agreement", found["agreement"]))
        columns.update({"chance": judges["chance"], "p_chance": judges["p_chance"]})
        columns["above_chance"] = judges["above_chance"].astype(bool)
        columns.update(_metric_columns("error", found["error"]))
        columns.update({"people": judges["people"], "won": judges["won"], "winning_rate": judges["winning_rate"]})
        columns["passed"] = judges["passed"].astype(bool)
        columns.update(_metric_columns("as_good", found["as_good"]))
        self.models: Any = make_table({**columns, "error_group": (judges["error_group"].astype(np.int64) + 1) % 2**32}, "model", pandas)
        pairs = columns_of(found["pairs"])
        self.pairs: Any = make_table(
            {
                "model_a": names[pairs["a"]],
                "model_b": names[pairs["b"]],
                "items": pairs["n"],
                "correlation": pairs["correlation"],
            },
            None,
            pandas,
        )
        copies = columns_of(found["copies"])
        workers = [None if w == 2**32 - 1 else votes.workers[w] for w in copies["worker"]]
        self.copies: Any = make_table(
            {
                "model": names[copies["judge"]],
                "source": np.array(workers, dtype=object),
                "items": copies["n"],
                **{c: copies[c] for c in ("same", "expected", "copied", "p")},
            },
            None,
            pandas,
        )
        rates = columns_of(found["rates"])
        with_all = np.array([*names.tolist(), None], dtype=object)
        columns = {"model": with_all[rates["judge"]], "label": votes._labels(rates["class"])}
        columns.update({c: rates[c] for c in ("n_people", "n_alone", "raw", "sensitivity", "specificity")})
        for name in ("bias", "people", "rogan_gladen", "powered"):
            columns.update(_metric_columns(name, found["rate_" + name]))
        self.rates: Any = make_table(
            {**columns, "weight": rates["lambda"], "needed": rates["needed"], "needed_alone": rates["needed_alone"]},
            None,
            pandas,
        )
        items = columns_of(found["items"])
        self.items: Any = make_table(
            {"task": votes.tasks[items["item"]], "people": items["people"], "buy": items["buy"], "gain": items["gain"]},
            "task",
            pandas,
        )
        p = np.asarray(found["p"]).reshape(votes.core.n_items, votes.core.n_classes)
        self.labels = SoftLabels(votes.tasks, votes.classes, p, categories=votes.categories)

    def __repr__(self) -> str:
        count = len(self.models["votes"])
        if self.unknown:
            return f"Panel({count} judges; {self.unknown})"
        value = "None" if self.effective.value is None else f"{self.effective.value:.3g}"
        return f"Panel({count} judges, {self.n_above_chance} above chance, effective={value})"

    def _repr_html_(self) -> str:
        return shown_with(self, self.models, self.items)


def panel(
    votes: Any,
    models: Iterable[Any],
    *,
    epsilon: float = 0.1,
    fdr: float = 0.05,
    min_people: int = 2,
    min_items: int = 30,
    ordinal: bool = False,
    same_errors: float = 0.5,
    half_width: float = 0.05,
    budget: int = 0,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> Panel:
    """Compare LLM judges (or other models) with people as annotators.

    Tests against chance come first: if people agree with each other no more than chance, ``unknown`` has the reason and
    nothing else is reported about judges. docs/reference/panel-formulas.md has the formulas.

    Parameters
    ----------
    votes : Votes or a table
        Votes of people and of judges, in any form that the aggregators accept.
    models : list of worker ids
        The workers that are judges; all others are people.
    epsilon, fdr, min_people, min_items
        Alternative-annotator test. epsilon: how much more a person costs than a judge (.1 for crowds, .15 for skilled
        people, .2 for experts). fdr: false discovery rate. Votes of people that an item needs; items that a person
        needs.
    ordinal : bool
        Classes are numbers: the test uses their differences.
    same_errors : float
        Judges whose errors correlate at least this much on average form one error group.
    half_width : float
        Half width of the interval of a class share, for the number of items that people must label.
    budget : int
        Votes of people to place.

    >>> votes = [(t, w, (t * 7 + (w == "m") * (t % 5 == 0)) % 2) for t in range(40) for w in ("a", "b", "c", "m")]
    >>> found = panel(votes, ["m"], epsilon=0.3)
    >>> found.models["people"].tolist(), found.models["above_chance"].tolist(), found.few_people
    ([3], [True], True)
    """
    table = as_votes(votes, n_jobs)
    with Watching(n_jobs, progress) as watching:
        found = _core.panel(
            table.core,
            people_among(table, listed("models", models, "worker ids")),
            epsilon=real("epsilon", epsilon),
            fdr=real("fdr", fdr),
            min_people=checked_count("min_people", min_people),
            min_items=checked_count("min_items", min_items),
            numbers=ordinal,
            same_errors=real("same_errors", same_errors, -1, 1),
            precision=real("half_width", half_width, 1e-6, 1 - 1e-6),
            budget=checked_count("budget", budget),
            seed=seed_of(random_state),
            **watching,
        )
    return Panel(found, table)


def swaps(votes: Any, swapped: Any, mirror: Mapping[Any, Any] | None = None, first: Any = None) -> Any:
    """Pairs judged twice, the two answers in one order and in the other: a table with a row per voter.

    Parameters
    ----------
    votes, swapped : Votes or tables
        Of the same tasks and workers.
    mirror : dict, optional
        What a label means with the places exchanged: {"first": "second"} (and back). Without it, labels name the
        answers.
    first : label, optional
        The one that says the answer shown first is better: which place flips go to.

    >>> ab = [(1, "judge", "first"), (2, "judge", "first"), (3, "judge", "tie")]
    >>> ba = [(1, "judge", "second"), (2, "judge", "first"), (3, "judge", "tie")]
    >>> rows = swaps(Votes(ab, classes=["first", "second", "tie"]), ba, {"first": "second"}, "first")
    >>> rows["pairs"].tolist(), rows["to_first"].tolist()
    ([3], [1])
    """
    one, other = as_votes(votes, None), as_votes(swapped, None)
    classes = Ids(one.classes.tolist())
    turned = None
    if mirror is not None:
        turned = np.arange(len(classes.ids), dtype=np.uint64)
        for a, b in mirror.items():
            i, j = classes.find(a), classes.find(b)
            if i < 0 or j < 0:
                raise _core.OptionError(f"mirror: no label {a if i < 0 else b!r} among the votes")
            turned[i], turned[j] = j, i
    place = -1 if first is None else classes.find(first)
    if first is not None and place < 0:
        raise _core.OptionError(f"first: no label {first!r} among the votes")
    found = _core.panel_swaps(one.core, other.core, turned, place)
    rows = columns_of(found["rows"])
    return make_table(
        {
            "voter": one.workers[rows["worker"]],
            "pairs": rows["n"],
            **_metric_columns("consistent", found["consistent"]),
            "to_first": rows["first"],
            "to_second": rows["second"],
            "p": rows["p"],
        },
        "voter",
        one.pandas,
    )
