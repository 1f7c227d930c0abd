#!/usr/bin/env python3
"""Votes of every scale, made up, and what other programs say of them: tests/parity/fixtures/kinds.

    python -m venv v && v/bin/pip install numpy scipy nltk krippendorff choix && v/bin/python tests/parity/make_kinds_fixtures.py

peers.csv has a row per figure: file, name, value, program. MASI and Jaccard alpha and Cohen's kappa of places are nltk's,
interval and ratio alpha krippendorff's, scores of things choix', random effects and the thresholds and biases of an
ordinal model R's (lme4 and ordinal, left out where there is no Rscript)."""

import csv
import itertools
import random
import subprocess
import sys
from pathlib import Path

import choix
import krippendorff
import numpy as np
from nltk.metrics.agreement import AnnotationTask
from nltk.metrics.distance import jaccard_distance, masi_distance

OUT = Path(__file__).parent / "fixtures" / "kinds"
draw = random.Random(5)
peers = []


def write(name, head, rows):
    with open(OUT / name, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])


def write_value(file, name, value, program):
    peers.append((file, name, repr(float(value)), program))


def numeric():
    truth = {f"t{i}": draw.gauss(50, 10) for i in range(60)}
    bias = {f"w{w}": draw.gauss(0, 4) for w in range(8)}
    rows = [(t, w, round(x + bias[w] + draw.gauss(0, 5), 1)) for t, x in truth.items() for w in draw.sample(sorted(bias), 5)]
    write("numeric.csv", ("task", "worker", "label"), rows)
    table = np.full((len(bias), len(truth)), np.nan)
    for t, w, x in rows:
        table[sorted(bias).index(w), list(truth).index(t)] = x
    for level in ("interval", "ratio"):
        write_value("numeric.csv", f"alpha_{level}", krippendorff.alpha(table, level_of_measurement=level), "krippendorff")
    r_of("numeric.csv", """library(lme4); d <- read.csv(commandArgs(TRUE)[1])
m <- lmer(label ~ 1 + (1 | task) + (1 | worker), d, REML = FALSE)
v <- as.data.frame(VarCorr(m)); r <- ranef(m); f <- fixef(m)[[1]]
for (k in rownames(r$task)) cat("mean:", k, " ", f + r$task[k, 1], "\\n", sep = "")
for (k in rownames(r$worker)) cat("bias:", k, " ", r$worker[k, 1], "\\n", sep = "")
cat("item_sd ", v$sdcor[v$grp == "task"], "\\n", "bias_sd ", v$sdcor[v$grp == "worker"], "\\n", "noise_sd ", v$sdcor[v$grp == "Residual"], "\\n", sep = "")""", "lme4")


def ordinal():
    place = {f"t{i}": draw.uniform(0.2, 3.8) for i in range(150)}
    bias = {f"w{w}": draw.gauss(0, 0.5) for w in range(12)}
    rows = []
    for t, x in place.items():
        for w in draw.sample(sorted(bias), 5):
            rows.append((t, w, min(4, max(0, round(x + bias[w] + draw.gauss(0, 0.7)))) + 1))
    write("ordinal.csv", ("task", "worker", "label"), rows)
    r_of("ordinal.csv", """library(ordinal); d <- read.csv(commandArgs(TRUE)[1]); d$label <- factor(d$label)
m <- clmm(label ~ 1 + (1 | task) + (1 | worker), d, link = "probit"); r <- ranef(m)
for (k in rownames(r$worker)) cat("bias:", k, " ", r$worker[k, 1], "\\n", sep = "")
for (k in rownames(r$task)) cat("score:", k, " ", r$task[k, 1], "\\n", sep = "")""", "ordinal")


