"""panel() beside a direct implementation of the published rules: the alternative-annotator test (Calderon et al. 2025),
the design effect of Kish (1965), Rogan and Gladen (1978), prediction-powered means (Angelopoulos et al. 2023)."""

from __future__ import annotations

import numpy as np
import pytest

import dissent

stats = pytest.importorskip("scipy.stats", reason="scipy is not installed")


def crowd(seed, classes):
    """Votes of 6 people on a part of 150 items and of 3 models on all, the second of which copies the first now and
    then."""
    rng = np.random.default_rng(seed)
    people, models = {}, {f"m{j}": {} for j in range(3)}
    for i in range(150):
        truth = int(rng.integers(classes))
        hard = rng.random() < 0.3

        def say(p):
            return truth if rng.random() < (p - 0.25 if hard else p) else int(rng.integers(classes))

        for w in rng.choice(6, 4, replace=False) if i < 110 else ():
            people.setdefault(f"p{w}", {})[i] = say(0.85)
        models["m0"][i] = say(0.9)
        models["m1"][i] = models["m0"][i] if rng.random() < 0.6 else say(0.85)
        models["m2"][i] = say(0.55)
    return people, models


def rows_of(people, models):
    return [(t, w, label) for voters in (people, models) for w, votes in voters.items() for t, label in votes.items()]


def score(label, others, numbers):
    return -np.sqrt(np.mean([(label - x) ** 2 for x in others])) if numbers else np.mean([label == x for x in others])


def alternative(people, model, epsilon, numbers):
    """Winning rate and advantage, by the rules as they are printed."""
    p, advantage = [], []
    for name, votes in people.items():
        as_well, apart = [], []
        for task, label in votes.items():
            others = [v[task] for who, v in people.items() if who != name and task in v]
            if others:
                a, b = score(model[task], others, numbers), score(label, others, numbers)
                as_well.append(a >= b)
                apart.append(float(b >= a) - float(a >= b))
        if len(as_well) >= 30:
            p.append(stats.ttest_1samp(apart, epsilon, alternative="less").pvalue)
            advantage.append(np.mean(as_well))
    return np.mean(stats.false_discovery_control(p, method="by") <= 0.05), np.mean(advantage)


@pytest.mark.parametrize(("classes", "numbers", "epsilon"), [(2, False, 0.1), (3, False, 0.2), (4, True, 0.15), (5, True, 0.1)])
def test_alternative_annotator(classes, numbers, epsilon):
    rates = []
    for seed in range(3):
        people, models = crowd(10 * classes + seed, classes)
        found = dissent.panel(rows_of(people, models), list(models), epsilon=epsilon, ordinal=numbers, resamples=0)
        for j, model in enumerate(models.values()):
            rate, advantage = alternative(people, model, epsilon, numbers)
            assert found.models["winning_rate"].tolist()[j] == pytest.approx(rate, abs=1e-12)
            assert found.models["advantage"].tolist()[j] == pytest.approx(advantage, abs=1e-12)
            rates.append(rate)
    assert min(rates) < 0.5 <= max(rates)  # some pass, some do not: the test tells them apart


def majority(people, task, classes):
    count = np.bincount([v[task] for v in people.values() if task in v], minlength=classes)
    return int(count.argmax()) if count.sum() and (count == count.max()).sum() == 1 else None


@pytest.mark.parametrize("seed", range(3))
def test_effective_number_of_judges(seed):
    people, models = crowd(seed, 3)
    found = dissent.panel(rows_of(people, models), list(models), resamples=0)
    known = [(t, m) for t in range(150) if (m := majority(people, t, 3)) is not None]
    errors = np.array([[votes[t] != m for t, m in known] for votes in models.values()], dtype=float)
    r = np.corrcoef(errors)
    mean = (r.sum() - 3) / 6
    assert found.correlation.value == pytest.approx(mean, abs=1e-12)
    assert found.effective.value == pytest.approx(min(3, 3 / (1 + 2 * mean)), abs=1e-12)
    assert found.effective_by_spectrum.value == pytest.approx(9 / (r**2).sum(), abs=1e-12)
    assert found.models["error"].tolist() == pytest.approx(errors.mean(axis=1).tolist(), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_rates(seed):
    people, models = crowd(20 + seed, 2)
    found = dissent.panel(rows_of(people, models), list(models), resamples=0)
    rates = {c: np.asarray(found.rates[c]).tolist() for c in ("model", "label", "raw", "people", "rogan_gladen", "powered", "weight")}
    for r, name in enumerate(rates["model"]):
        if name is None:
            continue
        k = rates["label"][r]
        shares = {t: np.mean([v[t] == k for v in people.values() if t in v]) for t in range(110)}
        y = np.array(list(shares.values()))
        f = np.array([models[name][t] == k for t in range(150)], dtype=float)
        with_people, alone = f[:110], f[110:]
        sensitivity = (y * with_people).sum() / y.sum()
        specificity = ((1 - y) * (1 - with_people)).sum() / (1 - y).sum()
        corrected = (f.mean() + specificity - 1) / (sensitivity + specificity - 1)
        weight = np.cov(y, with_people, ddof=0)[0, 1] / ((1 + 110 / 40) * f.var())
        weight = min(1.0, max(0.0, weight))
        assert rates["raw"][r] == pytest.approx(f.mean(), abs=1e-12)
        assert rates["people"][r] == pytest.approx(y.mean(), abs=1e-12)
        assert rates["rogan_gladen"][r] == pytest.approx(min(1, max(0, corrected)), abs=1e-12)
        assert rates["weight"][r] == pytest.approx(weight, rel=2e-2)
        powered = (y - rates["weight"][r] * with_people).mean() + rates["weight"][r] * alone.mean()
        assert rates["powered"][r] == pytest.approx(powered, abs=1e-12)
