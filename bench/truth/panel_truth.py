#!/usr/bin/env python3
"""Simulates people and judges with known truth and measures what `panel` reports about them.

    PYTHONPATH=build/python bench/truth/panel_truth.py [--runs N] [--part NAME] [--json FILE]

Parts: effective (bias of the effective number of judges), chance (false passes of random and constant judges), rates
(bias and coverage of corrected class shares), copies (false alarms and power of the copy test), labelled (false alarms
and power of the warning about labelled items), likeness (how often a good judge passes the alternative-annotator test).
One line per setting; docs/evidence/panel.md has the figures and the number of runs of each."""

from __future__ import annotations

import argparse
import json
import sys

import numpy as np

import dissent

PRIORS = {2: [0.5, 0.5], 4: [0.25, 0.25, 0.25, 0.25]}
SKEWED = {2: [0.9, 0.1], 4: [0.7, 0.1, 0.1, 0.1]}


def answer(rng, truth, accuracy, classes):
    """The truth with the given probability (one or one per item), else another class at random."""
    wrong = (truth + 1 + rng.integers(classes - 1, size=len(truth))) % classes
    return np.where(rng.random(len(truth)) < accuracy, truth, wrong)


def people_votes(rng, truth, classes, accuracy, n_people=8, per_item=3, spread=0.0):
    """(item, worker, label) rows and a matrix (people, items) with -1 for no vote."""
    n = len(truth)
    skills = np.clip(np.asarray(accuracy) + spread * rng.uniform(-1, 1, (n_people, 1)), 0.34, 0.995)
    answers = np.stack([answer(rng, truth, s, classes) for s in np.broadcast_to(skills, (n_people, n))])
    if per_item < n_people:
        answers[np.argsort(rng.random((n_people, n)), axis=0) >= per_item] = -1
    return answers


def rows_of(people, judges, labelled=None):
    rows = []
    for h, answers in enumerate(people):
        keep = answers >= 0 if labelled is None else (answers >= 0) & labelled
        rows += [(int(i), f"p{h}", int(answers[i])) for i in np.flatnonzero(keep)]
    for j, answers in enumerate(judges):
        rows += [(i, f"m{j}", int(x)) for i, x in enumerate(answers)]
    return rows


def measure(people, judges, labelled=None, **options):
    return dissent.panel(rows_of(people, judges, labelled), [f"m{j}" for j in range(len(judges))], n_jobs=1, **options)


def judges_of(rng, truth, classes, n=4, accuracy=0.8, shared=0.0):
    """Judges with independent errors, a part of which (`shared`) is common to all."""
    common = answer(rng, truth, accuracy, classes)
    return [np.where(rng.random(len(truth)) < shared, common, answer(rng, truth, accuracy, classes)) for _ in range(n)]


def worth(errors):
    r = np.corrcoef(errors)
    n = len(errors)
    mean = (r.sum() - n) / (n * (n - 1))
    return n / (1 + (n - 1) * max(0.0, mean))


# ---- parts: each yields (setting, figures) ----


def effective(runs):
    for classes, prior in ((2, PRIORS), (4, PRIORS), (2, SKEWED), (4, SKEWED)):
        for items in (100, 400, 2000):
            for shared in (0.0, 0.7):
                for accuracy in (0.55, 0.7, 0.8, 0.9, 0.99):
                    answers, truths, held = [], [], []
                    for seed in range(runs):
                        rng = np.random.default_rng([1, seed, items, classes])
                        truth = rng.choice(classes, items, p=prior[classes])
                        judges = judges_of(rng, truth, classes, shared=shared)
                        found = measure(people_votes(rng, truth, classes, accuracy), judges)
                        truths.append(worth([(j != truth).astype(float) for j in judges]))
                        if found.effective.value is not None:
                            answers.append(found.effective.value)
                            held.append(found.effective.ci_low <= truths[-1] <= found.effective.ci_high + 1e-9)
                    name = {"classes": classes, "skewed": prior is SKEWED, "items": items, "shared": shared, "accuracy": accuracy}
                    yield name, {"true": np.mean(truths), "mean": mean(answers), "reported": len(answers) / runs, "coverage": mean(held)}


