"""Makes tests/parity/fixtures: two small crowds and what other programs say about them.

    python make_fixtures.py        (needs crowd-kit 1.4, scipy; run only when a fixture is added, the results are committed)

Sources: crowd-kit where it has the method; where it has not, or has it with a defect, the update rules written out below in
plain NumPy from the papers. Where both exist they are compared here first, so that a fixture never rests on one program.
Files: NAME.votes.csv, NAME.gold.csv (some items, for pinning), NAME.truth.csv, and NAME.REFERENCE.csv = task and one column per
class, or worker and its parameters; NAME.scalars.csv = key,value.
"""
import csv
import importlib
import os
import warnings

warnings.filterwarnings("ignore")

import numpy as np
import pandas as pd
from crowdkit.aggregation import (GLAD, MACE, DawidSkene, MajorityVote, OneCoinDawidSkene, Wawa, ZeroBasedSkill)
from scipy.optimize import minimize
from scipy.special import digamma

# crowd-kit asks scikit-learn whether it is fitted in a way that scikit-learn 1.6 stopped to answer
for module in ("wawa", "zero_based_skill"):
    importlib.import_module(f"crowdkit.aggregation.classification.{module}").check_is_fitted = lambda *_, **__: None

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fixtures")


def crowd(names, n_items, n_workers, fewest, most, seed):
    """Votes from random confusion matrices, a third of the workers guessing. Workers are numbered and rows laid out such that
    workers and classes appear for the first time in sorted order, without which crowd-kit's MACE mixes its workers up."""
    r = np.random.default_rng(seed)
    k = len(names)
    truth = r.integers(k, size=n_items)
    table = np.empty((n_workers, k, k))
    for w in range(n_workers):
        good = 1.5 if w % 3 == 2 else 6
        for t in range(k):
            table[w, t] = r.dirichlet(1 + good * (np.arange(k) == t))
    rows = []
    for i in range(n_items):
        for w in r.choice(n_workers, size=r.integers(fewest, most + 1), replace=False):
            rows.append([i, w, r.choice(k, p=table[w, truth[i]])])
    rows = np.array(rows)
    first = list(dict.fromkeys(rows[:, 2]))  # classes by first appearance become 0, 1, ...
    order = {old: new for new, old in enumerate(first + [c for c in range(k) if c not in first])}
    worker = {old: new for new, old in enumerate(dict.fromkeys(rows[:, 1]))}
    votes = pd.DataFrame({
        "task": [f"t{i:02d}" for i in rows[:, 0]],
        "worker": [f"w{worker[w]:02d}" for w in rows[:, 1]],
        "label": [names[order[c]] for c in rows[:, 2]],
    })
    return votes, pd.Series([names[order[c]] for c in truth], index=[f"t{i:02d}" for i in range(n_items)])


class UniformMACE(MACE):
    """crowd-kit's MACE from uniform tables."""

    def _initialize(self, n_workers, n_labels):
        super()._initialize(n_workers, n_labels)
        self.spamming_ = np.full((n_workers, 2), .5)
        self.thetas_ = np.full((n_workers, n_labels), 1 / n_labels)


def indices(votes, names):
    task, tasks = pd.factorize(votes.task)
    worker, workers = pd.factorize(votes.worker)
    return task, worker, np.array([names.index(x) for x in votes.label]), tasks, workers


def mace(votes, names, method, iterations):
    """Hovy et al. (2013) in log space: returns posteriors, (guess, know), strategies, log marginal likelihood."""
    task, worker, label, tasks, workers = indices(votes, names)
    k, n, m = len(names), len(tasks), len(workers)
    spam, strategy = np.full((m, 2), .5), np.full((m, k), 1 / k)
    for it in range(iterations + 1):
        guess = spam[worker, 0] * strategy[worker, label]
        log_p = np.zeros((n, k))
        for c in range(k):
            np.add.at(log_p[:, c], task, np.log(guess + spam[worker, 1] * (label == c)))
        top = log_p.max(axis=1, keepdims=True)
        p = np.exp(log_p - top)
        marginal = float((top[:, 0] + np.log(p.sum(axis=1)) - np.log(k)).sum())
        p /= p.sum(axis=1, keepdims=True)
        if it == iterations:
            return p, spam, strategy, marginal
        right = p[task, label]  # the vote is a guess: surely when it is wrong, perhaps when it is right
        guessed = (1 - right) + right * guess / (guess + spam[worker, 1])
        counts = np.zeros((m, k))
        np.add.at(counts, (worker, label), guessed)
        know = np.bincount(worker, right * spam[worker, 1] / (guess + spam[worker, 1]), m)
        spam = np.stack([counts.sum(axis=1), know], axis=1)
        if method == "em":
            counts, spam = counts + .01 / k, spam + .01 / k
            strategy, spam = counts / counts.sum(axis=1, keepdims=True), spam / spam.sum(axis=1, keepdims=True)
        else:
            counts, spam = counts + 10, spam + .5
            strategy = np.exp(digamma(counts) - digamma(counts.sum(axis=1, keepdims=True)))
            spam = np.exp(digamma(spam) - digamma(spam.sum(axis=1, keepdims=True)))


