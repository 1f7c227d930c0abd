#!/usr/bin/env python3
"""Comparisons with ties, covariates, one-sided annotators and camps, and the maxima of their likelihoods:
tests/parity/fixtures/pairwise.

    python -m venv v && v/bin/pip install numpy scipy && v/bin/python tests/parity/make_pairwise_fixtures.py

Each likelihood is written out as its formula, one comparison at a time, and maximised by scipy's BFGS from several
steps of restarts until the slope is below 1e-8: nothing of dissent is used. peers.csv: case, method, covariates, name, value."""

import csv
import math
import random
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

OUT = Path(__file__).parent / "fixtures" / "pairwise"
draw = random.Random(11)
THINGS, RATERS, PENALTY = 5, 8, 0.01


def simulate():
    score = [0.0, 0.3, 0.6, 0.9, 1.2]
    rows = []
    for i in range(480):
        a, b = draw.sample(range(THINGS), 2)
        w = draw.randrange(RATERS)
        la, lb = draw.randint(5, 60), draw.randint(5, 60)
        x = (score[a] - score[b]) * (-1 if w < 3 else 1) + 0.3 + 0.02 * (la - lb) + (1.5 if w == 7 else 0)
        weights = [math.exp(x / 2), math.exp(-x / 2), math.exp(-0.4)]
        winner = draw.choices(("a", "b", "tie"), weights)[0]
        rows.append((f"q{i}", f"m{a}", f"m{b}", f"w{w}", winner, la, lb))
    return rows


ROWS = simulate()
A = np.array([int(r[1][1]) for r in ROWS])
B = np.array([int(r[2][1]) for r in ROWS])
W = np.array([int(r[3][1]) for r in ROWS])
Y = np.array([("a", "b", "tie").index(r[4]) for r in ROWS])
LENGTH = np.array([r[5] - r[6] for r in ROWS], float)


def log_sigma(x):
    return -np.logaddexp(0, -x)


def log_likelihoods(ties, x, t):
    """Of each comparison."""
    if ties == "half":
        rows = np.array([log_sigma(x), log_sigma(-x), 0.5 * (log_sigma(x) + log_sigma(-x))])
    elif ties == "davidson":
        nu = np.exp(t)
        worth_a, worth_b = np.exp(x), np.ones_like(x)
        both = nu * np.sqrt(worth_a * worth_b)
        rows = np.log(np.array([worth_a, worth_b, both]) / (worth_a + worth_b + both))
    else:
        theta, worth_a, worth_b = np.exp(t), np.exp(x), np.ones_like(x)
        first = worth_a / (worth_a + theta * worth_b)
        second = worth_b / (theta * worth_a + worth_b)
        rows = np.log(np.array([first, second, np.maximum(1 - first - second, 1e-300)]))
    return rows[Y, np.arange(len(Y))]


def maximise(f, start):
    x = np.array(start, float)
    for _ in range(6):
        found = minimize(lambda p: -f(p), x, method="BFGS", options={"gtol": 1e-10, "maxiter": 5000})
        x = found.x
    for _ in range(3):  # polish: Newton with a numerical Hessian
        n, h = len(x), 1e-4
        g = np.zeros(n)
        H = np.zeros((n, n))
        e = np.eye(n) * h
        for i in range(n):
            g[i] = (f(x + e[i]) - f(x - e[i])) / (2 * h) - (
                f(x + 2 * e[i]) - 2 * f(x + e[i]) + 2 * f(x - e[i]) - f(x - 2 * e[i])
            ) / (12 * h)
            for j in range(i + 1):
                H[i, j] = H[j, i] = (
                    f(x + e[i] + e[j]) - f(x + e[i] - e[j]) - f(x - e[i] + e[j]) + f(x - e[i] - e[j])
                ) / (4 * h * h)
        x = x - np.linalg.solve(H, g)
    return x


found = []


def keep(case, method, covariates, name, value):
    found.append((case, method, covariates, name, repr(float(value))))


