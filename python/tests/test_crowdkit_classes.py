"""KOS, MMSR and GoldMajorityVote, and what follows crowd-kit: empty tables, ignored workers, names of errors_."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from conftest import make_crowd

import dissent


def kos_reference(item, worker, sign, n_iter):
    """The messages of Karger, Oh and Shah 2011 as sums over neighbours, from 1."""
    n = len(item)
    y = np.ones(n)
    for _ in range(n_iter):
        x = np.array([sum(sign[b] * y[b] for b in range(n) if item[b] == item[a] and b != a) for a in range(n)])
        y = np.array([sum(sign[b] * x[b] for b in range(n) if worker[b] == worker[a] and b != a) for a in range(n)])
        y /= np.abs(y).max()
    return y


def test_kos_is_the_published_recursion():
    tasks, workers, labels, _ = make_crowd(12, 5, 2, 3, seed=4)
    votes = dissent.Votes((tasks, workers, labels))
    item, worker, label = votes.rows()
    sign = np.where(label == 0, 1.0, -1.0)
    for n_iter in (0, 1, 2, 7):
        y = kos_reference(item, worker, sign, n_iter)
        fit = dissent.KOS(n_iter=n_iter).fit(votes)
        decision = np.bincount(item, weights=sign * y) / np.bincount(item, weights=np.abs(y))
        assert np.allclose(fit.result_.p[:, 0], (1 + decision) / 2, atol=1e-12)
        assert np.allclose(fit.skills_.values, np.bincount(worker, weights=y) / np.bincount(worker))


def test_kos_sees_through_adversaries():
    """Truth test: half of the workers are random, some always lie. KOS is more accurate than the majority."""
    rng = np.random.default_rng(0)
    better = []
    for _ in range(5):
        truth = rng.integers(2, size=200)
        chance = np.array([0.95] * 5 + [0.5] * 8 + [0.1] * 2)
        rows = [(t, w, int(c if rng.random() < chance[w] else 1 - c)) for t, c in enumerate(truth) for w in rng.choice(15, 7, replace=False)]
        votes = dissent.Votes(rows)
        order = votes.tasks.astype(int)
        accuracy = [(np.asarray(m().fit(votes).result_.labels) == truth[order]).mean() for m in (dissent.KOS, dissent.MajorityVote, dissent.MMSR)]
        better.append(accuracy)
        skill = dissent.KOS().fit(votes).skills_.to_dict()
        assert all(skill[w] < 0 for w in (13, 14)) and all(skill[w] > 0.2 for w in range(5))
    kos, majority, mmsr = np.mean(better, axis=0)
    assert kos > majority + 0.05 and mmsr > majority + 0.05 and kos > 0.95


def test_kos_is_for_two_classes(crowd):
    with pytest.raises(dissent.DataError, match="two classes, but the votes have 3"):
        dissent.KOS().fit(crowd[:3] and tuple(crowd[:3]))
    assert dissent.KOS().fit([("a", "x", 1), ("a", "y", 1)]).result_.p.tolist() == [[1.0]]


def test_mmsr_recovers_the_skills():
    """Truth test: with many common items, skills are the log-odds of the workers' accuracies, negative ones included."""
    rng = np.random.default_rng(1)
    for k in (2, 4):
        truth = rng.integers(k, size=6000)
        right = np.array([0.9, 0.8, 0.7, 0.75, 0.6, 0.85, 0.05, 0.65, 0.7])
        answers = np.where(rng.random((6000, 9)) < right, truth[:, None], (truth[:, None] + rng.integers(1, k, (6000, 9))) % k)
        item, worker = np.divmod(np.arange(6000 * 9), 9)
        fit = dissent.MMSR().fit((item, worker, answers.ravel()))
        skill = np.array([fit.skills_[w] for w in range(9)])
        expected = np.log(right * (k - 1) / (1 - right))
        assert fit.converged_ and np.abs(skill - expected).max() < 0.25 and (fit.result_.labels == truth[fit.result_.tasks]).mean() > 0.95
        counts = np.zeros((6000, k))
        np.add.at(counts, (item, answers.ravel()), skill[worker])
        posterior = np.exp(counts - counts.max(axis=1, keepdims=True))
        assert np.allclose(fit.result_.p, (posterior / posterior.sum(axis=1, keepdims=True))[fit.result_.tasks])


def test_mmsr_keeps_known_answers_under_renaming(crowd):
    tasks, workers, labels, _ = crowd
    order = np.random.default_rng(3).permutation(len(tasks))
    one = dissent.MMSR().fit((tasks, workers, labels)).skills_.to_dict()
    other = dissent.MMSR().fit(([tasks[i] for i in order], [workers[i][::-1] for i in order], [labels[i] for i in order])).skills_
    assert all(other[w[::-1]] == pytest.approx(s, abs=1e-8) for w, s in one.items())