def dawid_skene(votes, names, iterations, floor=0.0):
    """Dawid and Skene (1979) from vote shares, no pseudo-count; log likelihoods after each E-step."""
    task, worker, label, tasks, workers = indices(votes, names)
    k, n, m = len(names), len(tasks), len(workers)
    p = shares(votes, names)
    trace = []
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(iterations):
            prior = p.mean(axis=0)
            counts = np.zeros((m, k, k))  # worker, label, true
            np.add.at(counts, (worker, label), p[task])
            used = np.zeros((m, k), bool)
            used[worker, label] = True
            counts = np.where(used[:, :, None], np.maximum(counts, floor), 0)
            table = counts / counts.sum(axis=1, keepdims=True)
            log_p = np.tile(np.log(np.maximum(prior, floor)), (n, 1))
            np.add.at(log_p, task, np.log(table[worker, label]))
            log_p = np.where(np.isnan(log_p), -np.inf, log_p)
            top = log_p.max(axis=1, keepdims=True)
            p = np.exp(log_p - top)
            trace.append(float((top[:, 0] + np.log(p.sum(axis=1))).sum()))
            p /= p.sum(axis=1, keepdims=True)
    return p, trace


def ibcc(votes, names, iterations):
    """Kim and Ghahramani (2012), mean field from vote shares; priors 4 on the diagonal, 1 off it, 1 on the classes."""
    task, worker, label, tasks, workers = indices(votes, names)
    k, m = len(names), len(workers)
    p = shares(votes, names)
    for _ in range(iterations):
        counts = np.tile(np.ones((k, k)) + 3 * np.eye(k), (m, 1, 1))  # worker, label, true
        np.add.at(counts, (worker, label), p[task])
        table = digamma(counts) - digamma(counts.sum(axis=1, keepdims=True))
        log_p = np.tile(digamma(p.sum(axis=0) + 1), (len(tasks), 1))
        np.add.at(log_p, task, table[worker, label])
        p = np.exp(log_p - log_p.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
    return p


def shares(votes, names):
    task, _, label, tasks, _ = indices(votes, names)
    c = np.zeros((len(tasks), len(names)))
    np.add.at(c, (task, label), 1)
    return c / c.sum(axis=1, keepdims=True)


def softmax_of_counts(votes, names):
    task, _, label, tasks, _ = indices(votes, names)
    c = np.zeros((len(tasks), len(names)))
    np.add.at(c, (task, label), 1)
    e = np.exp(c - c.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def glad_objective(votes, names, alphas, betas):
    """log P(votes) with the class summed out (uniform prior) + log N(1, 1) densities of alpha and beta, all constants in."""
    task, worker, label, tasks, workers = indices(votes, names)
    k = len(names)
    a, b = alphas.loc[workers].to_numpy(), betas.loc[tasks].to_numpy()
    x = a[worker] * np.exp(b[task])
    right, wrong = -np.logaddexp(0, -x), -np.logaddexp(0, x) - np.log(k - 1)
    log_p = np.zeros((len(tasks), k))
    for c in range(k):
        np.add.at(log_p[:, c], task, np.where(label == c, right, wrong))
    top = log_p.max(axis=1)
    marginal = np.sum(top + np.log(np.exp(log_p - top[:, None]).sum(axis=1)) - np.log(k))
    prior = -((a - 1) ** 2).sum() / 2 - ((b - 1) ** 2).sum() / 2 - (len(a) + len(b)) * np.log(2 * np.pi) / 2
    return float(marginal), float(prior)


def centroid(views, weights):
    """The geometric mean of midpoints, iterated until nothing moves any more."""
    w = np.array(weights)[:, None, None]
    q = (w * views).sum(axis=0)
    with np.errstate(divide="ignore"):
        for _ in range(5000):
            new = np.exp((w * np.log((views + q) / 2)).sum(axis=0))
            new /= new.sum(axis=1, keepdims=True)
            moved = np.abs(new - q).max()
            q = new
            if moved == 0:
                break
    return q


def at_temperature(p, t):
    with np.errstate(divide="ignore"):
        x = np.maximum(np.log(p), -15) / t
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def temperature_objective(t, views, strength=1e-3):
    """Mean over pairs of views of the mean JSD over items, + strength * sum of squares (MULTI-VIEW's released code)."""
    def entropy_terms(p):
        return np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0).sum(axis=1)

    soft = [at_temperature(p, x) for p, x in zip(views, t)]
    pairs = [(a, b) for a in range(len(soft)) for b in range(a)]
    jsd = [np.mean((entropy_terms(soft[a]) + entropy_terms(soft[b])) / 2 - entropy_terms((soft[a] + soft[b]) / 2))
           for a, b in pairs]
    return np.mean(jsd) + strength * np.sum(np.square(t))


def write(path, columns, rows):
    with open(os.path.join(OUT, path), "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(columns)
        for row in rows:
            out.writerow([x if isinstance(x, str) else repr(float(x)) for x in row])


def make(name, names, n_items, n_workers, fewest, most, seed):
    votes, truth = crowd(names, n_items, n_workers, fewest, most, seed)
    write(f"{name}.votes.csv", ["task", "worker", "label"], votes.to_numpy())
    write(f"{name}.truth.csv", ["task", "label"], truth.items())
    gold = truth.iloc[::6]
    write(f"{name}.gold.csv", ["task", "label"], gold.items())
    tasks, workers = list(votes.task.unique()), list(votes.worker.unique())

    def table(reference, p):
        p = p.loc[tasks, names].to_numpy() if isinstance(p, pd.DataFrame) else p
        write(f"{name}.{reference}.csv", ["task"] + names, [[t, *row] for t, row in zip(tasks, p)])
        return p

    def agree(a, b, tolerance=1e-9):
        a = a.loc[tasks, names].to_numpy() if isinstance(a, pd.DataFrame) else a
        assert np.abs(a - b).max() < tolerance, np.abs(a - b).max()

    scalars = {}
    majority = MajorityVote().fit(votes)
    agree(majority.probas_, shares(votes, names), 1e-12)
    for n in (1, 10, 50):
        model = DawidSkene(n_iter=n, tol=-np.inf).fit(votes)
        table(f"dawid_skene_{n}", model.probas_)
        agree(model.probas_, dawid_skene(votes, names, n, 1e-10)[0], 1e-8)
    table("dawid_skene_10_gold", DawidSkene(n_iter=10, tol=-np.inf).fit(votes, true_labels=gold).probas_)
    plain, trace = dawid_skene(votes, names, 30)
    table("dawid_skene_30_no_floor", plain)
    scalars["dawid_skene_30_log_likelihood"] = trace[-1]
    one = OneCoinDawidSkene(n_iter=20, tol=-np.inf).fit(votes)
    table("one_coin_20", one.probas_)
    wawa = Wawa().fit(votes)
    table("wawa", Wawa().fit_predict_proba(votes))
    zbs = ZeroBasedSkill().fit(votes)
    table("zero_based_skill", ZeroBasedSkill().fit_predict_proba(votes))
    write(f"{name}.workers.csv", ["worker", "wawa", "zero_based_skill", "one_coin_20"],
          [[w, wawa.skills_[w], zbs.skills_[w], one.skills_[w]] for w in workers])
    for method in ("vb", "em"):
        p, spam, strategy, marginal = mace(votes, names, method, 25)
        # crowd-kit gives the posterior without dividing by the marginal in its sums of small numbers: compare loosely
        agree(UniformMACE(n_restarts=1, n_iter=25, method=method).fit(votes).probas_, p, 1e-9)
        table(f"mace_{method}_25", p)
        write(f"{name}.mace_{method}_25.workers.csv", ["worker", "know"] + names,
              [[w, s[1], *row] for w, s, row in zip(workers, spam, strategy)])
        scalars[f"mace_{method}_25_log_likelihood"] = marginal
    table("ibcc_20", ibcc(votes, names, 20))
    glad = GLAD(silent=True).fit(votes)
    scalars["glad_marginal"], scalars["glad_log_prior"] = glad_objective(votes, names, glad.alphas_, glad.betas_)
    table("glad", glad.probas_)

    views = np.stack([shares(votes, names), softmax_of_counts(votes, names), plain, mace(votes, names, "vb", 25)[0]])
    for m, view in enumerate(views):
        table(f"view{m}", view)
    weights = [.1, .2, .3, .4]
    table("average", views.mean(axis=0))
    table("average_weighted", np.tensordot(weights, views, 1))
    table("centroid", centroid(views, [.25] * 4))
    table("centroid_weighted", centroid(views, weights))
    hot = np.stack([at_temperature(p, 1.5) for p in views])
    table("temperature_fixed", hot.mean(axis=0))
    table("hybrid_fixed", centroid(hot, [.25] * 4))
    for key, start in (("temperature", 1.5), ("temperature_from_3", 3)):  # the objective may have several minima: k5 has two
        best = minimize(temperature_objective, [start] * 4, args=(views,), method="L-BFGS-B", bounds=[(1, None)] * 4,
                        options={"ftol": 1e-15, "gtol": 1e-12, "maxiter": 2000})
        for m, t in enumerate(best.x):
            scalars[f"{key}_{m}"] = t
        scalars[f"{key}_objective"] = best.fun
    write(f"{name}.scalars.csv", ["key", "value"], scalars.items())
    print(name, "accuracy", np.mean([names[x] == truth[t] for t, x in zip(tasks, plain.argmax(axis=1))]), scalars)


if __name__ == "__main__":
    os.makedirs(OUT, exist_ok=True)
    make("k2", ["no", "yes"], 60, 12, 4, 7, 11)
    make("k5", ["a", "b", "c", "d", "e"], 64, 10, 5, 9, 12)