def chance(runs):
    """People vote at random (accuracy 1 / classes) or with .55 and more; judges at random, constant, biased."""
    for classes, prior in ((2, PRIORS), (4, PRIORS), (2, SKEWED), (4, SKEWED)):
        for items in (60, 200, 600):
            for accuracy in ("random", 0.55, 0.8, 0.95):
                count = dict.fromkeys(("noise", "random", "constant", "passed_random", "passed_constant", "said_constant"), 0)
                for seed in range(runs):
                    rng = np.random.default_rng([2, seed, items, classes])
                    truth = rng.choice(classes, items, p=prior[classes])
                    seen = rng.choice(classes, items, p=prior[classes]) if accuracy == "random" else truth
                    people = people_votes(rng, seen, classes, 0.5 if accuracy == "random" else accuracy)
                    if accuracy == "random":
                        people = np.where(people >= 0, rng.choice(classes, people.shape, p=prior[classes]), -1)
                    judges = [rng.choice(classes, items, p=prior[classes]), np.full(items, 0)]
                    found = measure(people, judges)
                    count["noise"] += found.unknown is not None
                    for j, name in enumerate(("random", "constant")):
                        count[name] += bool(found.models["above_chance"].tolist()[j])
                        count["passed_" + name] += bool(found.models["passed"].tolist()[j])
                    corrected = np.asarray(found.rates["rogan_gladen"], dtype=float)[classes : 2 * classes]
                    count["said_constant"] += bool(np.isfinite(corrected).any())
                yield {"classes": classes, "skewed": prior is SKEWED, "items": items, "people": accuracy}, {k: v / runs for k, v in count.items()}


def rates(runs):
    """Coverage of the share of class 0 among people's answers, for these and for other people; raw bias of ties."""
    for classes in (2, 4):
        for items in (300, 2000):
            for n_people, spread in ((3, 0.0), (12, 0.0), (12, 0.25), (40, 0.25)):
                held = {k: [] for k in ("people", "powered", "rogan_gladen", "bias")}
                width, ties = {k: [] for k in held}, []
                for seed in range(runs):
                    rng = np.random.default_rng([3, seed, items, n_people])
                    truth = rng.choice(classes, items, p=SKEWED[classes])
                    # Each person over-reports class 0 by an amount of their own.
                    lean = spread * rng.random(n_people)
                    base = people_votes(rng, truth, classes, 0.85, n_people, 3)
                    turned = (rng.random(base.shape) < lean[:, None]) & (base >= 0)
                    people = np.where(turned, 0, base)
                    judges = judges_of(rng, truth, classes, n=2, accuracy=0.75)
                    found = measure(people, judges, rng.random(items) < 0.4)
                    p0, q0 = 0.85, 0.15 / (classes - 1)
                    share = SKEWED[classes][0] * p0 + (1 - SKEWED[classes][0]) * q0
                    mean_lean = spread / 2
                    target = mean_lean + (1 - mean_lean) * share
                    answers = SKEWED[classes][0] * 0.75 + (1 - SKEWED[classes][0]) * 0.25 / (classes - 1)
                    for k in held:
                        value, low, high = (np.asarray(found.rates[c], dtype=float)[0] for c in (k, k + "_ci_low", k + "_ci_high"))
                        if np.isfinite(value):
                            held[k].append(low <= (answers - target if k == "bias" else target) <= high)
                            width[k].append(high - low)
                    raw = np.asarray(found.rates["raw"], dtype=float)[2 * classes]
                    ties.append(raw - np.mean([np.mean(j == 0) for j in judges]))
                figures = {f"{k}_coverage": mean(v) for k, v in held.items()}
                figures.update({f"{k}_width": mean(width[k]) for k in ("people", "powered", "rogan_gladen")})
                yield {"classes": classes, "items": items, "people": n_people, "spread": spread}, {**figures, "tie_bias": mean(ties)}


