"""dissent.plot: what the figures show is what the library measured."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import dissent

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
matplotlib.use("Agg")
import dissent.plot as plot  # noqa: E402
import matplotlib.pyplot as plt  # noqa: E402
from conftest import make_crowd  # noqa: E402


@pytest.fixture(scope="module")
def crowd():
    tasks, workers, labels, truth = make_crowd(200, 10, 3, 5)
    return dissent.Votes((tasks, workers, labels)), truth


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def drawn(ax, tmp_path):
    """The figure can be written as PDF and PNG, and has ink."""
    for kind in ("pdf", "png"):
        ax.figure.savefig(tmp_path / f"figure.{kind}")
    image = plt.imread(tmp_path / "figure.png")
    assert (image[..., :3] < 0.9).any(axis=2).mean() > 0.003


def test_reliability(crowd, tmp_path):
    votes, truth = crowd
    fitted = dissent.DawidSkene().fit(votes)
    ax = plot.reliability({"ds": fitted, "shares": dissent.Standard().fit(votes)}, truth, n_bins=8)
    drawn(ax, tmp_path)
    bins = dissent.evaluate(fitted, truth, n_bins=8, resamples=0).bins
    used = bins["n"] > 0
    scatters = [c.get_offsets() for c in ax.collections if type(c).__name__ == "PathCollection"]
    assert len(scatters) == 2 and np.allclose(scatters[0], np.column_stack([bins["confidence"][used], bins["accuracy"][used]]))
    assert [t.get_text().split()[0] for t in ax.get_legend().get_texts()] == ["ds", "shares"]
    assert plot.reliability(dissent.evaluate(fitted, truth, resamples=0)).get_xlabel().startswith("confidence")
    with pytest.raises(dissent.DissentError, match="gold"):
        plot.reliability(dissent.evaluate(fitted, human=fitted, resamples=0))


def test_wilson():
    low, high = plot._wilson(np.array([0.0, 0.5, 1.0]), np.array([10.0, 10.0, 10.0]))
    assert np.allclose(low, [0, 0.23659, 0.72246], atol=1e-4) and np.allclose(high, [0.27754, 0.76341, 1], atol=1e-4)


def test_confusion(crowd, tmp_path):
    votes, truth = crowd
    fitted = dissent.DawidSkene().fit(votes)
    ax = plot.confusion(fitted, worker="w3")
    drawn(ax, tmp_path)
    at = votes.workers.tolist().index("w3")
    assert np.allclose(ax.images[0].get_array(), fitted.errors_[at].T) and "w3" in ax.get_title(loc="left")
    gold = plot.confusion(fitted, truth)
    found = dissent.evaluate(fitted, truth, resamples=0).confusion
    assert np.allclose(gold.images[0].get_array(), found / found.sum(axis=1, keepdims=True))
    assert np.allclose(plot.confusion(fitted).images[0].get_array().sum(axis=1), 1)
    with pytest.raises(dissent.DataError, match="no annotator 'nobody'"):
        plot.confusion(fitted, worker="nobody")
    with pytest.raises(dissent.OptionError, match="no matrices"):
        plot.confusion(dissent.MACE().fit(votes))


def test_annotators(crowd, tmp_path):
    votes, _ = crowd
    found = dissent.review(votes)
    ax = plot.annotators(found, top=6)
    drawn(ax, tmp_path)
    quality = dict(zip(found.workers["worker"].tolist(), found.workers["quality"]))
    names = [t.get_text().split()[0] for t in ax.get_yticklabels()]
    assert names == sorted(quality, key=quality.get)[:6]
    drawn(plot.annotators(votes, ax=plt.subplots()[1]), tmp_path)


def test_disagreement(crowd, tmp_path):
    votes, _ = crowd
    soft = dissent.Standard().fit(votes).result_
    ax = plot.disagreement(soft, top=50)
    drawn(ax, tmp_path)
    area = sum(p.get_height() for p in ax.patches)
    assert area == pytest.approx(50) and ax.get_xlim() == (-0.5, 49.5)


def test_agreement(crowd, tmp_path):
    votes, _ = crowd
    ax = plot.agreement(votes)
    drawn(ax, tmp_path)
    names = [t.get_text() for t in ax.get_yticklabels()]
    pairs = dissent.agreement(votes, resamples=0).pairs
    matrix = ax.images[0].get_array()
    for a, b, kappa in zip(pairs["a"], pairs["b"], pairs["cohen"]):
        assert matrix[names.index(a), names.index(b)] == pytest.approx(kappa)
    with pytest.raises(dissent.OptionError, match="choose one of"):
        plot.agreement(votes, measure="magic")


def test_agreement_of_constant_annotators_is_not_drawn():
    """Two annotators who always answer "a" agree by convention; their kappa is not defined."""
    votes = dissent.Votes([(t, w, "a" if w in ("x", "y") or t % 2 else "b") for t in range(12) for w in ("x", "y", "z", "u")])
    ax = plot.agreement(votes)
    names, matrix = [t.get_text() for t in ax.get_yticklabels()], np.ma.filled(ax.images[0].get_array(), np.nan)
    assert np.isnan(matrix[names.index("x"), names.index("y")])
    assert matrix[names.index("z"), names.index("u")] == 1 and matrix[names.index("x"), names.index("z")] == 0


def test_disagreement_is_in_blocks_of_labels():
    soft = dissent.SoftLabels(list("abcd"), ["no", "yes"], [[0.4, 0.6], [0.9, 0.1], [0, 1.0], [0.6, 0.4]])
    ax = plot.disagreement(soft)
    low = {round(p.get_x() + 0.5): (p.get_height(), p.get_facecolor()) for p in ax.patches if p.get_y() == 0}
    assert [low[i][0] for i in range(4)] == pytest.approx([0.9, 0.6, 1.0, 0.6]) and low[0][1] == low[1][1] != low[2][1] == low[3][1]


def test_learning_curves(tmp_path):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 3)), rng.integers(2, size=40)
    model = dissent.SoftClassifier("gold", "mlp:hidden=4", n_epochs=5).fit(x, y, dev=(x, y))
    ax = plot.learning_curves({"mlp": model})
    drawn(ax, tmp_path)
    assert np.allclose(ax.lines[0].get_ydata(), [e["loss"] for e in model.history_])
    assert ax.lines[1].get_xdata()[0] == model.best_epoch_ + 1
    assert plot.learning_curves(model, metric="dev").get_ylabel() == "macro_f1, development set"
    with pytest.raises(dissent.DataError, match="no 'magic'"):
        plot.learning_curves(model, metric="magic")


def test_the_style_ends(crowd):
    before = matplotlib.rcParams["font.size"]
    plot.disagreement(dissent.Standard().fit(crowd[0]))
    with plot.style():
        assert matplotlib.rcParams["font.size"] == 9.5
    assert matplotlib.rcParams["font.size"] == before


def test_import_dissent_does_not_load_matplotlib():
    code = "import sys, dissent; assert 'matplotlib' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_figures_fit_a_page():
    """At most 7 inches wide, and the title does not leave the figure, however long names are."""
    rng = np.random.default_rng(5)
    rows = [(f"t{i}", f"annotator with a long name {w}", f"class with a long name {(i + (rng.random() < 0.3)) % 12}") for i in range(120) for w in range(9)]
    votes = dissent.Votes(rows)
    fitted = dissent.DawidSkene().fit(votes)
    many = dissent.Votes([(f"t{i}", f"w{w}", int(rng.integers(2))) for i in range(40) for w in range(30)])
    figures = (plot.confusion(fitted, worker="annotator with a long name 3"), plot.agreement(votes), plot.agreement(many), plot.annotators(votes))
    with pytest.raises(dissent.DissentError, match="no more than chance"):
        plot.annotators(many)
    for ax in figures:
        width, height = ax.figure.get_size_inches()
        assert width <= 7.01 and height <= 9
        ax.figure.canvas.draw()
        title = next(t for t in (ax._left_title, ax.title) if t.get_text())
        box, page = title.get_window_extent(), ax.figure.bbox
        assert box.x0 >= 0 and box.x1 <= page.width + 1, title.get_text()
