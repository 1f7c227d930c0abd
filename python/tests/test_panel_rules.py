"""panel() compared with a direct implementation of the published rules: the alternative-annotator test (Calderon et al.
2025), the design effect of Kish (1965), Rogan and Gladen (1978), prediction-powered means (Angelopoulos et al. 2023)."""

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

        def answer_with(p):
            return truth if rng.random() < (p - 0.25 if hard else p) else int(rng.integers(classes))

        for w in rng.choice(6, 4, replace=False) if i < 110 else ():
            people.setdefault(f"p{w}", {})[i] = answer_with(0.85)
        models["m0"][i] = answer_with(0.9)
        models["m1"][i] = models["m0"][i] if rng.random() < 0.6 else answer_with(0.85)
        models["m2"][i] = answer_with(0.55)
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
        found = dissent.panel(rows_of(people, models), list(models), epsilon=epsilon, ordinal=numbers)
        for j, model in enumerate(models.values()):
            rate, advantage = alternative(people, model, epsilon, numbers)
            assert found.models["winning_rate"].tolist()[j] == pytest.approx(rate, abs=1e-12)
            assert found.models["as_good"].tolist()[j] == pytest.approx(advantage, abs=1e-12)
            rates.append(rate)
    assert min(rates) < 0.5 <= max(rates)  # some pass, some do not: the test tells them apart


def decoded(people, items, classes):
    """Values with expectation 1 for the answer of most people, by EM on counts (src/review/panel_truth.c)."""
    counts = np.array([np.bincount([v[t] for v in people.values() if t in v], minlength=classes) for t in items], dtype=float)
    q = (counts + 1 / classes) / (counts.sum(axis=1, keepdims=True) + 1)
    for _ in range(300):
        prior = q.sum(axis=0) + 1 / classes
        prior /= prior.sum()
        matrix = q.T @ counts
        accuracy = np.trace(matrix) / matrix.sum()
        matrix += 10 * np.where(np.eye(classes, dtype=bool), accuracy, (1 - accuracy) / (classes - 1))
        matrix /= matrix.sum(axis=1, keepdims=True)
        log_q = np.log(prior) + counts @ np.log(matrix).T
        new = np.exp(log_q - log_q.max(axis=1, keepdims=True))
        new /= new.sum(axis=1, keepdims=True)
        change, q = np.abs(new - q).max(), new
        if change <= 1e-6:
            break
    return q @ np.linalg.inv(q.T @ q / q.sum(axis=0)[:, None])


@pytest.mark.parametrize("seed", range(3))
def test_effective_number_of_judges(seed):
    people, models = crowd(seed, 3)
    found = dissent.panel(rows_of(people, models), list(models))
    s = decoded(people, range(110), 3)
    answers = np.array([[v[t] for t in range(110)] for v in models.values()])
    own = np.array([s[np.arange(110), z] for z in answers])
    error = 1 - own.mean(axis=1)
    covariance, spread = 0.0, 0.0
    for a in range(3):
        for b in range(a):
            both = np.mean(1 - own[a] - own[b] + (answers[a] == answers[b]) * own[a])
            covariance += both - error[a] * error[b]
            spread += np.sqrt(error[a] * (1 - error[a]) * error[b] * (1 - error[b]))
    r = covariance / spread
    assert found.models["error"].tolist() == pytest.approx(error.tolist(), abs=1e-6)
    assert found.correlation.value == pytest.approx(r, abs=1e-6)
    assert found.effective.value == pytest.approx(min(3, 3 / (1 + 2 * max(0, r))), abs=1e-6)


def test_ties_of_the_judges_are_split():
    people, models = crowd(7, 3)
    del models["m2"]
    found = dissent.panel(rows_of(people, models), list(models))
    answers = np.array([[v[t] for t in range(150)] for v in models.values()])
    raw = np.asarray(found.rates["raw"])[6:]
    assert raw.tolist() == pytest.approx([(answers == k).mean() for k in range(3)], abs=1e-12)  # of two judges, the mean


def test_labelled_items_by_welch():
    people, models = crowd(8, 2)
    found = dissent.panel(rows_of(people, models), list(models))
    answers = np.array([[v[t] for t in range(150)] for v in models.values()])
    pairs = np.mean([answers[a] == answers[b] for a in range(3) for b in range(a)], axis=0)
    p = []
    for score in (answers.mean(axis=0), pairs):
        x, y = score[:110], score[110:]
        z = (x.mean() - y.mean()) / np.sqrt(x.var() / 109 + y.var() / 39)
        p.append(2 * stats.norm.sf(abs(z)))
    assert found.p_labelled == pytest.approx(min(1, 2 * min(p)), abs=1e-12)


def test_agreement_interval_for_new_items_and_people():
    """Two-way clustering: items + people - votes."""
    people, models = crowd(9, 2)
    found = dissent.panel(rows_of(people, models), list(models))
    for j, model in enumerate(models.values()):
        n = {t: sum(t in v for v in people.values()) for t in range(110)}
        value = np.mean([np.mean([v[t] == model[t] for v in people.values() if t in v]) for t in n])
        psi = {(t, h): ((v[t] == model[t]) - value) / (110 * n[t]) for h, v in people.items() for t in v}
        by_item = sum(sum(x for (t, _), x in psi.items() if t == i) ** 2 for i in n)
        by_person = sum(sum(x for (_, g), x in psi.items() if g == h) ** 2 for h in people) * 6 / 5
        votes = sum(x**2 for x in psi.values())
        reach = stats.norm.ppf(0.975) * np.sqrt(by_item + max(0, by_person - votes))
        assert found.models["agreement"].tolist()[j] == pytest.approx(value, abs=1e-12)
        assert found.models["agreement_ci_low"].tolist()[j] == pytest.approx(value - reach, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_rates(seed):
    people, models = crowd(20 + seed, 2)
    found = dissent.panel(rows_of(people, models), list(models))
    rates = {c: np.asarray(found.rates[c]).tolist() for c in ("model", "label", "raw", "bias", "people", "rogan_gladen", "powered", "weight")}
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
        assert rates["bias"][r] == pytest.approx(with_people.mean() - y.mean(), abs=1e-12)
        assert rates["people"][r] == pytest.approx(y.mean(), abs=1e-12)
        assert rates["rogan_gladen"][r] == pytest.approx(min(1, max(0, corrected)), abs=1e-12)
        assert rates["weight"][r] == pytest.approx(weight, rel=2e-2)
        powered = (y - rates["weight"][r] * with_people).mean() + rates["weight"][r] * alone.mean()
        assert rates["powered"][r] == pytest.approx(powered, abs=1e-12)