def copies(runs):
    """Judge 0 is independent, judge 1 copies a part of the votes of person 0, judge 2 of the majority."""
    for classes in (2, 4):
        for items in (100, 400, 2000):
            for accuracy in (0.7, 0.8, 0.9):
                for kind in ("plain", "hard items", "unequal people"):
                    for copied in (0.0, 0.8, 1.0):
                        alarms, person, majority, tested = 0, 0, 0, 0
                        for seed in range(runs):
                            rng = np.random.default_rng([4, seed, items, classes])
                            truth = rng.choice(classes, items, p=PRIORS[classes])
                            hard = rng.random(items) < (0.3 if kind == "hard items" else 0)
                            level = np.where(hard, 0.5 * (accuracy + 1 / classes), accuracy)
                            people = people_votes(rng, truth, classes, level, 5, 4, 0.15 if kind == "unequal people" else 0)
                            judges = [answer(rng, truth, np.where(hard, 0.6, 0.9), classes) for _ in range(3)]
                            if copied:
                                count = np.stack([(people == k).sum(axis=0) for k in range(classes)])
                                is_copied = rng.random(items) < copied
                                judges[1] = np.where(is_copied & (people[0] >= 0), people[0], judges[1])
                                judges[2] = np.where(is_copied, count.argmax(axis=0), judges[2])
                            found = measure(people, judges)
                            named = dict(zip(np.asarray(found.copies["model"]).tolist(), np.asarray(found.copies["source"]).tolist()))
                            tested += found.copies_tested
                            alarms += "m0" in named if copied else bool(named)
                            person += named.get("m1", "") == "p0"
                            majority += "m2" in named and named["m2"] is None
                        name = {"classes": classes, "items": items, "accuracy": accuracy, "kind": kind, "copied": copied}
                        figures = {"tested": tested / runs, "false_alarms": alarms / runs}
                        if copied:
                            figures.update({"named_person": person / runs, "named_majority": majority / runs})
                        yield name, figures


def labelled(runs):
    for classes in (2, 4):
        for items in (200, 600, 2000):
            for first in ("random", "hard", "class"):
                warned, held = 0, []
                for seed in range(runs):
                    rng = np.random.default_rng([5, seed, items, classes])
                    truth = rng.choice(classes, items, p=PRIORS[classes])
                    hard = rng.random(items) < 0.4
                    shown = np.where(hard & (rng.random(items) < 0.5), 0, truth)  # hard items look like class 0 to judges
                    key = {"random": rng.random(items), "hard": 1.0 - hard + 0.5 * rng.random(items), "class": (truth != 0) + 2 * rng.random(items)}[first]
                    part = np.argsort(np.argsort(key)) < 0.3 * items
                    people = people_votes(rng, truth, classes, 0.9)
                    judges = [answer(rng, shown, np.where(hard, 0.6, 0.9), classes) for _ in range(3)]
                    found = measure(people, judges, part)
                    warned += bool(found.labelled_differ)
                    target = 0.9 / classes + (1 - 1 / classes) * 0.1 / (classes - 1)
                    low, high = (np.asarray(found.rates[c], dtype=float)[3 * classes] for c in ("powered_ci_low", "powered_ci_high"))
                    held.append(low <= target <= high)
                yield {"classes": classes, "items": items, "labelled": first}, {"warned": warned / runs, "coverage": mean(held)}


def likeness(runs):
    """People share errors on some items; the judge is as accurate as they are but has errors of its own."""
    for items in (60, 200, 600):
        for own in (True, False):
            passed = 0
            for seed in range(runs):
                rng = np.random.default_rng([6, seed, items])
                truth = rng.choice(2, items)
                seen = answer(rng, truth, 0.85, 2)  # what the item looks like to people
                people = people_votes(rng, seen, 2, 0.95, 5, 3)
                accuracy = 0.85 * 0.95 + 0.15 * 0.05
                judge = answer(rng, truth, accuracy, 2) if own else answer(rng, seen, 0.95, 2)
                found = measure(people, [judge])
                passed += bool(found.models["passed"].tolist()[0])
            yield {"items": items, "errors": "own" if own else "shared with people"}, {"passed": passed / runs}


PARTS = {f.__name__: f for f in (effective, chance, rates, copies, labelled, likeness)}


def mean(values):
    return float(np.mean(values)) if len(values) else None


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--runs", type=int, default=100)
    args.add_argument("--part", choices=PARTS, action="append")
    args.add_argument("--json")
    args = args.parse_args()
    everything = {}
    for name in args.part or PARTS:
        print(f"== {name}, {args.runs} runs per line")
        everything[name] = []
        for setting, figures in PARTS[name](args.runs):
            everything[name].append({**setting, **figures})
            shown = "  ".join(f"{k} {'-' if v is None else format(v, '.3f')}" for k, v in figures.items())
            print("  ".join(f"{k} {v}" for k, v in setting.items()), "|", shown, flush=True)
    if args.json:
        with open(args.json, "w") as f:
            json.dump(everything, f, indent=1)


if __name__ == "__main__":
    sys.exit(main())