def sets():
    classes = ["joy", "fear", "anger", "none of it"]
    rows, votes = [], []
    for i in range(50):
        likely = {c: draw.random() ** 2 for c in classes}
        for w in draw.sample(range(6), 4):
            chosen = [c for c in classes if draw.random() < likely[c]]
            rows.append((f"t{i}", f"w{w}", "|".join(chosen)))
            votes.append((f"w{w}", f"t{i}", frozenset(chosen)))
    write("sets.csv", ("task", "worker", "label"), rows)
    no_empty = lambda d: lambda a, b: 0.0 if a == b else d(a, b)  # two empty sets are the same
    for name, distance in (("masi", masi_distance), ("jaccard", jaccard_distance)):
        write_value("sets.csv", f"alpha_{name}", AnnotationTask(votes, distance=no_empty(distance)).alpha(), "nltk")
    for c in classes:
        table = [(w, t, int(c in s)) for w, t, s in votes]
        write_value("sets.csv", f"alpha:{c}", AnnotationTask(table).alpha(), "nltk")


def pairs():
    score = {f"m{k}": draw.gauss(0, 1.2) for k in range(7)}
    rows, wins = [], []
    for q in range(60):
        for w in range(4):
            a, b = draw.sample(sorted(score), 2)
            first = draw.random() < 1 / (1 + np.exp((score[b] - score[a]) * (1 if w < 3 else 0.1)))
            rows.append((f"q{q}", a, b, a if first else b, f"w{w}"))
            wins.append((int((a if first else b)[1]), int((b if first else a)[1])))
    write("pairs.csv", ("task", "a", "b", "winner", "worker"), rows)
    found = choix.opt_pairwise(7, wins, alpha=0.01, method="Newton-CG", tol=1e-12)
    for k, x in enumerate(found - np.mean(found)):
        write_value("pairs.csv", f"score:m{k}", x, "choix")


def spans():
    rows, marks = [], {}
    for d in range(12):
        true = [(s, s + draw.randint(2, 8), draw.choice(["PER", "LOC"])) for s in (3, 20, 40) if draw.random() < 0.8]
        for w in range(3):
            mine = [(s + draw.choice([0, 0, 0, 1]), e, c if draw.random() < 0.85 else "LOC") for s, e, c in true if draw.random() < 0.85]
            rows += [(f"d{d}", f"w{w}", s, e, c) for s, e, c in mine] or [(f"d{d}", f"w{w}", "", "", "")]
            marks[d, w] = mine
    write("spans.csv", ("task", "worker", "start", "end", "label"), rows)
    table = []
    for d in range(12):
        length = max((e for w in range(3) for _, e, _ in marks[d, w]), default=0)
        for w in range(3):
            label = ["O"] * length
            for s, e, c in marks[d, w]:
                label[s:e] = [c] * (e - s)
            table += [(f"w{w}", f"{d}/{i}", x) for i, x in enumerate(label)]
    task = AnnotationTask(table)
    write_value("spans.csv", "alpha_tokens", task.alpha(), "nltk")
    write_value("spans.csv", "kappa_tokens", np.mean([task.kappa_pairwise(f"w{a}", f"w{b}") for a, b in itertools.combinations(range(3), 2)]), "nltk")
    same = all_spans = 0
    for d in range(12):
        for a, b in itertools.combinations(range(3), 2):
            same += 2 * len(set(marks[d, a]) & set(marks[d, b]))
            all_spans += len(marks[d, a]) + len(marks[d, b])
    write_value("spans.csv", "f1_spans", same / all_spans, "by its definition")


def r_of(file, program, name):
    try:
        out = subprocess.run(["Rscript", "-e", program, str(OUT / file)], check=True, capture_output=True, text=True).stdout
    except FileNotFoundError:
        print(f"no Rscript: {name} is left out", file=sys.stderr)
        return
    for line in out.splitlines():
        key, value = line.rsplit(" ", 1)
        write_value(file, key, value, f"R {name}")


numeric()
sets()
pairs()
spans()
ordinal()
write("peers.csv", ("file", "name", "value", "program"), peers)
