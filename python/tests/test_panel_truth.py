"""What panel() reports about simulated people and judges is true as often as docs/evidence/panel.md states. Takes minutes: runs
with DISSENT_SLOW=1 only; bench/truth/panel_truth.py has all settings."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(not os.environ.get("DISSENT_SLOW"), reason="DISSENT_SLOW is not set")
PATH = Path(__file__).resolve().parents[2] / "bench" / "truth" / "panel_truth.py"


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("panel_truth", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(bench, part, runs):
    return [{**setting, **figures} for setting, figures in bench.PARTS[part](runs)]


def test_effective_number(bench):
    """Independent judges count in full wherever a figure is given, and judges with common errors do not."""
    for shared in (0.0, 0.7):
        for accuracy in (0.8, 0.9, 0.99):
            estimates, true = [], []
            for seed in range(20):
                rng = np.random.default_rng([11, seed])
                truth = rng.choice(2, 1000)
                judges = bench.judges_of(rng, truth, 2, shared=shared)
                found = bench.measure(bench.people_votes(rng, truth, 2, accuracy), judges)
                estimates.append(found.effective.value)
                true.append(bench.worth([(j != truth).astype(float) for j in judges]))
            estimates = [x for x in estimates if x is not None]
            assert len(estimates) >= 15
            assert np.mean(estimates) == pytest.approx(np.mean(true), abs=0.2)


def test_weak_people_give_no_effective_number(bench):
    for seed in range(10):
        rng = np.random.default_rng([12, seed])
        truth = rng.choice(2, 400)
        found = bench.measure(bench.people_votes(rng, truth, 2, 0.6), bench.judges_of(rng, truth, 2))
        assert found.effective.value is None


def test_chance(bench):
    found = rows(bench, "chance", 10)
    noise = [r for r in found if r["people"] == "random"]
    assert np.mean([r["noise"] for r in noise]) > 0.9
    assert all(r["passed_constant"] == 0 and r["constant"] == 0 and r["said_constant"] == 0 for r in found)
    assert np.mean([r["passed_random"] for r in found]) < 0.01
    assert np.mean([r["random"] for r in found]) < 0.03


def test_rates(bench):
    found = rows(bench, "rates", 30)
    for name in ("people", "powered", "rogan_gladen", "bias"):
        assert np.mean([r[name + "_coverage"] for r in found]) > 0.92
    assert max(abs(r["tie_bias"]) for r in found) < 1e-9


def test_labelled(bench):
    found = rows(bench, "labelled", 20)
    assert np.mean([r["warned"] for r in found if r["labelled"] == "random"]) < 0.05
    assert np.mean([r["warned"] for r in found if r["labelled"] != "random"]) > 0.95


def test_copies(bench):
    alarms, person = [], []
    for seed in range(20):
        for hard in (0, 0.3):
            rng = np.random.default_rng([13, seed])
            truth = rng.choice(2, 400)
            level = np.where(rng.random(400) < hard, 0.65, 0.85)
            people = bench.people_votes(rng, truth, 2, level, 5, 4, 0.1)
            judges = [bench.answer(rng, truth, level + 0.1, 2) for _ in range(2)]
            judges[1] = np.where(people[0] >= 0, people[0], judges[1])
            named = np.asarray(bench.measure(people, judges).copies["model"]).tolist()
            alarms.append("m0" in named)
            person.append("m1" in named)
    assert np.mean(alarms) <= 0.05 and np.mean(person) > 0.9


def test_likeness_is_not_quality(bench):
    found = {(r["items"], r["errors"]): r["passed"] for r in rows(bench, "likeness", 30)}
    assert found[200, "own"] < 0.5 < found[200, "shared with people"]
