#!/usr/bin/env python3
"""Compares the predictions of `dissent plan` with thinned real crowds, and with simulated crowds whose truth is known.

    bench/truth/plan.py build/dissent --data FOLDER [--studies 40] [--only width|power|labels|simulated|split]

A study draws items of a crowd with replacement, and a few of the votes on each. Models are simulated: one gives the most
frequent answer of the crowd to a share of the items, and a random class to the others.

width      half width of 95 % intervals: mean over studies, as `agree` and `judge certify` print it (a class share and a
           difference of two models: the same interval, computed here), and the prediction from the whole crowd and from
           pilots of 100 items with 3 votes
power      share of studies whose interval of the difference of two models excludes 0
labels     accuracy of majority labels
simulated  designs with 6 to 40 annotators: crowds with known variances are drawn anew for each study, so the spread of
           estimates is known as well
split      half width of the prediction-powered share that `panel` prints
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

CROWDS = {
    "RTE": "rte_snow/annotations.csv",
    "bluebird": "benchmarks/bluebird/annotations.csv",
    "dog": "benchmarks/dog/annotations.csv",
    "sentiment": "benchmarks/d_sentiment/annotations.csv",
    "product": "benchmarks/d_jn-product/annotations.csv",
    "popquorn": "popquorn/annotations.csv",
    "toxicity": "toxicity_pipa/annotations.csv",
    "temporal": "snow2008/annotations_temp.csv",
    "MD-Agreement": "lewidi2023/MD-Agreement/annotations.csv",
}
DESIGNS = [(60, 3), (100, 5), (300, 3)]
PILOT = (100, 3)


class Crowd:
    """Votes grouped by item, and two simulated models."""

    def __init__(self, path, rng):
        with open(path, newline="") as f:
            rows = {(r["task"], r["worker"]): r["label"] for r in csv.DictReader(f)}
        labels = sorted(set(rows.values()))
        tasks, workers = {}, {}
        items = {}
        for (t, w), label in rows.items():
            items.setdefault(tasks.setdefault(t, len(tasks)), []).append((workers.setdefault(w, len(workers)), labels.index(label)))
        self.votes = [np.array(items[i]) for i in range(len(tasks))]
        self.n_classes = len(labels)
        self.majority = np.array([np.bincount(v[:, 1]).argmax() for v in self.votes])
        self.models = [self.model(rng, a) for a in (0.85, 0.75)]
        gold = path.replace("annotations", "gold")
        self.gold = None
        if os.path.exists(gold):
            with open(gold, newline="") as f:
                known = {r["task"]: r["label"] for r in csv.DictReader(f)}
            self.gold = np.array([labels.index(known[t]) if known.get(t) in labels else -1 for t in tasks])

    def model(self, rng, accuracy):
        n = len(self.majority)
        return np.where(rng.random(n) < accuracy, self.majority, rng.integers(0, self.n_classes, n))

    def study(self, rng, n_items, n_votes):
        """Item, worker and label of each vote, the items' numbers in the crowd; None: not enough items."""
        able = [i for i, v in enumerate(self.votes) if len(v) >= n_votes]
        if len(able) < min(n_items, 50):
            return None
        drawn = rng.choice(able, n_items)
        votes = np.concatenate([self.votes[i][rng.choice(len(self.votes[i]), n_votes, replace=False)] for i in drawn])
        return np.repeat(np.arange(n_items), n_votes), votes[:, 0], votes[:, 1], drawn

    def all_votes(self):
        drawn = np.arange(len(self.votes))
        votes = np.concatenate(self.votes)
        return np.repeat(drawn, [len(v) for v in self.votes]), votes[:, 0], votes[:, 1], drawn


def effective(worker):
    n = np.bincount(worker)
    return float(n.sum() ** 2 / (n * n).sum())


def student(df):
    """The critical value of a two-sided test of level .05 (Cornish and Fisher's expansion)."""
    z = 1.959963984540054
    return z + (z**3 + z) / (4 * df) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df**2) + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * df**3)


def crossed(item, worker, value):
    """Mean over items, and half width of its interval for new items and annotators (docs/reference/judge-formulas.md)."""
    n_items = item.max() + 1
    weight = 1 / np.bincount(item)[item] / n_items
    mean = float((weight * value).sum())
    influence = weight * (value - mean)
    n_votes = np.bincount(worker)
    people = int((n_votes > 0).sum())
    items = float((np.bincount(item, influence) ** 2).sum()) * n_items / (n_items - 1)
    annotators = float((np.bincount(worker, influence) ** 2).sum()) * people / (people - 1)
    votes = float((influence**2).sum())
    a = effective(worker)
    df_a = max(a - 2 - 4 / a, min(a - 1, 2))
    total = max(annotators + items - votes, items, annotators / 2)
    df = min(max((annotators + items) ** 2 / (annotators**2 / max(df_a, 1) + items**2 / (n_items - 1)), df_a, 1), 3 * max(df_a, 1))
    return mean, student(df) * np.sqrt(total)


