#!/usr/bin/env python3
"""Measures the error rates of `dissent judge` on simulated crowds whose truth is known.

    bench/truth/judge.py build/dissent [--crowds 400]

coverage   share of 95 % intervals of `certify` that contain the population value, with 100 and 400 labelled items:
           new items and new annotators are drawn for each crowd
drift      share of crowds without a change in which `check` reports one, where every item of 1,000 is a look (50 looks
           of 20 items are a part of these), and after a drop of kappa by .10 the number of items until it is reported.
           A test of fixed size with the same level and the same information (the certificate is uncertain, too) is
           compared: its power with so many items, and the items that it needs for the power of `check`
noise      share of crowds in which people answer at random and a judge is certified with `--min-kappa .1`
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from statistics import NormalDist

import numpy as np

CLASSES = ["a", "b", "c"]


def confusion(accuracy, n):
    matrix = np.full((n, n), (1 - accuracy) / (n - 1))
    np.fill_diagonal(matrix, accuracy)
    return matrix


class Crowd:
    """Annotators whose accuracy varies, and a judge with one confusion matrix."""

    def __init__(self, prior, accuracy, spread, judge, people, votes):
        self.prior = np.array(prior)
        self.accuracy, self.spread, self.judge = accuracy, spread, np.array(judge)
        self.people, self.votes = people, votes
        self.n = len(prior)

    def truth(self):
        """Population values of the coefficients, and of the bias of the first class."""
        person = confusion(self.accuracy, self.n)
        p, q = self.prior @ person, self.prior @ self.judge
        agree = float(np.sum(self.prior[:, None] * person * self.judge))
        pairs = float(np.sum(self.prior[:, None] * person * person))
        return {
            ("agreement", "judge"): agree,
            ("agreement", "people"): pairs,
            ("agreement", "difference"): agree - pairs,
            **{(name, "judge"): value for name, value in coefficients(agree, p, q).items()},
            **{(name, "people"): value for name, value in coefficients(pairs, p, p).items()},
            **{
                (name, "difference"): coefficients(agree, p, q)[name] - coefficients(pairs, p, p)[name]
                for name in ("kappa", "alpha", "ac1")
            },
            ("bias", "judge"): float(q[0] - p[0]),
            ("prediction_powered", "judge"): float(p[0]),
        }

    def draw(self, rng, n_items, n_unlabelled=0, judge=None):
        judge = self.judge if judge is None else np.array(judge)
        # A uniform spread stays within 0 .. 1 and has the mean exactly.
        accuracy = self.accuracy + self.spread * rng.uniform(-1, 1, self.people)
        rows = []
        truth = rng.choice(self.n, n_items + n_unlabelled, p=self.prior)
        for i, t in enumerate(truth):
            for w in rng.choice(self.people, self.votes, replace=False) if i < n_items else ():
                label = t if rng.random() < accuracy[w] else rng.choice([k for k in range(self.n) if k != t])
                rows.append((f"i{i}", f"p{w}", CLASSES[label]))
            rows.append((f"i{i}", "judge", CLASSES[rng.choice(self.n, p=judge[t])]))
        return rows


def coefficients(a, p, q):
    pi, n = (p + q) / 2, len(p)
    chance = float(p @ q)
    spread = float(np.sum(pi * (1 - pi))) / (n - 1)
    expected = 1 - float(np.sum(pi * pi))
    return {"kappa": (a - chance) / (1 - chance), "alpha": 1 - (1 - a) / expected, "ac1": (a - spread) / (1 - spread)}


CROWDS = {
    "three classes, 12 people": Crowd([0.5, 0.3, 0.2], 0.8, 0.15, confusion(0.8, 3), 12, 3),
    "three classes, 40 people": Crowd([0.5, 0.3, 0.2], 0.75, 0.1, confusion(0.85, 3), 40, 3),
    "skewed, biased judge, 20 people": Crowd([0.85, 0.15], 0.88, 0.1, [[0.8, 0.2], [0.1, 0.9]], 20, 2),
}


class Tool:
    def __init__(self, path):
        self.path = os.path.abspath(path)
        self.folder = tempfile.TemporaryDirectory()

    def file(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, rows):
        with open(self.file(name), "w", newline="") as f:
            csv.writer(f).writerows([("task", "worker", "label"), *rows])
        return self.file(name)

    def run(self, *arguments):
        done = subprocess.run([self.path, "judge", *arguments, "-q"], capture_output=True, text=True)
        if done.returncode not in (0, 7):
            sys.exit(done.stderr)
        return done.returncode


def coverage(tool, crowd, n_items, n_crowds, seed):
    truth, inside, counted = crowd.truth(), {}, {}
    for x in range(n_crowds):
        rows = crowd.draw(np.random.default_rng((seed, x)), n_items, n_unlabelled=n_items)
        votes, out = tool.write("votes.csv", rows), tool.file("certificate.json")
        tool.run("certify", votes, "--judge", "judge", "-o", out, "--classes", ",".join(CLASSES[: crowd.n]))
        result = json.load(open(out))
        figures = {(c["name"], part): c[part] for c in result["coefficients"] for part in ("judge", "people", "difference")}
        figures["bias", "judge"] = result["rates"][0]["bias"]
        figures["prediction_powered", "judge"] = result["rates"][0]["prediction_powered"]
        for key, m in figures.items():
            if m.get("ci_low") is None:
                continue
            counted[key] = counted.get(key, 0) + 1
            inside[key] = inside.get(key, 0) + (m["ci_low"] <= truth[key] <= m["ci_high"])
    for key in truth:
        if counted.get(key):
            print(f"  {n_items:4d} items  {key[0]:>18s} {key[1]:<10s}  {100 * inside[key] / counted[key]:5.1f} %  of {counted[key]}")
        else:
            print(f"  {n_items:4d} items  {key[0]:>18s} {key[1]:<10s}  no interval")
    sys.stdout.flush()


def first_alarm(tool, certificate, rows, n_items):
    """The number of items at the first alarm, by bisection: an alarm stays."""

    def alarm(n):
        names = {f"i{i}" for i in range(n)}
        return tool.run("check", certificate, tool.write("later.csv", [r for r in rows if r[0] in names]), "--judge", "judge") == 7

    if not alarm(n_items):
        return None
    low, high = 0, n_items
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if alarm(middle) else (middle, high)
    return high


LEVEL = 0.03  # of the agreement: .6 of .05


def shares(rows):
    """The share of people's votes that equal the judge's answer, for each item in the order of the rows."""
    answer = {task: label for task, worker, label in rows if worker == "judge"}
    votes = {}
    for task, worker, label in rows:
        if worker != "judge":
            votes.setdefault(task, []).append(label == answer[task])
    return np.array([np.mean(v) for v in votes.values()])


def fixed_size(certificate, x):
    """z of the drop after 1, 2, ... items, with the variances of `check`; new people as many as in the certificate."""
    base = json.load(open(certificate))["baselines"]["agreement"]
    n, items = base["n"], base["item_variance"]
    fixed = base["variance"] + max(0, base["variance"] - items / n)
    t = np.arange(1, len(x) + 1)
    mean, square = np.cumsum(x - base["mean"]) / t, np.cumsum((x - base["mean"]) ** 2)
    own = (square - t * mean**2) / np.maximum(t - 1, 1)
    return -mean / np.sqrt((n * items + t * own) / (n + t) / t + fixed)


def drift(tool, crowd, n_certified, n_crowds, seed):
    alarms, found, z = 0, [], []
    # The accuracy of the judge at which kappa is .10 lower.
    kappa = crowd.truth()["kappa", "judge"]
    worse = next(
        a for a in np.arange(crowd.judge[0, 0], 0.3, -0.001)
        if Crowd(crowd.prior, crowd.accuracy, 0, confusion(a, crowd.n), 2, 2).truth()["kappa", "judge"] <= kappa - 0.1
    )
    after = Crowd(crowd.prior, crowd.accuracy, 0, confusion(worse, crowd.n), 2, 2).truth()
    drop = crowd.truth()["agreement", "judge"] - after["agreement", "judge"]
    for x in range(n_crowds):
        rng = np.random.default_rng((seed, x))
        certificate = tool.file("certificate.json")
        tool.run("certify", tool.write("votes.csv", crowd.draw(rng, n_certified)), "--judge", "judge", "-o", certificate)
        alarms += tool.run("check", certificate, tool.write("later.csv", crowd.draw(rng, 1000)), "--judge", "judge") == 7
        rows = crowd.draw(rng, 1500, judge=confusion(worse, crowd.n))
        z.append(fixed_size(certificate, shares(rows)))
        n = first_alarm(tool, certificate, rows, 1500)
        found.append(np.inf if n is None else n)
    found = np.array(found)
    power = (np.array(z) > NormalDist().inv_cdf(1 - LEVEL)).mean(0)
    power = np.convolve(power, np.ones(51) / 51, "valid")  # from 26 items on: a running mean
    detected = np.isfinite(found).mean()
    needed = next((k + 26 for k, p in enumerate(power) if p >= detected), None)
    median = np.median(found)
    print(f"  certificate of {n_certified} items: false alarms {100 * alarms / n_crowds:.1f} % of {n_crowds}")
    print(
        f"  drop of kappa by .10 (agreement by {drop:.3f}): found in {100 * detected:.1f} % within 1,500 items, after "
        f"{np.minimum(found, 1500).mean():.0f} on average, median {median:.0f}"
    )
    print(
        f"  test of fixed size: {needed} items for this power; with {median:.0f} items power "
        f"{100 * power[int(median) - 26]:.1f} %; with 1,475 items {100 * power[-1]:.1f} %"
    )
    sys.stdout.flush()


def noise(tool, n_crowds, seed):
    certified = 0
    for x in range(n_crowds):
        crowd = Crowd([0.6, 0.4], 0.5, 0, [[0.9, 0.1], [0.1, 0.9]], 10, 3)
        votes = tool.write("votes.csv", crowd.draw(np.random.default_rng((seed, x)), 200))
        certified += tool.run("certify", votes, "--judge", "judge", "--min-agreement", ".3") == 0
    print(f"  people at random, --min-agreement .3: certified in {100 * certified / n_crowds:.1f} % of {n_crowds} crowds")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", help="the dissent executable")
    parser.add_argument("--crowds", type=int, default=400)
    parser.add_argument("--only", choices=["coverage", "drift", "noise"])
    parser.add_argument("--certified", type=int, nargs="+", default=[400, 2000], help="items of the certificates of drift")
    o = parser.parse_args()
    tool = Tool(o.tool)
    if o.only in (None, "coverage"):
        for number, (name, crowd) in enumerate(CROWDS.items()):
            print(f"coverage: {name}")
            for n_items in (100, 400):
                coverage(tool, crowd, n_items, o.crowds, (1, number, n_items))
    if o.only in (None, "drift"):
        print("drift: three classes, 40 people")
        for n_certified in o.certified:
            drift(tool, CROWDS["three classes, 40 people"], n_certified, max(1, o.crowds // 2), (2, n_certified))
    if o.only in (None, "noise"):
        print("noise")
        noise(tool, o.crowds, 3)


if __name__ == "__main__":
    main()