def test_gold_majority_vote(crowd):
    tasks, workers, labels, truth = crowd
    known = {t: c for i, (t, c) in enumerate(truth.items()) if i % 2}
    votes = dissent.Votes((tasks, workers, labels))
    fit = dissent.GoldMajorityVote().fit(votes, known)
    for w in votes.workers.tolist():
        mine = [(t, c) for t, v, c in zip(tasks, workers, labels) if v == w and t in known]
        assert fit.skills_[w] == pytest.approx(np.mean([known[t] == c for t, c in mine]))
    weight = {(t, c): 0.0 for t in truth for c in range(3)}
    for t, w, c in zip(tasks, workers, labels):
        weight[t, c] += fit.skills_[w]
    p = fit.predict_proba(votes)
    assert all(np.allclose([p[t][c] for c in range(3)], np.array([weight[t, c] for c in range(3)]) / sum(weight[t, c] for c in range(3))) for t in truth)
    with pytest.raises(dissent.DataError, match="skill"):
        fit.predict([("a", "nobody", 1), ("a", "w1", 0)])
    with pytest.raises(dissent.DataError, match="known label"):
        dissent.GoldMajorityVote().fit(votes, {"no such task": 1})
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"task": [1, 1, 2], "worker": ["a", "b", "a"], "label": ["x", "y", "x"]})
    several = dissent.GoldMajorityVote().fit(frame, pd.Series(["x", "z", "y"], index=[1, 1, 2]))
    assert several.skills_.to_dict() == {"a": 0.5, "b": 0.0}


@pytest.mark.parametrize("cls", [dissent.MajorityVote, dissent.DawidSkene, dissent.KOS, dissent.MMSR, dissent.Wawa, dissent.MACE, dissent.Calibrated])
def test_an_empty_data_frame_has_empty_results(cls):
    pd = pytest.importorskip("pandas")
    fit = cls().fit(pd.DataFrame([], columns=["task", "worker", "label"]))
    assert fit.probas_.empty and len(fit.labels_) == 0 and fit.labels_.name == "agg_label" and len(fit.skills_) == 0
    with pytest.raises(dissent.DataError, match="empty"):
        fit.result_
    with pytest.raises(KeyError):
        cls().fit(pd.DataFrame([], columns=["task", "worker"]))


def test_ignored_workers_have_no_skill(frame):
    skills = dissent.MajorityVote().fit(frame).skills_.drop("w3")
    fit = dissent.MajorityVote(on_missing_skill="ignore").fit(frame, skills)
    assert "w3" not in fit.skills_.index and set(fit.skills_.index) == set(skills.index)
    plain = dissent.MajorityVote(on_missing_skill="ignore").fit(dict(frame), skills.to_dict())
    assert set(plain.skills_.index.tolist()) == set(skills.index)


def test_errors_have_plain_columns_and_keep_the_given_order(frame):
    pd = pytest.importorskip("pandas")
    assert dissent.DawidSkene().fit(frame).errors_.columns.names == [None]
    index = pd.MultiIndex.from_product([sorted(set(frame.worker)), [2, 0, 1]], names=["worker", "label"])
    given = pd.DataFrame(np.full((27, 3), 1 / 3), index=index, columns=[0, 1, 2])
    fit = dissent.DawidSkene(n_iter=0, initial_error_strategy="assign").fit(frame, initial_error=given)
    assert fit.errors_.index.equals(index)


def test_methods_are_subclasses_of_the_base_class_of_a_loaded_crowdkit():
    """With a stand-in of crowd-kit, whose base class compares attributes; in a process of its own, because it stays a base."""
    code = """
        import copy, pickle, sys, types
        import dissent

        before = dissent.DawidSkene(n_iter=3)
        base = types.ModuleType("crowdkit.aggregation.base")

        class BaseClassificationAggregator:
            __hash__ = None
            def __eq__(self, other): raise AssertionError
            def __lt__(self, other): raise AssertionError
            def fit(self, data): raise NotImplementedError
            def fit_predict(self, data): raise NotImplementedError

        base.BaseClassificationAggregator = BaseClassificationAggregator
        assert not isinstance(before, BaseClassificationAggregator)
        sys.modules["crowdkit.aggregation.base"] = base
        after = dissent.MajorityVote()
        for name in (*dissent.aggregation.__all__, *dissent.combination.__all__):
            assert issubclass(getattr(dissent, name), BaseClassificationAggregator), name
        assert isinstance(before, BaseClassificationAggregator) and len({before, after}) == 2 and before == before != after
        votes = [("a", "x", 1), ("a", "y", 1), ("b", "x", 0), ("b", "y", 1)]
        assert after.fit_predict(votes).to_dict() == {"a": 1, "b": 0}
        again = pickle.loads(pickle.dumps(before.fit(votes)))
        assert again.n_iter == 3 and copy.deepcopy(again).labels_.to_dict() == before.labels_.to_dict()
        try:
            before < after
        except TypeError:
            print("fine")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "fine", done.stderr