class Tool:
    def __init__(self, path):
        self.path = os.path.abspath(path)
        self.folder = tempfile.TemporaryDirectory()

    def file(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, crowd, study, models=(), name="votes.csv"):
        item, worker, label, drawn = study
        with open(self.file(name), "w", newline="") as f:
            out = csv.writer(f)
            out.writerow(("task", "worker", "label"))
            out.writerows((f"t{i}", f"p{w}", f"c{k}") for i, w, k in zip(item, worker, label))
            for m in models:
                out.writerows((f"t{i}", f"model{m}", f"c{crowd.models[m][d]}") for i, d in enumerate(drawn))
        return self.file(name)

    def run(self, *arguments):
        done = subprocess.run([self.path, *map(str, arguments), "-q"], capture_output=True, text=True)
        if done.returncode not in (0, 7):
            sys.exit(f"{' '.join(map(str, arguments))}\n{done.stderr}")
        return done.stdout

    def plan(self, votes, metric, n_items, annotators, n_votes, *more):
        """The designs of a plan; from stated figures without votes."""
        self.run("plan", *([votes] if votes else []), "--metric", metric, "--items", n_items, "--annotators", annotators,
                 "--votes-per-item", n_votes, *more, "--json", self.file("plan.json"))
        with open(self.file("plan.json")) as f:
            return json.load(f)


def metrics(crowd):
    return {
        "share": (lambda i, k: k == 0, ["--class-name", "c0"], ()),
        "judge": (None, ["--judge", "model0"], (0,)),
        "difference": (lambda i, k: (crowd.models[0][i] == k) * 1.0 - (crowd.models[1][i] == k), ["--judge", "model0", "--second-judge", "model1"], (0, 1)),
        "alpha": (None, [], ()),
        "percent": (None, [], ()),
    }


def printed(tool, crowd, metric, study):
    """Half width of the interval that the tool prints for a study."""
    if metric == "judge":
        tool.run("judge", "certify", tool.write(crowd, study, (0,)), "--judge", "model0", "-o", tool.file("judge.json"))
        with open(tool.file("judge.json")) as f:
            figure = json.load(f)["coefficients"][0]["judge"]
    else:
        tool.run("agree", tool.write(crowd, study), "--resamples", 300, "--json", tool.file("agree.json"))
        with open(tool.file("agree.json")) as f:
            figure = json.load(f)["metrics"][{"alpha": "alpha_nominal"}.get(metric, metric)]
    if figure.get("ci_low") is None:
        return np.nan
    return (figure["ci_high"] - figure["ci_low"]) / 2


def half_width(tool, crowd, metric, study):
    value = metrics(crowd)[metric][0]
    if value is None:
        return printed(tool, crowd, metric, study)
    item, worker, label, drawn = study
    return crossed(item, worker, value(drawn[item], label) * 1.0)[1]


def predicted(tool, crowd, metric, pilot, design, annotators):
    _, options, models = metrics(crowd)[metric]
    plan = tool.plan(tool.write(crowd, pilot, models), metric, design[0], annotators, design[1], *options)
    return plan["designs"][0]["half_width"]


