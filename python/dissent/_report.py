"""One page of what votes, labels and models say."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from . import _core
from ._estimator import seed_of
from ._groups import as_groups
from ._measuring import Watching, checked_count, one_or_named
from ._panel import people_among
from ._running import ProgressLike
from ._ids import Ids, id_texts
from ._tables import Aligned, gold_codes, label_table
from ._texts import item_texts
from ._votes import Votes, as_votes


def report(
    path: str | os.PathLike[str],
    votes: Any = None,
    labels: Any = None,
    predictions: Any = None,
    *,
    gold: Any = None,
    human: Any = None,
    curves: Any = None,
    texts: Any = None,
    groups: Any = None,
    models: Iterable[Any] | None = None,
    title: str | None = None,
    ordinal: bool = False,
    resamples: int = 1000,
    lenient: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> None:
    """Writes one HTML file about votes, labels and models; it works offline.

    Parameters
    ----------
    path : file
        Output file; it is complete or absent.
    votes : Votes or a table, optional
        The votes; workers are judged as ``review`` does.
    labels : labels or a dict of them by name, optional
        Views of the labels: fitted aggregators (whose iterations are shown too), SoftLabels, DataFrames. Of the tasks
        and classes of the votes, where there are votes.
    predictions : labels or a dict of them by name, optional
        Predictions of models. gold and human then belong to their items; otherwise they belong to those of the votes.
    curves : a SoftClassifier or a dict of them by name, optional
        How they were trained.
    texts : texts by task, optional
        Texts of the items, shown with their ids: a dict or Series by task, a table with columns task and text, or a
        list in the order of the tasks.
    groups : Groups or a mapping, optional
        Groups of the people who voted, in the form of group_agreement(): a section on their agreement.
    models : list of worker ids, optional
        Workers that are models, in the form of panel(): a section that compares them with people.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f'path: where the page goes, not {type(path).__name__}: report("report.html", votes)')
    if votes is None and labels is not None:
        votes = next((v.votes_ for v in one_or_named(labels, "labels").values() if hasattr(v, "votes_")), None)
    table = None if votes is None else as_votes(votes, n_jobs)
    part = None
    if table is not None or labels is not None:
        part = _label_part(table, labels, gold if predictions is None else None, lenient, texts)
    elif texts is not None:
        raise _core.OptionError("texts stand beside the items of votes or labels; give votes or labels")
    tests = None
    if predictions is not None:
        named = {k: label_table(v, k) for k, v in one_or_named(predictions, "model").items()}
        if not named:
            raise _core.OptionError("no predictions")
        tables = list(named.values()) + ([label_table(human, "human")] if human is not None else [])
        aligned = Aligned(tables, lenient)
        tests = (
            len(aligned.tasks.ids),
            id_texts(aligned.classes.ids),
            None if gold is None else gold_codes(gold, aligned.tasks, aligned.classes, lenient=lenient),
            aligned.p[-1] if human is not None else None,
            tuple(zip(named, aligned.p)),
        )
    runs = tuple((name, c.model_) for name, c in one_or_named(curves, "model").items()) if curves is not None else ()
    for name, given in (("groups", groups), ("models", models)):
        if given is not None and table is None:
            raise _core.OptionError(f"{name} is about those who voted; give votes")
    by_group = None
    if groups is not None and table is not None:
        who = as_groups(groups)
        values, how = who.of(table)
        by_group = table.core, (values, *how.values()), who.column or "group"
    panel = None if models is None or table is None else (table.core, people_among(table, models))
    with Watching(n_jobs, progress) as watching:
        _core.report(
            os.fspath(path),
            part,
            tests,
            runs,
            title=title,
            seed=seed_of(random_state),
            resamples=checked_count("resamples", resamples),
            ordinal=ordinal or (table is not None and table.ordered),
            groups=by_group,
            panel=panel,
            **watching,
        )


def _label_part(votes: Votes | None, labels: Any, gold: Any, lenient: bool, item_text: Any) -> tuple[Any, ...]:
    named = {} if labels is None else one_or_named(labels, "labels")
    tables = [label_table(v, k) for k, v in named.items()]
    if votes is not None:
        tasks, classes = Ids(votes.tasks.tolist()), Ids(votes.classes.tolist())
        numbers = Aligned(tables, False, tasks, classes).p if tables else []
        texts = votes.core.names("task"), votes.core.names("label")
    else:
        aligned = Aligned(tables, lenient)
        tasks, classes, numbers = aligned.tasks, aligned.classes, aligned.p
        texts = id_texts(tasks.ids), id_texts(classes.ids)
    views = []
    for (name, given), p in zip(named.items(), numbers):
        fit = None
        if votes is not None and hasattr(given, "votes_") and _same_votes(votes, given.votes_):
            stored_fit = given._fitted.get("fit")
            fit = stored_fit if isinstance(stored_fit, _core.Fit) else None  # one that was pickled has no iterations to draw
        views.append((name, fit, p))
    codes = None if gold is None else gold_codes(gold, tasks, classes, lenient=lenient or votes is not None)
    return (
        None if votes is None else votes.core,
        *texts,
        codes,
        tuple(views),
        None if item_text is None else item_texts(item_text, tasks),
    )


def _same_votes(a: Votes, b: Votes) -> bool:
    """Whether a fit to one is a fit to the other."""
    if a is b:
        return True
    sizes = [(v.core.n_items, v.core.n_classes, v.core.n_votes) for v in (a, b)]
    return sizes[0] == sizes[1] and all(a.core.names(role) == b.core.names(role) for role in ("task", "label"))
