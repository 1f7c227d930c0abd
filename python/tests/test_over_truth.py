"""Intervals for other annotators hold the truth, true nulls are rejected, and `Smoothed` predicts the next vote, as
docs/evidence/agreement.md, groups.md, evaluation.md, comparing.md and label-variation.md state. Takes minutes: runs with
DISSENT_SLOW=1 only; bench/truth/annotator_coverage.py and bench/truth/next_vote.py have all settings."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import dissent
import numpy as np
import pytest

pytestmark = pytest.mark.skipif(not os.environ.get("DISSENT_SLOW"), reason="DISSENT_SLOW is not set")
PATH = Path(__file__).resolve().parents[2] / "bench" / "truth" / "annotator_coverage.py"
CROWDS = 300
SLACK = 0.03  # two and a half standard errors of a coverage of .95


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("annotator_coverage", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("annotators", [5, 10, 50])
def test_agreement(bench, annotators):
    held = bench.coverage(CROWDS, "annotators", annotators=annotators, items=300, votes_per_item=0, spread=0.5)
    assert all(0.92 - SLACK < x < 0.98 + SLACK for x in held.values()), held
    fixed = bench.coverage(CROWDS, "items", annotators=annotators, items=300, votes_per_item=0, spread=0.5)
    assert fixed["alpha_nominal"] < 0.9


@pytest.mark.parametrize(("sizes", "votes_per_item"), [((5, 5), 0), ((10, 10), 6), ((25, 25), 0)])
def test_groups(bench, sizes, votes_per_item):
    held = bench.group_coverage(CROWDS, "annotators", sizes=sizes, items=200, votes_per_item=votes_per_item)
    assert all(0.92 - SLACK < x < 0.98 + SLACK for x in held.values()), held


@pytest.mark.parametrize(("annotators", "votes_per_item"), [(10, 0), (20, 4), (50, 5)])
def test_eval(bench, annotators, votes_per_item):
    kind = {"annotators": annotators, "items": 300, "votes_per_item": votes_per_item, "spread": 0.5}
    held = bench.eval_coverage(CROWDS, "annotators", dissent.Standard, **kind)
    means = [held[name] for name in ("cross_entropy", "human_entropy", "kl", "jsd", "total_variation")]
    assert all(0.92 - SLACK < x < 0.98 + SLACK for x in means), held
    assert min(held["entropy_correlation"], held["entropy_similarity"]) > 0.92 - SLACK


@pytest.mark.parametrize(("annotators", "votes_per_item"), [(10, 0), (10, 3), (20, 0)])
def test_true_nulls(bench, annotators, votes_per_item):
    kind = {"annotators": annotators, "items": 300, "votes_per_item": votes_per_item, "spread": 0.5}
    assert (bench.rejections(CROWDS, "annotators", **kind) < 0.07 + SLACK).all()


@pytest.mark.parametrize("strength", [0.5, 2.0, 8.0])
def test_next_vote(strength):
    """On crowds of its own model: within .005 of the prediction that knows the strength and the rates."""
    rng = np.random.default_rng(int(10 * strength))
    rates = np.array([0.6, 0.3, 0.1])
    p = rng.dirichlet(strength * rates, size=4000)
    counts = np.array([rng.multinomial(rng.integers(2, 8), row) for row in p]).astype(float)
    found = np.asarray(dissent.Smoothed().fit(dissent.Votes.from_counts(counts)).result_.p)
    best = (counts + strength * rates) / (counts.sum(axis=1, keepdims=True) + strength)
    losses = [-(p * np.log(q)).sum(axis=1).mean() for q in (found, best)]
    assert losses[0] - losses[1] < 0.005
    for other in (dissent.Standard(), dissent.Softmax()):
        q = np.maximum(np.asarray(other.fit(dissent.Votes.from_counts(counts)).result_.p), 1e-12)
        assert -(p * np.log(q)).sum(axis=1).mean() > losses[0]
