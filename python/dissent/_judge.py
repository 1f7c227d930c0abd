"""Certificates of LLM judges, later votes against a certificate, samples of items to label."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import _core
from ._checks import listed, real
from ._estimator import seed_of
from ._figures import Metric, make_table, metric, shown_with
from ._groups import _metric_columns
from ._ids import Ids
from ._measuring import Watching, checked_count, columns_of
from ._panel import people_among
from ._results import Framed
from ._running import ProgressLike
from ._votes import Votes

COEFFICIENTS = ("agreement", "kappa", "alpha", "ac1")
KINDS = ("agreement", "share", "bias")


def _votes(votes: Any, n_jobs: int | None) -> Votes:
    """Votes as they are; of a table, a judge may have several votes on an item."""
    return votes if isinstance(votes, Votes) else Votes(votes, duplicates="all", n_jobs=n_jobs)


def _person(votes: Votes, judge: Any, people: Iterable[Any] | None) -> np.ndarray:
    if people is None:
        return people_among(votes, [judge])
    mask = 1 - people_among(votes, listed("people", people, "worker ids"))
    return mask.astype(np.uint8)


def _name(votes: Votes, judge: Any) -> str:
    ids = Ids(votes.workers.tolist())
    if ids.find(judge) < 0:
        raise _core.DataError(f"judge {judge!r} cast no vote")
    return str(judge)


def _per_item(name: str, votes: Votes, values: Mapping[Any, float], missing: float) -> np.ndarray:
    out = np.full(votes.core.n_items, missing)
    ids = Ids(votes.tasks.tolist())
    for task, value in values.items():
        at = ids.find(task)
        if at >= 0:
            out[at] = float(value)
    if not np.isfinite(out).any():
        raise _core.DataError(f"{name}: none of its tasks has votes")
    return out


class Drift(Framed):
    """Later votes compared with a certificate.

    ``rows``: a table of the figures. The first row is agreement, then come the share and the bias of each class. A row
    has the certified value, the value now, and an anytime-valid p-value. The interval of the value now holds at every
    look. ``since`` is the task at which the change most likely began. ``drifted``: at least one figure has changed.
    """

    _frame = "rows"

    def __init__(self, found: dict[str, Any], votes: Votes) -> None:
        rows = columns_of(found["rows"])
        n = len(found["classes"])
        kinds = [KINDS[0]] + [KINDS[1]] * n + [KINDS[2]] * n
        labels = [None] + [found["classes"][k] for k in rows["class"][1:]]
        since = [votes.tasks[i] if d else None for i, d in zip(rows["since"], rows["drifted"])]
        self.drifted: bool = found["drifted"]
        self.n_items: int = found["n_items"]
        self.n_shared: int = found["n_shared"]
        self.rows: Any = make_table(
            {
                "figure": np.array(kinds, dtype=object),
                "label": np.array(labels, dtype=object),
                "items": rows["n"],
                "certified": rows["certified"],
                **_metric_columns("now", found["now"]),
                "p": rows["p"],
                "drifted": rows["drifted"].astype(bool),
                "since": np.array(since, dtype=object),
            },
            None,
            votes.pandas,
        )

    def __repr__(self) -> str:
        return f"Drift({'drifted' if self.drifted else 'no change found'}, {self.n_items} items, {self.n_shared} with people)"

    def _repr_html_(self) -> str:
        return shown_with(self, self.rows)


class Judge(Framed):
    """An LLM judge (or any model) compared with people: the result of Judge.certify().

    ``coefficients``: a table of agreement, kappa, alpha and ac1. Its columns are of the judge and a person, of two
    people, their difference, and of a judge that always gives the most frequent answer. ``rates``: bias and
    corrected share of each class. ``contrasts``: bias by a property of the items. ``consistency``: Metric, equal
    answers among repeated votes of the judge. ``passed``: the alternative-annotator test. ``requirements``: a table
    with the outcome of each requirement. ``certified``: all requirements are met, or None without requirements.
    ``unknown``: why people's votes say nothing about a judge, or None.
    """

    _frame = "coefficients"

    def __init__(self, found: dict[str, Any], votes: Votes, properties: tuple[str, ...]) -> None:
        pandas = votes.pandas
        self.unknown: str | None = found["unknown"]
        self.n_people: int = found["n_people"]
        self.n_votes: int = found["n_votes"]
        self.n_shared: int = found["n_shared"]
        self.n_two: int = found["n_two"]
        self.n_repeated: int = found["n_repeated"]
        self.few_people: bool = found["few_people"]
        self.above_chance: bool = found["above_chance"]
        self.p_chance: float = found["p_chance"]
        self.people_compared: int = found["people_compared"]
        self.people_represented: int = found["people_represented"]
        self.passed: bool = found["passed"]
        self.name: Any = votes.workers[found["worker"]]
        self.consistency: Metric = metric(found["consistency"])
        columns: dict[str, Any] = {"coefficient": np.array(COEFFICIENTS, dtype=object)}
        for part in ("judge", "people", "difference"):
            columns.update(_metric_columns(part, found[part]))
        columns["constant"] = columns_of(found["coefficients"])["constant"]
        self.coefficients: Any = make_table(columns, "coefficient", pandas)
        rates = columns_of(found["rates"])
        columns = {"label": votes._labels(rates["class"]), "judge": rates["raw"]}
        for name in ("bias", "powered", "rogan_gladen"):
            columns.update(_metric_columns(name, found[name]))
        self.rates: Any = make_table(columns, "label", pandas)
        rows = columns_of(found["contrasts"])
        self.contrasts: Any = make_table(
            {
                "property": np.array([properties[i] for i in rows["covariate"]], dtype=object),
                "label": votes._labels(rows["class"]),
                "above": rows["split"],
                "items_low": rows["items_low"],
                "items_high": rows["items_high"],
                **_metric_columns("difference", found["contrast"]),
                "p": rows["p"],
            },
            None,
            pandas,
        )
        required = found["requirements"]
        self.certified: bool | None = all(r["outcome"] == "met" for r in required) if required else None
        self.requirements: Any = make_table(
            {
                "requirement": np.array([r["name"].replace("-", "_") for r in required], dtype=object),
                "bound": np.array([r["bound"] for r in required], dtype=float),
                "outcome": np.array([r["outcome"] for r in required], dtype=object),
                **_metric_columns("value", [r["figure"] for r in required]),
                "items_needed": np.array([r["items_needed"] for r in required], dtype=float),
            },
            "requirement",
            pandas,
        )

    def __repr__(self) -> str:
        state = "" if self.certified is None else ", certified" if self.certified else ", not certified"
        return f"Judge({self.name!r}, {self.n_shared} items with people{state})"

    def _repr_html_(self) -> str:
        return shown_with(self, self.coefficients, self.rates)

    @classmethod
    def certify(
        cls,
        votes: Any,
        judge: Any,
        *,
        people: Iterable[Any] | None = None,
        weights: Mapping[Any, float] | None = None,
        covariates: Mapping[str, Mapping[Any, float]] | None = None,
        min_kappa: float | None = None,
        min_alpha: float | None = None,
        min_ac1: float | None = None,
        min_agreement: float | None = None,
        min_difference: float | None = None,
        min_consistency: float | None = None,
        max_bias: float | None = None,
        alt_test: bool = False,
        epsilon: float = 0.1,
        certificate: str | os.PathLike[str] | None = None,
        page: str | os.PathLike[str] | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        progress: ProgressLike = None,
    ) -> Judge:
        """Compare a judge with people, and write a certificate.

        Parameters
        ----------
        votes : Votes or a table
            Votes of people and of the judge. Several votes of the judge on an item measure its consistency; Votes need
            duplicates="all" for them.
        judge : worker id
            The judge.
        people : list of worker ids, optional
            People; all workers but the judge without it.
        weights : dict of task: weight, optional
            Only these tasks count, with these weights, e.g. those of Judge.sample().
        covariates : dict of name: dict of task: value, optional
            Properties of tasks, e.g. {"length": {...}}: tests whether the bias depends on them.
        min_kappa, min_alpha, min_ac1, min_agreement, min_difference, min_consistency, max_bias : float, optional
            Requirements: met if the whole 95 % interval meets the bound.
        alt_test : bool
            Require that the alternative-annotator test is passed.
        epsilon : float
            Alternative-annotator test: how much more a person costs than a judge.
        certificate, page : path, optional
            Write the certificate as JSON, and as an HTML page.

        >>> votes = [(t, w, (t * 7 + (w == "m") * (t % 9 == 0)) % 2) for t in range(60) for w in ("a", "b", "c", "m")]
        >>> found = Judge.certify(votes, "m", min_kappa=0.5)
        >>> found.certified, round(float(found.coefficients["judge"][1]), 3)
        (True, 0.767)
        """
        table = _votes(votes, n_jobs)
        bounds = {
            "min-kappa": min_kappa,
            "min-alpha": min_alpha,
            "min-ac1": min_ac1,
            "min-agreement": min_agreement,
            "min-difference": min_difference,
            "min-consistency": min_consistency,
            "max-bias": max_bias,
            "alt-test": 0.5 if alt_test else None,
        }
        required = {k: real(k.replace("-", "_"), x, -2, 2) for k, x in bounds.items() if x is not None}
        properties = tuple(covariates or ())
        values = [_per_item(f"covariates[{p!r}]", table, (covariates or {})[p], np.nan) for p in properties]
        with Watching(n_jobs, progress) as watching:
            found = _core.judge_certify(
                table.core,
                _person(table, judge, people),
                _name(table, judge),
                None if weights is None else _per_item("weights", table, weights, 0.0),
                properties,
                np.ascontiguousarray(values) if values else None,
                real("epsilon", epsilon),
                required,
                None if certificate is None else os.fspath(certificate),
                None if page is None else os.fspath(page),
                seed_of(random_state),
                **watching,
            )
        return cls(found, table, properties)

    @staticmethod
    def check(
        certificate: str | os.PathLike[str],
        votes: Any,
        *,
        judge: Any = None,
        people: Iterable[Any] | None = None,
        level: float = 0.05,
    ) -> Drift:
        """Compare later votes with a certificate; tasks count in the order of their first vote.

        Parameters
        ----------
        certificate : path
            As written by Judge.certify().
        votes : Votes or a table
            Later votes of the judge, and of people if available.
        judge : worker id, optional
            The judge, if it has another id than in the certificate. Needed without `people`.
        people : list of worker ids, optional
            People; all workers but the judge without it.
        level : float
            Probability of a false alarm over any number of checks.
        """
        if judge is None and people is None:
            raise _core.OptionError("name the judge, or the people")
        table = _votes(votes, None)
        name = None if judge is None else _name(table, judge)
        found = _core.judge_check(os.fspath(certificate), table.core, _person(table, judge, people), name, real("level", level, 0, 1))
        return Drift(found, table)

    @staticmethod
    def sample(
        votes: Any,
        judge: Any,
        n: int,
        *,
        people: Iterable[Any] | None = None,
        score: Mapping[Any, float] | None = None,
        random_state: Any = 0,
    ) -> Any:
        """Choose tasks that people should label next: a table of task, answer, probability and weight.

        Parameters
        ----------
        votes : Votes or a table
            Votes of the judge, and of people if available.
        judge : worker id
            The judge.
        n : int
            Number of tasks to choose.
        people : list of worker ids, optional
            People; all workers but the judge without it.
        score : dict of task: float, optional
            Confidence of the judge.

        >>> votes = [(t, "m", t % 2) for t in range(50)] + [(t, "a", t % 2) for t in range(20)]
        >>> rows = Judge.sample(votes, "m", 10)
        >>> len(rows["weight"]), float(sum(rows["weight"]))
        (10, 30.0)
        """
        table = _votes(votes, None)
        rows = columns_of(
            _core.judge_sample(
                table.core,
                _person(table, judge, people),
                _name(table, judge),
                None if score is None else _per_item("score", table, score, np.nan),
                checked_count("n", n),
                seed_of(random_state),
            )
        )
        columns = {"task": table.tasks[rows["item"]], "answer": table._labels(rows["class"])}
        return make_table({**columns, "probability": rows["probability"], "weight": rows["weight"]}, "task", table.pandas)
