"""People and models as voters."""

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
from ._results import SoftLabels
from ._running import ProgressLike
from ._ids import Ids
from ._votes import Votes, as_votes


def people_among(votes: Votes, models: Iterable[Any]) -> np.ndarray:
    """Who of the voters is a person."""
    workers = Ids(votes.workers.tolist())
    person = np.ones(votes.core.n_workers, dtype=np.uint8)
    for model in models:
        at = workers.find(model)
        if at < 0:
            raise _core.DataError(f"model {model!r} cast no vote")
        person[at] = 0
    return person


class Panel:
    """What panel() found.

    ``models``: a table with a row per model: agreement with people, winning rate and advantage of the
    alternative-annotator test, cluster. ``pairs``: how far errors of two models go together. ``rates``: how common each
    class is among people's answers, by model (model None: by the majority of the models). ``items``: where to ask
    people next. ``labels``: SoftLabels calibrated to people. ``effective``: Metric, independent judges that the models
    are worth.
    """

    def __init__(self, found: dict[str, Any], votes: Votes) -> None:
        pandas = votes.pandas
        self.correlation: Metric = metric(found["correlation"])
        self.effective: Metric = metric(found["effective"])
        self.effective_by_spectrum: Metric = metric(found["spectrum"])
        self.loss_rates, self.loss_shares, self.loss_calibrated = (
            metric(found[k]) for k in ("loss_rates", "loss_shares", "loss_calibrated")
        )
        for name in ("n_clusters", "n_people", "items_with_people", "exponent", "strength", "spent"):
            setattr(self, name, found[name])
        judges = columns_of(found["judges"])
        names = votes.workers[judges["worker"]]
        columns: dict[str, Any] = {"model": names, "votes": judges["votes"], "shared": judges["shared"]}
        columns.update(_metric_columns("agreement", found["agreement"]))
        columns.update(_metric_columns("error", found["error"]))
        columns.update({"people": judges["people"], "won": judges["won"], "winning_rate": judges["winning_rate"]})
        columns["passed"] = judges["passed"].astype(bool)
        columns.update(_metric_columns("advantage", found["advantage"]))
        self.models: Any = make_table({**columns, "cluster": judges["cluster"] + 1}, "model", pandas)
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
        rates = columns_of(found["rates"])
        with_all = np.array([*names.tolist(), None], dtype=object)
        columns = {"model": with_all[rates["judge"]], "label": votes._labels(rates["class"])}
        columns.update({c: rates[c] for c in ("n_people", "n_alone", "raw", "sensitivity", "specificity")})
        for name in ("people", "rogan_gladen", "powered"):
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
        value = "None" if self.effective.value is None else f"{self.effective.value:.3g}"
        return f"Panel({len(self.models['votes'])} models, effective={value})"

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
    cluster: float = 0.5,
    half_width: float = 0.05,
    budget: int = 0,
    resamples: int = 1000,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> Panel:
    """People and models as voters: what judges are worth, and what to ask people.

    Parameters
    ----------
    votes : Votes or a table
        Votes of people and of models, as aggregators take them.
    models : list of worker ids
        Which of the workers are models; all others are people.
    epsilon, fdr, min_people, min_items
        Of the alternative-annotator test: what a person costs more than a model (.1 for crowds, .15 for skilled people,
        .2 for experts), the rate of false discoveries, votes of people that an item needs, items that a person needs.
    ordinal : bool
        The test goes by differences of the classes, which are numbers.
    cluster : float
        Models whose errors correlate so much on average are one cluster.
    half_width : float
        Of the interval of a rate, for how many items people must label.
    budget : int
        Votes of people to place.

    >>> votes = [(t, w, (t * 7 + (w == "m") * (t % 5 == 0)) % 2) for t in range(40) for w in ("a", "b", "c", "m")]
    >>> found = panel(votes, ["m"], epsilon=0.3, resamples=0)
    >>> found.models["people"].tolist(), found.models["error"].round(2).tolist()
    ([3], [0.2])
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
            cluster=real("cluster", cluster, -1, 1),
            precision=real("half_width", half_width, 1e-6, 1 - 1e-6),
            budget=checked_count("budget", budget),
            resamples=checked_count("resamples", resamples),
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