def width(tool, crowds, n_studies):
    ratios = {}
    print(f"{'crowd':14s}{'metric':12s}{'items':>6s}{'votes':>6s}{'people':>7s}{'printed':>9s}{'crowd':>7s}{'pilots':>7s}{'spread':>7s}")
    for number, (name, crowd) in enumerate(crowds.items()):
        for metric in metrics(crowd):
            for design in DESIGNS:
                rng = np.random.default_rng((1, number, *design))
                studies = [crowd.study(rng, *design) for _ in range(n_studies)]
                pilots = [crowd.study(rng, *PILOT) for _ in range(max(1, n_studies // 2))]
                if studies[0] is None or pilots[0] is None:
                    continue
                annotators = max(5, round(np.mean([effective(s[1]) for s in studies])))
                real = np.nanmean([half_width(tool, crowd, metric, s) for s in studies])
                best = predicted(tool, crowd, metric, crowd.all_votes(), design, annotators) / real
                small = np.array([predicted(tool, crowd, metric, p, design, annotators) for p in pilots]) / real
                ratios.setdefault(metric, []).append((best, small.mean(), small.std()))
                print(f"{name:14s}{metric:12s}{design[0]:6d}{design[1]:6d}{annotators:7d}{real:9.4f}{best:7.2f}{small.mean():7.2f}{small.std():7.2f}", flush=True)
    for metric, rows in ratios.items():
        rows = np.array(rows)
        for column, source in enumerate(("whole crowd", "pilots, mean")):
            inside = np.mean(np.abs(rows[:, column] - 1) <= 0.1)
            print(f"{metric:12s}{source:14s} ratio {rows[:, column].min():.2f} to {rows[:, column].max():.2f}, median {np.median(rows[:, column]):.2f}; within 10 %: {100 * inside:.0f} % of {len(rows)}")
        print(f"{metric:12s}one pilot      standard deviation of the ratio: median {np.median(rows[:, 2]):.2f}")


def power(tool, crowds, n_studies):
    errors = []
    for number, (name, crowd) in enumerate(crowds.items()):
        item, _, label, drawn = crowd.all_votes()
        value = metrics(crowd)["difference"][0]
        for design in ((100, 3), (200, 3), (200, 5)):
            rng = np.random.default_rng((2, number, *design))
            studies = [crowd.study(rng, *design) for _ in range(8 * n_studies)]
            if studies[0] is None:
                continue
            able = [i for i, v in enumerate(crowd.votes) if len(v) >= design[1]]
            true = np.mean([value(i, crowd.votes[i][:, 1]).mean() for i in able])
            found = []
            for s in studies:
                mean, reach = crossed(s[0], s[1], value(s[3][s[0]], s[2]) * 1.0)
                found.append(mean - reach > 0)
            annotators = max(5, round(np.mean([effective(s[1]) for s in studies])))
            plan = tool.plan(tool.write(crowd, crowd.all_votes(), (0, 1)), "difference", design[0], annotators, design[1],
                             "--judge", "model0", "--second-judge", "model1", "--effect", abs(true))
            expected = plan["designs"][0]["power"]
            errors.append(expected - np.mean(found))
            print(f"{name:14s} {design[0]} items, {design[1]} votes, difference {true:.3f}: power {np.mean(found):.2f}, predicted {expected:.2f}", flush=True)
    print(f"power: predicted minus realised {min(errors):+.2f} to {max(errors):+.2f}; within .10: {sum(abs(e) <= 0.1 for e in errors)} of {len(errors)}")


def labels(tool, crowds, n_studies):
    errors = []
    for number, (name, crowd) in enumerate(crowds.items()):
        known = np.flatnonzero(crowd.gold >= 0) if crowd.gold is not None else []
        if len(known) < 100 or name == "MD-Agreement":  # its gold labels are the majority of the same votes
            continue
        rng = np.random.default_rng((3, number))
        for votes in (1, 3, 5, 7):
            able = [i for i in known if len(crowd.votes[i]) >= max(votes, PILOT[1])]
            if len(able) < 50:
                continue
            real = []
            for _ in range(n_studies):
                right = 0.0
                for i in rng.choice(able, 300):
                    v = crowd.votes[i]
                    count = np.bincount(v[rng.choice(len(v), votes, replace=False), 1], minlength=crowd.n_classes)
                    right += (count[crowd.gold[i]] == count.max()) / np.sum(count == count.max())
                real.append(right / 300)
            guesses = []
            for _ in range(max(1, n_studies // 2)):
                drawn = rng.choice(able, PILOT[0])
                pilot = np.concatenate([crowd.votes[i][rng.choice(len(crowd.votes[i]), PILOT[1], replace=False)] for i in drawn])
                study = (np.repeat(np.arange(PILOT[0]), PILOT[1]), pilot[:, 0], pilot[:, 1], drawn)
                path = tool.write(crowd, study)
                with open(tool.file("gold.csv"), "w", newline="") as f:
                    csv.writer(f).writerows([("task", "label"), *((f"t{i}", f"c{crowd.gold[d]}") for i, d in enumerate(drawn) if crowd.gold[d] in pilot[:, 1])])
                plan = tool.plan(path, "labels", 100, 20, votes, "--gold", tool.file("gold.csv"))
                guesses.append(plan["designs"][0]["value"])
            errors.append(np.mean(guesses) - np.mean(real))
            print(f"{name:14s} {votes} votes: accuracy {np.mean(real):.3f}, predicted {np.mean(guesses):.3f} (sd of one pilot {np.std(guesses):.3f})", flush=True)
    print(f"labels: predicted minus realised {min(errors):+.3f} to {max(errors):+.3f}")


def simulated(tool, n_studies):
    """A class share of .4 with known variances: every study has new items and new annotators."""
    designs = ((6, 100, 3), (10, 200, 2), (20, 100, 5), (40, 400, 3))
    for given, (people, n_items, n_votes) in [(s, d) for s in (0.05, 0.2, None) for d in designs]:
        rng = np.random.default_rng((4, people, n_items))
        widths, guesses, means = [], [], []
        for _ in range(20 * n_studies):
            part = 0.15 * (u := rng.uniform(0, 0.53)) / (1 - u)  # of the annotators, as in real crowds (the prior of a plan)
            spread = np.sqrt(3 * 0.24 * part) if given is None else given
            item = np.repeat(np.arange(n_items), n_votes)
            worker = np.concatenate([rng.choice(people, n_votes, replace=False) for _ in range(n_items)])
            p = 0.4 + 0.4 * (rng.beta(0.6, 0.6, n_items)[item] - 0.5) + spread * rng.uniform(-1, 1, people)[worker]
            label = (rng.random(len(p)) < p) * 1
            mean, reach = crossed(item, worker, label * 1.0)
            widths.append(reach)
            means.append(mean)
            if len(guesses) < n_studies:
                study = (item, worker, 1 - label, np.arange(n_items))
                path = tool.write(None, study)
                guesses.append(tool.plan(path, "share", n_items, people, n_votes, "--class-name", "c0")["designs"][0]["half_width"])
        inside = np.mean(np.abs(np.array(means) - 0.4) <= widths)
        print(f"annotators +-{given or 'as in real crowds'}, {people} people, {n_items} items, {n_votes} votes: half width {np.mean(widths):.4f}, predicted {np.mean(guesses):.4f} "
              f"(ratio {np.mean(guesses) / np.mean(widths):.2f}); the intervals hold in {100 * inside:.1f} %", flush=True)


def split(tool, crowds, n_studies):
    for number, (name, crowd) in enumerate(crowds.items()):
        rng = np.random.default_rng((5, number))
        budget, cost = 600, 0.05
        pilot = crowd.study(rng, 200, 3)
        plan = tool.plan(tool.write(crowd, pilot, (0,)), "share", 100, max(5, round(effective(pilot[1]))), 3, "--judge", "model0",
                         "--class-name", "c0", "--budget", budget, "--judge-cost", cost)
        if "split" not in plan or pilot is None:
            continue
        n, more = plan["split"]["people_items"], plan["split"]["judge_items"]
        real, alone = [], []
        for _ in range(n_studies):
            item, worker, label, drawn = crowd.study(rng, n, 3)
            drawn = np.concatenate([drawn, rng.choice(len(crowd.votes), more)])
            path = tool.write(crowd, (item, worker, label, drawn), (0,))
            tool.run("judge", "certify", path, "--judge", "model0", "-o", tool.file("judge.json"))
            with open(tool.file("judge.json")) as f:
                rates = json.load(f)["rates"]
            figure = next(r for r in rates if r["class"] == "c0")["prediction_powered"]
            if figure.get("ci_low") is None:
                continue
            real.append((figure["ci_high"] - figure["ci_low"]) / 2)
            other = crowd.study(rng, plan["split"]["people_items_only"], 3)
            alone.append(crossed(other[0], other[1], (other[2] == 0) * 1.0)[1])
        print(f"{name:14s} {n} items of people, {more} of the judge: half width {np.mean(real):.4f}, predicted {plan['split']['half_width']:.4f}; "
              f"people alone {np.mean(alone):.4f}, predicted {plan['split']['half_width_people']:.4f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", help="the dissent executable")
    parser.add_argument("--data", help="folder with the crowds")
    parser.add_argument("--studies", type=int, default=40)
    parser.add_argument("--only", choices=["width", "power", "labels", "simulated", "split"])
    o = parser.parse_args()
    tool = Tool(o.tool)
    crowds = {}
    for number, (name, file) in enumerate(CROWDS.items()):
        path = os.path.join(o.data or "", file)
        if o.data and os.path.exists(path):
            crowds[name] = Crowd(path, np.random.default_rng((0, number)))
    if not crowds and o.only != "simulated":
        print("skipped: no crowds; give --data FOLDER")
    if o.only in (None, "simulated"):
        simulated(tool, o.studies)
    for part in (width, power, labels, split):
        if crowds and o.only in (None, part.__name__):
            part(tool, crowds, o.studies)


if __name__ == "__main__":
    main()
