"""Votes that tests share, and doctests of the package where it was built."""

from __future__ import annotations

import numpy as np
import pytest

import dissent


def make_crowd(n_tasks: int = 60, n_workers: int = 9, n_classes: int = 3, per_task: int = 5, seed: int = 7):
    """(tasks, workers, labels, truth): workers of different skill, votes in random order, ids as texts."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_tasks)
    skill = rng.uniform(0.4, 0.95, size=n_workers)
    rows = []
    for t in range(n_tasks):
        for w in rng.choice(n_workers, size=per_task, replace=False):
            right = rng.random() < skill[w]
            label = truth[t] if right else rng.integers(n_classes)
            rows.append((f"task{t}", f"w{w}", int(label)))
    order = rng.permutation(len(rows))
    rows = [rows[i] for i in order]
    return [list(c) for c in zip(*rows)] + [{f"task{t}": int(c) for t, c in enumerate(truth)}]


@pytest.fixture(scope="session")
def crowd():
    return make_crowd()


@pytest.fixture()
def columns(crowd):
    return dict(zip(("task", "worker", "label"), crowd[:3]))


@pytest.fixture()
def frame(columns):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(columns)


# Crowdlab needs predictions, KOS two classes, GoldMajorityVote known labels.
SPECIAL = ("Crowdlab", "GoldMajorityVote", "KOS")
ALL = [getattr(dissent, name) for name in dissent.aggregation.__all__ if name not in SPECIAL]