def linear(case, ties, position=False, length=False):
    """Scores, tie parameter and coefficients."""
    method = f"bradley-terry:reliability=no,ties={ties}" + (",position=yes" if position else "")
    columns = ([np.ones(len(ROWS))] if position else []) + ([LENGTH] if length else [])
    scale = [math.sqrt(np.mean(c**2)) for c in columns]
    X = np.array([c / s for c, s in zip(columns, scale)]).reshape(len(columns), len(ROWS))
    has_tie = ties != "half"

    def objective(p):
        s, rest = p[:THINGS], p[THINGS:]
        t = rest[0] if has_tie else 0
        if ties == "rao-kupper" and t <= 0:
            return -1e10
        x = s[A] - s[B] + (rest[has_tie:] @ X if len(columns) else 0)
        return log_likelihoods(ties, x, t).sum() - PENALTY * (p**2).sum()

    p = maximise(objective, [0.0] * THINGS + [0.5] * has_tie + [0.0] * len(columns))
    for k in range(THINGS):
        keep(case, method, "length" if length else "", f"score:m{k}", p[k] - p[:THINGS].mean())
    names = (["position"] if position else []) + (["length"] if length else [])
    for j, name in enumerate(names):
        keep(case, method, "length" if length else "", f"coefficient:{name}", p[THINGS + has_tie + j] / scale[j])
    if has_tie:
        keep(case, method, "length" if length else "", "coefficient:ties", p[THINGS])


def annotators():
    """Reliabilities and side preferences with their priors, Davidson ties: the joint maximum."""
    method = "bradley-terry:ties=davidson,sides=yes,tolerance=1e-15,iterations=20000"

    def objective(p):
        s, t, r, g = p[:THINGS], p[THINGS], p[THINGS + 1 : THINGS + 1 + RATERS], p[THINGS + 1 + RATERS :]
        x = r[W] * (s[A] - s[B]) + g[W]
        priors = -0.5 * (((r - 1) / 0.5) ** 2).sum() - 0.5 * (g**2).sum()
        return log_likelihoods("davidson", x, t).sum() - PENALTY * ((s**2).sum() + t**2) + priors

    p = maximise(objective, [0.0] * (THINGS + 1) + [1.0] * RATERS + [0.0] * RATERS)
    for k in range(THINGS):
        keep("annotators", method, "", f"score:m{k}", p[k] - p[:THINGS].mean())
    for w in range(RATERS):
        keep("annotators", method, "", f"reliability:w{w}", p[THINGS + 1 + w])
        keep("annotators", method, "", f"side:w{w}", p[THINGS + 1 + RATERS + w])


def camps():
    """A mixture of two sets of scores: the marginal likelihood of annotators."""
    method = "bradley-terry:reliability=no,ties=davidson,camps=2,permutations=0"

    def parts(p):
        s = p[: 2 * THINGS].reshape(2, THINGS)
        t = p[2 * THINGS : 2 * THINGS + 2]
        return s, t, p[-1]

    def objective(p):
        s, t, logit = parts(p)
        share = np.array([-np.logaddexp(0, -logit), -np.logaddexp(0, logit)])
        by_rater = np.zeros((2, RATERS))
        for c in range(2):
            np.add.at(by_rater[c], W, log_likelihoods("davidson", s[c][A] - s[c][B], t[c]))
        return np.logaddexp(*(share[:, None] + by_rater)).sum() - PENALTY * ((s**2).sum() + (t**2).sum())

    start = [0.0, 0.3, 0.6, 0.9, 1.2, 1.2, 0.9, 0.6, 0.3, 0.0, -0.4, -0.4, 0.5]
    p = maximise(objective, start)
    s, t, logit = parts(p)
    shares = [1 / (1 + math.exp(-logit)), 1 / (1 + math.exp(logit))]
    for rank, c in enumerate(np.argsort(shares)[::-1]):
        for k in range(THINGS):
            keep("camps", method, "", f"camp{rank + 1}:m{k}", s[c][k] - s[c].mean())


OUT.mkdir(parents=True, exist_ok=True)
linear("half", "half")
linear("davidson", "davidson")
linear("rao-kupper", "rao-kupper")
linear("davidson covariates", "davidson", position=True, length=True)
linear("rao-kupper covariates", "rao-kupper", position=True, length=True)
linear("half covariates", "half", position=True, length=True)
annotators()
camps()
with open(OUT / "pairs.csv", "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([("task", "a", "b", "judge", "winner", "la", "lb"), *ROWS])
with open(OUT / "peers.csv", "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([("case", "method", "covariates", "name", "value"), *found])
