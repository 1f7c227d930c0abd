"""Figures with matplotlib, in the look of the report: for notebooks and papers.

Each function draws into `ax`, or into a new figure, and returns the Axes. Import it as ``import dissent.plot``; it needs
matplotlib (``pip install matplotlib``), which ``import dissent`` does not load.

>>> import matplotlib; matplotlib.use("Agg")
>>> import dissent, dissent.plot
>>> people = dissent.SoftLabels(["a", "b"], ["no", "yes"], [[0.25, 0.75], [0.9, 0.1]])
>>> ax = dissent.plot.disagreement(people)
>>> ax.get_xlabel()
'tasks by label, each from certain to uncertain'
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

try:
    import matplotlib.pyplot as plt
    from matplotlib import rc_context
    from matplotlib.colors import LinearSegmentedColormap
except ImportError as error:
    raise ImportError("dissent.plot needs matplotlib; install it with: pip install matplotlib") from error

from . import _core
from ._evaluate import Evaluation, evaluate
from ._agreement import Agreement, agreement as measure_agreement
from ._review import Review, review
from ._tables import label_table
from ._votes import Votes, as_votes

__all__ = ["agreement", "annotators", "confusion", "disagreement", "learning_curves", "reliability", "style"]

INK, SOFT, LINE, GRID, ACCENT = "#1a1d21", "#56606b", "#e1e5ea", "#eceff2", "#0b63a5"
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c8c8c", "#3b3b3b")
HEAT = LinearSegmentedColormap.from_list("dissent", ["#f3f6fa", "#aecbe6", "#4f8abf", "#0b3f73"])
BALANCE = LinearSegmentedColormap.from_list("dissent_balance", ["#b0532a", "#f2d9c8", "#f7f7f7", "#aecbe6", "#0b3f73"])

_STYLE = {
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.prop_cycle": plt.cycler(color=COLORS),
    "grid.color": GRID,
    "font.family": "sans-serif",
    "font.size": 9.5,
    "legend.frameon": False,
    "text.color": INK,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "figure.dpi": 110,
    "savefig.dpi": 300,
    "savefig.bbox": "tight",
    "pdf.fonttype": 42,
}


@contextmanager
def style() -> Iterator[None]:
    """The look of these figures, for your own ones: ``with dissent.plot.style(): ...``."""
    with rc_context(_STYLE):
        yield


def _axes(ax: Any, width: float, height: float) -> Any:
    if ax is not None:
        return ax
    with style():
        return plt.subplots(figsize=(width, height), layout="constrained")[1]


PAGE_WIDTH = 7.0  # inches: the widest figure, so that it fits a page without being scaled down


def _label_width(names: Sequence[Any]) -> float:
    """Inches that the names of rows take."""
    return min(2.4, 0.075 * max((len(str(name)) for name in names), default=0))


def _cell(wanted: float, n: int, names: Sequence[Any], rest: float) -> float:
    """Width of a cell in inches, at most `wanted`, so that n of them fit the page next to the names of the rows."""
    return min(wanted, (PAGE_WIDTH - rest - _label_width(names)) / max(n, 1))


def _finish(ax: Any, title: str | None, xlabel: str, ylabel: str, width: float | None = None) -> Any:
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    if title:
        # of a title in bold 11 point letters, some 11 fit an inch
        ax.set_title(textwrap.fill(title, max(12, int(11 * width))) if width else title, loc="left", fontweight="bold", fontsize=11)
    return ax


def _named(things: Any, kinds: tuple[type, ...], name: str) -> dict[str, Any]:
    """One thing or several by name."""
    return {str(k): v for k, v in things.items()} if isinstance(things, Mapping) and not isinstance(things, kinds) else {name: things}


def _column(table: Any, name: str) -> np.ndarray:
    """A column of a Table or a DataFrame, also if it is the index."""
    return np.asarray(table.index if name not in table.columns and hasattr(table, "index") else table[name])


def reliability(pred: Any, gold: Any = None, *, n_bins: int = 10, title: str | None = "Reliability", ax: Any = None) -> Any:
    """Reliability diagram: accuracy of predictions by their confidence.

    Points below the diagonal are overconfident. The area of a point grows with its number of tasks, and its bar is a 95 %
    Wilson interval.

    Parameters
    ----------
    pred : labels, or a dict of them by name
        Predicted distributions, as evaluate() takes them, or results of evaluate().
    gold : labels by task
        Gold labels; not needed for results of evaluate().
    n_bins : int
        Number of bins of confidence.
    """
    ax = _axes(ax, 4.2, 4.2)
    ax.plot([0, 1], [0, 1], color=SOFT, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    several = _named(pred, (), "pred") if isinstance(pred, Mapping) and not _is_labels(pred) else {"": pred}
    for k, (name, one) in enumerate(several.items()):
        found = one if isinstance(one, Evaluation) else evaluate(one, gold, metrics=["ece"], resamples=0, n_bins=n_bins)
        if found.bins is None:
            raise _core.DataError("reliability: no gold labels; give gold=")
        n = _column(found.bins, "n").astype(float)
        used = n > 0
        x, y, n = _column(found.bins, "confidence")[used], _column(found.bins, "accuracy")[used], n[used]
        low, high = _wilson(y, n)
        color = COLORS[k % len(COLORS)]
        ax.errorbar(x, y, yerr=[y - low, high - y], fmt="none", ecolor=color, elinewidth=1, alpha=0.6, zorder=2)
        ece = f"(ECE {found.ece:.3f})" if found.ece is not None else ""
        ax.plot(x, y, color=color, linewidth=1.2, zorder=3)
        ax.scatter(x, y, s=12 + 120 * n / n.max(), color=color, edgecolor="white", zorder=4, label=f"{name} {ece}".strip() if name else ece.strip("()"))
    ax.set(xlim=(0, 1.02), ylim=(0, 1.02))
    ax.set_aspect("equal")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), frameon=False)
    return _finish(ax, title, "confidence (probability of the predicted class)", "accuracy")


def _is_labels(pred: Mapping[Any, Any]) -> bool:
    """Whether a dict is one table of labels rather than several by name."""
    first = next(iter(pred.values()), None)
    return "task" in pred or (isinstance(first, Mapping) and not hasattr(first, "p"))


def _wilson(share: np.ndarray, n: np.ndarray, z: float = 1.959964) -> tuple[np.ndarray, np.ndarray]:
    """95 % intervals of shares (Wilson 1927)."""
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return np.minimum(middle - half, share), np.maximum(middle + half, share)


def _heat(ax: Any, values: np.ndarray, rows: Sequence[Any], columns: Sequence[Any], texts: Any, cmap: Any, low: float, high: float, cell: float = 0.62) -> None:
    image = ax.imshow(np.ma.masked_invalid(values), cmap=cmap, vmin=low, vmax=high)
    ax.grid(False)
    long = max((len(str(c)) for c in columns), default=0) > 4
    ax.set_xticks(range(len(columns)), [str(c) for c in columns], rotation=45 if long else 0, ha="right" if long else "center")
    ax.set_yticks(range(len(rows)), [str(r) for r in rows])
    ax.tick_params(length=0, labelsize=min(9.5, max(5.5, 36 * cell)))
    for side in ax.spines.values():
        side.set_visible(False)
    if texts is None:
        return
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            if np.isfinite(values[i, j]):
                r, g, b, _ = image.cmap(image.norm(values[i, j]))
                dark = 0.299 * r + 0.587 * g + 0.114 * b < 0.55
                ax.text(j, i, texts[i][j], ha="center", va="center", color="white" if dark else INK, fontsize=min(8.5, max(5, 18 * cell)))


def confusion(result: Any, gold: Any = None, *, worker: Any = None, title: str | None = None, ax: Any = None) -> Any:
    """Heat map of a confusion matrix: the share of each true class (row) that gets each label (column).

    Parameters
    ----------
    result : fitted method, labels, or a result of evaluate()
        With `worker`, a fitted method with errors_. Otherwise predictions to compare with gold labels.
    gold : labels by task
        Gold labels, for predictions.
    worker : id, optional
        Whose matrix to draw; None with a fitted method and no gold: the mean over annotators, weighted by votes.
    """
    if gold is None and not isinstance(result, Evaluation):
        votes, table = result.votes_, result._confusion() if hasattr(result, "_confusion") else None
        if table is None:
            raise _core.OptionError(f"confusion: {type(result).__name__} estimates no matrices; give gold=")
        classes, (_, by, _) = votes.classes.tolist(), votes.rows()
        if worker is None:
            shares = np.average(table, axis=0, weights=np.bincount(by, minlength=votes.core.n_workers)).T
            counts, name = None, "Mean of the annotators"
        else:
            if worker not in votes.workers.tolist():
                raise _core.DataError(f"confusion: no annotator {worker!r} among the votes")
            at = votes.workers.tolist().index(worker)
            shares, counts, name = table[at].T, None, f"Annotator {worker} ({int((by == at).sum())} votes)"
        ylabel = "estimated true class"
    else:
        found = result if isinstance(result, Evaluation) else evaluate(result, gold, metrics=["accuracy"], resamples=0)
        if found.confusion is None:
            raise _core.DataError("confusion: no gold labels; give gold=")
        counts, classes = np.asarray(found.confusion, dtype=np.float64), found.classes.tolist()
        total = counts.sum(axis=1, keepdims=True)
        shares = np.divide(counts, total, out=np.full_like(counts, np.nan), where=total > 0)
        name, ylabel = "Predictions and gold labels", "gold label"
    k = len(classes)
    cell = _cell(0.62, k, classes, 0.9)
    ax = _axes(ax, 0.9 + _label_width(classes) + cell * k, 1.1 + 0.7 * _label_width(classes) + 0.94 * cell * k)
    texts = None
    if k <= 15:
        texts = [[f"{shares[i, j]:.2f}" + (f"\n{counts[i, j]:.0f}" if counts is not None else "") for j in range(k)] for i in range(k)]
    _heat(ax, shares, classes, classes, texts, HEAT, 0, 1, cell)
    return _finish(ax, name if title is None else title, "label given" if counts is None else "predicted label", ylabel, cell * k)


def annotators(result: Any, *, top: int = 40, title: str | None = "Annotators", ax: Any = None) -> Any:
    """Forest plot: the estimated accuracy of each annotator with its 95 % interval, and that of the others on the same
    tasks.

    Parameters
    ----------
    result : Review, Votes or a table
        A result of review(), or votes to review.
    top : int
        Number of annotators to draw: those with the lowest accuracy.
    """
    found = result if isinstance(result, Review) else review(result)
    table = found.workers
    if table is None or not len(_column(table, "quality")):
        raise _core.DataError("annotators: the votes have no annotator ids")
    quality = _column(table, "quality").astype(float)
    order = [i for i in np.argsort(quality, kind="stable") if np.isfinite(quality[i])][:top]
    if not order:
        raise _core.DataError("annotators: no accuracy can be estimated, because the votes agree no more than chance or no task has two votes")
    names, causes = _column(table, "worker"), _column(table, "cause")
    low, high, peers, votes = (_column(table, c).astype(float)[order] for c in ("low", "high", "peers", "votes"))
    x, y = quality[order], np.arange(len(order))
    own = ax is None
    ax = _axes(ax, 5.6, 1.5 + (0.24 if len(order) <= 20 else 0.18) * len(order))
    flagged = np.array([str(causes[i]) not in ("", "None", "fine", "nan") for i in order])
    for chosen, color, label in ((~flagged, COLORS[0], "estimate, 95 %"), (flagged, COLORS[5], "needs attention")):
        if chosen.any():
            bars = [np.maximum(x - low, 0)[chosen], np.maximum(high - x, 0)[chosen]]
            ax.errorbar(x[chosen], y[chosen], xerr=bars, fmt="o", color=color, markersize=4.5, elinewidth=1.3, label=label)
    ax.scatter(peers, y, marker="|", s=70, color=SOFT, zorder=3, label="others on the same tasks")
    ax.set_yticks(y, [f"{names[i]} ({int(n)})" for i, n in zip(order, votes)], fontsize=9 if len(order) <= 20 else 8)
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    if own:
        ax.figure.legend(loc="outside lower center", ncols=3, frameon=False, handletextpad=0.4, columnspacing=1.2)
    else:
        ax.legend(frameon=False)
    return _finish(ax, title, "estimated accuracy", "annotator (votes)")


def disagreement(labels: Any, *, top: int | None = None, title: str | None = "Disagreement", ax: Any = None) -> Any:
    """Map of disagreement: the distribution of every task, in blocks of the most probable class, each sorted from certain to
    uncertain. The width of a block is the number of its tasks, and the area above its own color is the disagreement.

    Parameters
    ----------
    labels : labels
        SoftLabels, a fitted method, or a table.
    top : int, optional
        Only the most uncertain tasks.
    """
    table = label_table(labels)
    p = table.p
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(p > 0, p * np.log(p), 0.0).sum(axis=1)
    if top:
        uncertain = np.sort(np.argsort(-np.round(entropy, 6), kind="stable")[:top])
        p, entropy = p[uncertain], entropy[uncertain]
    label = np.argmax(p, axis=1)
    p = p[np.lexsort((-p.max(axis=1, initial=0), np.round(entropy, 6), label))]
    # from the most probable class of a task upwards, so that the lower edge shows how certain it is
    ax = _axes(ax, 6.4, 3.2)
    classes = list(range(p.shape[1])) if table.classes is None else table.classes.ids
    x = np.arange(len(p))
    rank = np.argsort(-p, axis=1, kind="stable")
    height = np.take_along_axis(p, rank, axis=1)
    base = np.cumsum(height, axis=1) - height
    for k, c in enumerate(classes):
        at = rank == k
        rows = at.any(axis=1)
        ax.bar(x[rows], height[at], bottom=base[at], width=1.0, color=COLORS[k % len(COLORS)], linewidth=0, label=str(c))
    for edge in np.flatnonzero(np.diff(np.sort(label))):
        ax.axvline(edge + 0.5, color="white", linewidth=1.5)
    ax.set(xlim=(-0.5, len(p) - 0.5), ylim=(0, 1))
    ax.grid(False)
    if len(classes) <= 12:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), title="class", alignment="left", frameon=False)
    return _finish(ax, title, "tasks by label, each from certain to uncertain", "probability")


def agreement(result: Any, *, measure: str = "cohen", top: int = 30, title: str | None = None, ax: Any = None) -> Any:
    """Matrix of the agreement between pairs of annotators; a pale row marks an annotator who disagrees with everyone.

    Parameters
    ----------
    result : Agreement, Votes or a table
        A result of agreement(), or votes.
    measure : {"cohen", "scott", "agreement", "cohen_linear", "cohen_quadratic"}
        Coefficient of each pair. Pairs without enough common tasks are empty. Of votes, so are pairs of annotators who both
        always give one label: their coefficient is not defined.
    top : int
        Number of annotators: those with the most common tasks.
    """
    votes = None if isinstance(result, Agreement) else as_votes(result)
    found = result if votes is None else measure_agreement(votes, resamples=0)
    pairs = found.pairs
    if pairs is None:
        raise _core.DataError("agreement: no pairs of annotators; pass votes with annotator ids, or pairs=True")
    if measure not in pairs.columns:
        raise _core.OptionError(f"measure={measure!r}: choose one of {[c for c in pairs.columns if c not in 'abn']}")
    a, b, n, value = (_column(pairs, c) for c in ("a", "b", "n", measure))
    constant = set() if votes is None or measure == "agreement" else _constant(votes)
    common: dict[Any, int] = {}
    for one, other, count in zip(a.tolist(), b.tolist(), n.tolist()):
        common[one] = common.get(one, 0) + count
        common[other] = common.get(other, 0) + count
    chosen = sorted(common, key=lambda w: -common[w])[:top]
    place = {w: i for i, w in enumerate(chosen)}
    matrix = np.full((len(chosen), len(chosen)), np.nan)
    for one, other, v in zip(a.tolist(), b.tolist(), value.tolist()):
        if one in place and other in place and v is not None and not (one in constant and other in constant):
            matrix[place[one], place[other]] = matrix[place[other], place[one]] = v
    mean = np.array([np.nanmean(row) if np.isfinite(row).any() else -1 for row in matrix])
    order = np.argsort(-mean, kind="stable")
    matrix, names = matrix[np.ix_(order, order)], [chosen[i] for i in order]
    cell, own = _cell(0.4 if len(names) <= 14 else 0.2, len(names), names, 1.6), ax is None
    size = 0.6 + cell * len(names)
    ax = _axes(ax, size + _label_width(names) + 1.0, size + 0.7 * _label_width(names))
    texts = [[f"{v:.2f}" if np.isfinite(v) else "" for v in row] for row in matrix] if len(names) <= 14 else None
    share = measure == "agreement"
    _heat(ax, matrix, names, names, texts, HEAT if share else BALANCE, 0 if share else -1, 1, cell)
    if own:
        bar = ax.figure.colorbar(ax.images[0], ax=ax, shrink=0.5, aspect=24, pad=0.02)
        bar.outline.set_visible(False)
        bar.ax.tick_params(length=0)
    name = {"cohen": "Cohen's kappa", "scott": "Scott's pi", "agreement": "Share of equal votes"}.get(measure, measure)
    return _finish(ax, f"{name} of annotators" if title is None else title, "", "", cell * len(names))


def _constant(votes: Votes) -> set[Any]:
    """Annotators who give the same label to all tasks."""
    _, worker, label = votes.rows()
    n, k = votes.core.n_workers, votes.core.n_classes
    used = np.bincount(np.unique(worker * k + label) // k, minlength=n)
    return set(votes.workers[used == 1].tolist())


def learning_curves(models: Any, *, metric: str = "loss", title: str | None = "Learning curves", ax: Any = None) -> Any:
    """Loss or development metric of each epoch.

    Parameters
    ----------
    models : SoftClassifier, or a dict of them by name
        Fitted models, or histories (lists of dicts).
    metric : str
        "loss", "dev" (the metric that the best epoch is kept by) or "dev_cross_entropy". A ring marks the epoch that was kept.
    """
    ax = _axes(ax, 5.2, 3.4)
    named = {str(k): v for k, v in models.items()} if isinstance(models, Mapping) else {"": models}
    ringed = False
    for k, (name, model) in enumerate(named.items()):
        history = model if isinstance(model, (list, tuple)) else model.history_
        points = [(i + 1, e[metric]) for i, e in enumerate(history) if e.get(metric) is not None]
        if not points:
            raise _core.DataError(f"learning_curves: no {metric!r} in the history{f' of {name}' if name else ''}")
        x, y = zip(*points)
        color = COLORS[k % len(COLORS)]
        ax.plot(x, y, color=color, linewidth=1.6, label=name or None)
        best = getattr(model, "best_epoch_", None)
        if best is not None and best + 1 in x and getattr(model, "keep_", None):
            ax.plot([best + 1], [y[x.index(best + 1)]], "o", color="white", markeredgecolor=color, markeredgewidth=1.6)
            ringed = True
    handles, _ = ax.get_legend_handles_labels()
    if ringed:
        handles.append(plt.Line2D([], [], marker="o", linestyle="", color="white", markeredgecolor=SOFT, markeredgewidth=1.6, label="epoch kept"))
    if handles:
        ax.legend(handles=handles, frameon=False)
    ax.xaxis.get_major_locator().set_params(integer=True)
    text = {"loss": "training loss", "dev_cross_entropy": "cross-entropy, development set"}.get(metric)
    keep = next((m.keep_ for m in named.values() if getattr(m, "keep_", None)), "metric")
    return _finish(ax, title, "epoch", text or f"{keep}, development set")
