"""What review() reports about annotators is true as often as docs/evidence/review.md states. Takes a minute: runs with
DISSENT_SLOW=1 only; bench/truth/annotator_intervals.py has all settings."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(not os.environ.get("DISSENT_SLOW"), reason="DISSENT_SLOW is not set")
PATH = Path(__file__).resolve().parents[2] / "bench" / "truth" / "annotator_intervals.py"
SIZES = (2, 3, 5, 10)


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("annotator_intervals", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("votes", SIZES)
def test_intervals_hold_the_truth(bench, votes):
    for kind in bench.INDEPENDENT + bench.DEPENDENT:
        held, _, ratio = bench.simulated(kind, votes, 12)
        assert held >= (0.93 if kind in bench.INDEPENDENT else 0.85), (kind, held)
        assert ratio <= 4.5, (kind, ratio)


def test_intervals_hold_the_accuracy_against_gold(bench):
    held, ratios = [], []
    for _, c in bench.real_crowds():
        found = bench.reviewed(c)
        accuracy, n = bench.against_gold(c)
        use = (n >= bench.MIN_GOLD) & ~np.isnan(found["quality"])
        part = {key: found[key][use] for key in ("low", "high")}
        held.append(bench.holds(part, accuracy[use]).mean())
        ratios.append(bench.width_ratio(part, accuracy[use], n[use]))
    if not held:
        pytest.skip("the shared data is not here")
    assert np.mean(held) >= 0.9 and np.mean(ratios) <= 1.8


@pytest.mark.parametrize("gold", [False, True])
def test_equally_good_annotators_are_not_called_weak(bench, gold):
    for kind in ("plain", "classes", "rare", "hard"):
        for accuracy in (0.9, 0.7):
            for votes in SIZES:
                shares = [bench.share_called(kind, votes, 10, accuracy, items, gold, ("weak",)) for items in (100, 1000)]
                assert max(shares) <= 0.05, (kind, accuracy, votes, shares)
    assert bench.share_called("plain", 5, 20, 0.9, 300, gold, bench.DOUBTFUL) <= 0.01
    assert bench.share_called("plain", 3, 5, 0.7, 1000, gold, bench.DOUBTFUL, 200) <= 0.002


def test_a_bad_annotator_is_found(bench):
    assert min(bench.share_found(votes, 10, 0.9, 0.6, 1000) for votes in SIZES) >= 0.9
    assert bench.share_found(10, 10, 0.9, 0.75, 1000) >= 0.9
