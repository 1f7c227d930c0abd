#!/usr/bin/env python3
"""The tables of docs/results.md that hold published rows against ours, from stores of results.

    tools/paper_tables.py STORES [--dissent build/dissent] [--data FOLDER] [--write docs/results.md] [--figures docs/figures]

STORES has NAME.results for experiments/NAME.yaml, as tools/claims.py reads them. Each table of TABLES stands between
<!-- table KEY --> and <!-- /table --> of the document, or is printed. Means over seeds (of each the mean over its folds), accuracies
and F1 in percent, stars as `dissent experiment table` has them; a condition of which a seed lacks folds is left empty. The tables
of table 3 of Fornaciari et al. (kurtosis, entropy) and of near and far views are made from what the store keeps of predictions and
labels, and need numpy and scipy. --figures draws anew those figures that docs/results.md shows.
"""
import argparse
import csv
import functools
import pathlib
import re
import shutil
import sqlite3
import sys
import tempfile

from claims import PERCENT, ROOT, Results, interval
from claims import number as signed
from paper_more import MORE
from paper_why import WHY
from prose_check import check

# label, cell (None: cannot be run), published, its standard deviation
SOFT_LOSS_POS = [("gold", "gold", "89.22 / 3.34 / .41", ".70 / .40 / .02"), ("majority", "majority", "77.90 / 2.58 / .52", ".84 / .13 / .02"),
                 ("Dawid-Skene, hard", "d&s", "77.46 / 2.52 / .50", "1.75 / .09 / .02"),
                 ("crowd layer on logits, 5 votes per token", "crowd layer", "76.50 / 2.16 / .60", "2.57 / .04 / .04"),
                 ("the same with 3 epochs of warm-up", "crowd layer, warm-up", ""),
                 ("crowd layer on logits, all votes", "crowd layer, all votes", ""),
                 ("crowd layer on probabilities, 5 votes per token", "crowd layer, on probabilities", ""),
                 ("soft", "soft", "80.03 / 1.67 / .67", ".28 / .52 / .01"), ("soft, standard shares", "soft, standard", "78.99", ".36")]  # fmt: skip
SOFT_LOSS_LABELME = [("gold", "gold", "97.21 / 4.86 / -.01", ".49 / .14 / .01"), ("majority", "majority", "80.36 / 3.07 / .15", ".57 / .09 / .01"),
                     ("Dawid-Skene, hard", "d&s", "83.43 / 2.90 / .11", ".79 / .23 / .05"), ("crowd layer on logits", "crowd layer", "83.54 / 2.80 / .28", ".57 / .15 / .06"),
                     ("crowd layer on probabilities", "crowd layer, on probabilities", ""),
                     ("crowd layer on logits, 5 epochs of warm-up", "crowd layer, warm-up", ""),
                     ("soft", "soft", "84.85 / 1.64 / .39", ".50 / .02 / .08"), ("soft, standard shares", "soft, standard", "83.46", ".82")]  # fmt: skip
SOFT_LOSS_CIFAR = [("gold", "gold", "65.22 / 2.61 / .13", ".76 / .07 / .09"), ("majority", "majority", "65.68 / 2.63 / .13", "1.01 / .10 / .03"),
                   ("Dawid-Skene, hard: needs ids of workers", None, "65.65 / 2.55 / .13", "1.15 / .14 / .02"), ("crowd layer: needs ids of workers", None, "68.25 / 3.51 / .12", "1.06 / .14 / .01"),
                   ("soft, standard shares", "soft, standard", "66.64 / 1.11 / .22", ".81 / .04 / .01"), ("soft, softmax", "soft, softmax", "65.50", "1.10")]  # fmt: skip


def heads(published, before=()):
    """Eight conditions with what is published of them, behind rows of earlier work."""
    names = [(main, soft) for main in ("gold", "silver") for soft in ("", "kl", "inverse-kl", "ce")]
    said = {"": "", "kl": " + KL", "inverse-kl": " + inverse KL", "ce": " + CE, other draws"}
    return [*before, *[(main + said[soft], f"{main}+{soft}" if soft else main, p) for (main, soft), p in zip(names, published)]]


VIEWS = [("standard", "standard"), ("softmax", "softmax"), ("MACE", "mace"), ("Dawid-Skene", "dawid-skene"), ("average", "average"),
         ("centroid", "centroid"), ("temperature", "temperature"), ("hybrid", "hybrid")]  # fmt: skip
TRUST = ["0", ".1", ".25", ".5", ".75"]
SOFT3 = ["test.accuracy", "test.cross_entropy", "test.entropy_correlation"]
PEOPLE3 = ["test.accuracy", "test.kl", "test.entropy_correlation"]


# A column: header ({n}: seeds), file, function of the row's cell, measures, what (mean or sd).
def here(file, measures, header="here, {n} seeds", cell=lambda c: c):
    return (header, file, cell, measures, "mean")


def less(file, measures):
    return ("less published", file, lambda c: c, measures, "difference")


def sd(file, measures, cell=lambda c: c):
    return ("sd", file, cell, measures, "sd")


LATER = "{}, later recipe".format
TABLES = {
    "labelme": (SOFT_LOSS_LABELME, "published", [here("labelme", SOFT3), sd("labelme", SOFT3[:1]), less("labelme", SOFT3), here("labelme", ["images.accuracy"], "test images"),
                                                 here("why-labelme", [m.replace("test", "seen") for m in SOFT3], "images trained on")]),
    "pos-soft-loss": (SOFT_LOSS_POS, "published, 30 seeds", [here("large-pos-soft-loss", SOFT3, "the paper's size, {n} seeds"), sd("large-pos-soft-loss", SOFT3[:1]), less("large-pos-soft-loss", SOFT3),
                                                             here("pos-soft-loss", SOFT3, "smaller, {n} seeds")]),
    "cifar10h": (SOFT_LOSS_CIFAR, "published, 10 seeds", [here("cifar10h", SOFT3), sd("cifar10h", SOFT3[:1]), less("cifar10h", SOFT3), here("cifar10h", ["test.kl"], "KL to people"),
                                                          here("cifar10h", SOFT3, "second recipe, {n} seeds", LATER), sd("cifar10h", SOFT3[:1], LATER)]),
    "mtl-pos": (heads(["85.73 / 85.00", "86.62** / 85.90**", "86.55** / 85.88**", "86.76** / 85.98**", "75.22 / 67.01", "75.82** / 67.66**", "76.00** / 67.76**", "75.99** / 67.80**"], [("Jamison and Gurevych (2015)", None, "78.9")]),
                "published, 10 seeds", [here("large-mtl-pos", ["test.accuracy", "test.macro_f1"], "the paper's size, {n} seeds"), sd("large-mtl-pos", ["test.accuracy", "test.macro_f1"]), less("large-mtl-pos", ["test.accuracy", "test.macro_f1"])]),
    "mtl-pos-test": (heads(["85.84 / 74.56", "85.93 / 75.04", "86.29* / 75.04", "86.27* / 75.13", "77.81 / 60.59", "78.61** / 61.68**", "79.16** / 61.94**", "78.49** / 61.53**"], [("Plank et al. (2014)", None, "83.6")]),
                     "published, 10 seeds", [here("large-mtl-pos-test", ["lowlands.accuracy", "lowlands.macro_f1"], "the paper's size, {n} seeds"),
                                             sd("large-mtl-pos-test", ["lowlands.accuracy", "lowlands.macro_f1"]), less("large-mtl-pos-test", ["lowlands.accuracy", "lowlands.macro_f1"]),
                                             here("mtl-pos-test", ["lowlands.accuracy", "lowlands.macro_f1"], "smaller, {n} seeds")]),
    "mtl-stemming": (heads(["73.59 / 57.57", "75.63** / 55.58", "77.09** / 58.41*", "75.26** / 55.92", "71.34 / 58.85", "73.17** / 57.75", "77.47** / 57.85", "74.41** / 57.06"], [("Jamison and Gurevych (2015)", None, "76.6")]),
                     "published, 10 seeds", [here("large-mtl-stemming", ["test.accuracy", "test.macro_f1"], "the paper's size, {n} seeds"), sd("large-mtl-stemming", ["test.accuracy", "test.macro_f1"]), less("large-mtl-stemming", ["test.accuracy", "test.macro_f1"]),
                                             here("mtl-stemming", ["test.accuracy", "test.macro_f1"], "smaller, {n} seeds")]),
    "encoder-chaosnli": ([(d, f"{n}, mpnet", "") for d, n in (("SNLI", "snli"), ("MNLI", "mnli"), ("alphaNLI", "alphanli"))], "",
                         [here("encoder-chaosnli", ["test.majority_accuracy"], "most frequent class", lambda c: c + ", hard"),
                          *[f for kind in ("hard", "soft") for f in (here("encoder-chaosnli", PEOPLE3, f"{kind}, {{n}} seeds", lambda c, k=kind: f"{c}, {k}"),
                                                                     sd("encoder-chaosnli", PEOPLE3, lambda c, k=kind: f"{c}, {k}"))]]),
    "encoder-popquorn": ([("POPQUORN", "mpnet", "")], "",
                         [here("encoder-popquorn", ["test.majority_accuracy"], "most frequent class", lambda c: c + ", hard"),
                          *[f for kind in ("hard", "soft") for f in (here("encoder-popquorn", PEOPLE3, f"{kind}, {{n}} seeds", lambda c, k=kind: f"{c}, {k}"),
                                                                     sd("encoder-popquorn", PEOPLE3, lambda c, k=kind: f"{c}, {k}"))]]),
    "beyond-trust": ([(f"{float(t) * 100:.0f} %", t, "") for t in TRUST], "",
                     [here("beyond-trust", ["images.accuracy"], said, lambda c, k=kind: f"{k}, {c}") for said, kind in
                      (("majority", "majority"), ("Dawid-Skene, hard", "d&s"), ("Dawid-Skene, soft", "soft d&s"), ("vote shares", "soft"), ("crowd layer on logits", "crowd layer"))]),
}  # fmt: skip
SETS = ["rte", "mre", "pos", "toxicity", "labelme", "bluebird", "dog", "sentiment"]
SAID = {"rte": "RTE", "mre": "MRE", "pos": "POS", "labelme": "LabelMe"}
TABLES["beyond-weights"] = ([(SAID.get(d, d), d, "") for d in SETS], "",
                            [here("beyond-weights", ["test.accuracy", "test.log_loss"], said, lambda c, k=kind: f"{c}: {k}") for said, kind in
                             (("four views, equal", "centroid"), ("four views, weighted", "centroid, weighted"), ("two views", "centroid of two"))])  # fmt: skip
TABLES["beyond-targets"] = (
    [("softmax", "{} to softmax", ""), ("centroid", "{} to centroid", ""), ("default labels", "{} to default", ""), ("gold, beside the centroid", "gold+{}, centroid", "")], "",
    [here("beyond-targets", [m], header, lambda c, k=loss: c.format(k)) for said, loss in (("KL: ", "kl"), ("Jensen-Shannon: ", "js"))
     for header, m in ((said + "accuracy", "images.accuracy"), ("log-loss", "images.log_loss"), ("to people", "test.cross_entropy"))])  # fmt: skip
_m = lambda said, measure, what="mean": (said, "beyond-images", lambda c: c, [measure], what)
TABLES["beyond-images"] = ([*[(a, b, "") for a, b in VIEWS[:6]], ("centroid, weighted", "centroid, weighted", ""), *[(a, b, "") for a, b in VIEWS[6:]]], "",
                           [_m("accuracy, {n} seeds", "images.accuracy"), _m("sd", "images.accuracy", "sd"), _m("calibrated log-likelihood", "images.calibrated_log_likelihood"),
                            _m("cross-entropy to people", "test.cross_entropy")])  # fmt: skip
TABLES["beyond-votes-images"] = ([(f"{n} votes at most" if n > 1 else "1 vote", str(n), "") for n in (1, 2, 3)], "",
                                 [here("beyond-votes-images", ["images.accuracy", "test.cross_entropy"], f"{said}, {{n}} seeds", lambda c, k=said: f"{k} of {c}") for said in ("majority", "shares", "softmax")])  # fmt: skip
TABLES["beyond-votes-tags"] = ([(f"{n} votes at most" if n > 1 else "1 vote", str(n), "") for n in (1, 2, 3, 5)], "",
                               [f for said, kind in (("majority", "majority of"), ("softmax", "soft, of"))
                                for f in (here("beyond-votes-tags", SOFT3, f"{said}, {{n}} seeds", lambda c, k=kind: f"{k} {c}"), sd("beyond-votes-tags", SOFT3, lambda c, k=kind: f"{k} {c}"))])  # fmt: skip
AT_15 = {"temperature": "temperature 1.5", "hybrid": "hybrid 1.5"}  # where the released optimiser stops
for _key, _measure, _what in (("labels-accuracy", "test.accuracy", "both"), ("labels-log-loss", "test.log_loss", "mean")):
    TABLES[_key] = ([("RTE", "rte", ""), ("MRE", "mre", ""), ("POS", "pos", ""), ("toxicity, another set", "toxicity", "")], "",
                    [(said, "multi-view-labels", lambda c, k=view, at=_what == "both": (f"{c[:-1]}: {k}" if k in AT_15 else "") if c.endswith("!") else f"{c}: {AT_15.get(k, k) if at else k}", [_measure], _what) for said, view in VIEWS])  # fmt: skip
TABLES["labels-accuracy"][0].insert(1, ("RTE, temperatures at their optimum", "rte!", ""))
TWO = [(f"{a} of Dawid-Skene and MACE" if i == 0 else f"{a} of the two", f"{a} of two", "") for i, a in enumerate(("average", "centroid", "temperature", "hybrid"))]
for _file, _sets, _metrics, _more in (("large-multi-view-rte", ["snli"], ("accuracy", "macro_f1", "calibrated_log_likelihood"), []),
                                      ("large-multi-view-mre", ["insciout"], ("macro_f1", "calibrated_log_likelihood"), []),
                                      ("large-multi-view-pos", ["words", "treebank"], ("macro_f1", "calibrated_log_likelihood"), TWO),
                                      ("large-multi-view-toxicity", ["test"], ("macro_f1", "calibrated_log_likelihood"), TWO),
                                      ("multi-view-toxicity", ["test"], ("macro_f1", "calibrated_log_likelihood"), TWO)):
    _columns = []
    for _set in _sets:
        _m, _f1, _with = [f"{_set}.{m}" for m in _metrics], [f"{_set}.macro_f1"], ", with traces" if _set == "treebank" else ""
        for _said, _cell in ((f"KL{_with}, {{n}} seeds", lambda c: c), (f"gold + KL{_with}, {{n}} seeds", lambda c: f"gold + {c}")):
            _columns += [here(_file, _m, _said, _cell)] + ([] if _with else [sd(_file, _f1, _cell)])
    TABLES[_file] = ([("gold alone", "gold", ""), ("silver alone", "silver", ""), *[(a, b, "") for a, b in VIEWS], *_more], "", _columns)

CELLS = {"kurtosis": ("large-mtl-pos", "| published, gold + CE | 6.614 | 6.015 | 5.961 | 5.727 | |"), "entropy": ("large-mtl-stemming", None)}


# Rows that are quoted alone.
ALSO = {"labels-accuracy": "| toxicity, the paper's set, published | 78.4 | 78.4 | 73.1 | 73.3 | 75.4 | 75.4 | 75.7 | 75.7 |"}


def number(x, measure):
    metric = measure.partition(".")[2]
    if metric in PERCENT or metric == "majority_accuracy":
        return f"{x * 100:.2f}".removeprefix("0")
    text = f"{x:.3f}" if metric in ("kl", "calibrated_log_likelihood", "log_loss") and abs(x) < 1 else f"{x:.2f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def value(results, file, cell, measure, what):
    m = results.measure(file, cell, measure)
    if not m:
        return None
    if what == "both":  # published / here
        return (f"{m['published'] * 100:.1f} / " if "published" in m else "") + number(m["mean"], measure)
    return number(m[what], measure) + ("*" * m.get("stars", 0) if what == "mean" else "") if m.get(what) is not None else "-"


def from_published(results, file, cell, measures, published):
    """What we have less what is published, measure by measure."""
    shown = []
    for m, text in zip(measures, published.replace("*", "").split(" / ") if published else []):
        found = results.measure(file, cell, m)
        scale = 100 if m.partition(".")[2] in PERCENT else 1
        shown.append(signed(found["mean"] * scale - float(text), 2) if found else "-")
    return " / ".join(shown)


def column(results, rows, spec):
    """The cells of a column, and its header; None: nothing of it is there."""
    header, file, name_of, measures, what = spec
    cells, seeds = [], set()
    for _, cell, *said in rows:
        if cell is None:
            cells.append("")
            continue
        if what == "difference":
            cells.append(from_published(results, file, name_of(cell), measures, said[0]))
            continue
        got = [value(results, file, name_of(cell), m, what) for m in measures]
        found = results.measure(file, name_of(cell), measures[0])
        seeds |= {found["seeds"]} if found else set()
        cells.append("" if not any(got) else " / ".join(g or "-" for g in got))
    n = f"{min(seeds)} to {max(seeds)}" if len(seeds) > 1 else str(max(seeds, default=0))
    return None if not any(cells) else (header.format(n=n), cells)


def table(results, key):
    rows, published, specs = TABLES[key]
    columns = [c for c in (column(results, rows, s) for s in specs) if c]
    if not columns:
        return None
    if published:
        columns.insert(0, (published, [r[2] for r in rows]))
        if any(len(r) > 3 for r in rows):
            columns.insert(1, ("its sd", [r[3].split(" / ")[0] if len(r) > 3 else "" for r in rows]))
    lines = ["| | " + " | ".join(h for h, _ in columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for i, (label, cell, *_) in enumerate(rows):
        if cell is None or any(c[i] for h, c in columns if h not in (published, "its sd")):
            lines.append(f"| {label} | " + " | ".join(c[i] for _, c in columns) + " |")
    lines += [ALSO[key]] if key in ALSO else []
    return "\n".join(re.sub(r"(?<=\|) {2,}(?=\|)", " ", line) for line in lines)


# ---- table 3 of Fornaciari et al.: which model is right where ----


@functools.lru_cache
def predictions(store):
    """(cell, fold, seed): predicted classes, gold classes (-1: none), what the soft labels of people say."""
    import numpy

    found = {}
    db = sqlite3.connect(f"file:{store}/results.sqlite?mode=ro", uri=True)
    sets = "select cell, fold, seed, path, truth from runs join sets using(key) where state = 'done' and set_name = 'test'"
    for cell, fold, seed, path, truth in db.execute(sets):
        read = lambda end, t=truth: [line.rstrip("\n") for line in open(f"{store}/truth/{t}.{end}.txt")]
        classes = read("classes")
        with open(f"{store}/truth/{truth}.gold.csv", newline="") as f:
            gold = {r["task"]: classes.index(r["label"]) for r in csv.DictReader(f)}
        found[cell, fold, seed] = (numpy.load(f"{store}/{path}").argmax(1), numpy.array([gold.get(t, -1) for t in read("tasks")]),
                                   numpy.load(f"{store}/truth/{truth}.npy"))  # fmt: skip
    return found


def right_or_wrong(found, one, two, kurtosis):
    """How people agree on the items that both, only two heads, only one head and neither got right; None: no runs of both."""
    import numpy
    from scipy import stats

    cells = [[], [], [], []]
    for (cell, fold, seed), (a, gold, people) in found.items():
        if cell != one or (two, fold, seed) not in found:
            continue
        b = found[two, fold, seed][0]
        logs = numpy.log(numpy.where(people > 0, people, 1))
        x = stats.kurtosis(people, axis=1) if kurtosis else -(people * logs).sum(1)
        known, a, b = gold >= 0, a == gold, b == gold
        for to, which in zip(cells, (a & b, b & ~a, a & ~b, ~a & ~b)):
            to.append(x[which & known])
    return [numpy.concatenate(c) for c in cells] if cells[0] else None


def four_cells(found, one, two, kurtosis):
    from scipy import stats

    cells = right_or_wrong(found, one, two, kurtosis)
    if not cells:
        return None
    p = stats.mannwhitneyu(cells[1], cells[2]).pvalue
    return [f"{c.mean():.3f}".removeprefix("0") for c in cells] + [f"{p:.2g}".removeprefix("0")]


def differences_alone(results, c):
    """Of each seed, how much more people agree where only `one` (two heads) is right than where only `other` is."""
    store = pathlib.Path(results.options.stores) / f"{c['file']}.results"
    if not store.exists():
        return None
    found = predictions(store)
    seeds = sorted({seed for cell, _, seed in found if cell == c["one"]})
    made = [right_or_wrong({k: v for k, v in found.items() if k[2] == seed}, c["other"], c["one"], c["kurtosis"]) for seed in seeds]
    return [(1 if c["kurtosis"] else -1) * (m[1].mean() - m[2].mean()) for m in made if m]


def who_is_right(results, key):
    file, published = CELLS[key]
    store = pathlib.Path(results.options.stores) / f"{file}.results"
    if not store.exists():
        return None
    found = predictions(store)
    lines = ["| | both right | only two heads right | only one head right | both wrong | p |", "|---|---|---|---|---|---|", *([published] if published else [])]
    for label, cell, _ in heads([""] * 8):
        main, plus, _ = cell.partition("+")
        if not plus or not results.measure(file, cell, "test.accuracy"):
            continue
        row = four_cells(found, main, cell, key == "kurtosis")
        if row:
            lines.append(f"| {label} | " + " | ".join(row) + " |")
    return "\n".join(lines)


# ---- near and far views ----


def distances(store, data):
    """Mean Jensen-Shannon divergence of each two views of a data set."""
    import numpy

    db = sqlite3.connect(f"file:{store}/results.sqlite?mode=ro", uri=True)
    sets = "select path from runs join sets using(key) where state = 'done' and cell = ?"
    p = {name: numpy.load(f"{store}/{db.execute(sets, (f'{data}: {name}',)).fetchone()[0]}") for _, name in VIEWS[:4]}
    entropy = lambda x: -(x * numpy.log(numpy.where(x > 0, x, 1))).sum(1).mean()
    return {(a, b): entropy((p[a] + p[b]) / 2) - (entropy(p[a]) + entropy(p[b])) / 2 for a in p for b in p}


def near_and_far(results, _):
    file = "beyond-views"
    store = pathlib.Path(results.options.stores) / f"{file}.results"
    if not store.exists():
        return None
    names = {b: a for a, b in VIEWS[:4]}
    lines = ["| | hub | nearest two | farthest two | all four |", "|---|---|---|---|---|"]
    for data in ("rte", "mre", "pos", "toxicity", "labelme", "bluebird", "dog", "sentiment"):
        apart = distances(store, data)
        order = ["standard", "softmax", "dawid-skene", "mace"]
        pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
        hub = min(order, key=lambda a: sum(apart[a, b] for b in order))
        chosen = [(names[hub], hub)] + [(" + ".join(names[v] for v in pair), " + ".join(pair)) for pair in (min(pairs, key=apart.get), max(pairs, key=apart.get))]
        said = [f"{what}: " + " / ".join(value(results, file, f"{data}: {cell}", f"test.{m}", "mean") for m in ("accuracy", "log_loss")) for what, cell in chosen]
        said.append(" / ".join(value(results, file, f"{data}: all four", f"test.{m}", "mean") for m in ("accuracy", "log_loss")))
        lines.append(f"| {data} | " + " | ".join(said) + " |")
    return "\n".join(lines)


# ---- why inverse KL learns late ----

LATE = 0.83  # accuracy below which a run counts as one that learned late: none of KL's is
INVERSE = [("two encoder layers, as the paper has it", "large-mtl-pos", "gold+inverse-kl"), ("the same in float32", "why-inverse-kl", "the paper's size"),
           ("KL instead of inverse KL", "large-mtl-pos", "gold+kl"), ("one encoder layer", "why-inverse-kl", "one encoder layer"),
           ("20 steps of warm-up, then falling to 0", "why-inverse-kl", "20 steps of warm-up"),
           ("gradients clipped at 1", "why-inverse-kl", "gradients clipped at 1"),
           ("LSTMs of 32, one layer of 64", "why-inverse-kl", "LSTMs of 32, one layer of 64")]  # fmt: skip


def late_runs(results, _):
    store = pathlib.Path(results.options.stores) / "why-inverse-kl.results"
    if not store.exists():
        return None
    db = sqlite3.connect(f"file:{store}/results.sqlite?mode=ro", uri=True)
    runs = "select value, fold, seed from runs join measures using(key) where state = 'done' and metric = 'accuracy' and set_name = 'test' and experiment = ? and cell = ?"
    percent = lambda x: f"{x * 100:.2f}"
    lines = ["| | runs | accuracy | lowest | highest | below 83 |", "|---|---|---|---|---|---|"]
    for label, experiment, cell in INVERSE:
        x = sorted(r[0] for r in db.execute(runs, (experiment, cell)))
        if x:
            lines.append(f"| {label} | {len(x)} | {percent(sum(x) / len(x))} | {percent(x[0])} | {percent(x[-1])} | {sum(v < LATE for v in x)} |")
    return "\n".join(lines)


# ---- soft against hard training, words alone ----


def words_alone(results, _):
    """Rows of which there is no store stay what the document has."""
    lines = ["| | hard | sd | soft | sd | KL, soft against hard |", "|---|---|---|---|---|---|"]
    there = {line.split(" | ")[0]: line for line in pathlib.Path(results.options.write).read_text().splitlines() if line.count("|") == 7} if results.options.write else {}
    for kept in ("", ", kept by accuracy"):
        for label, file, data in (("SNLI", "epistemic-chaosnli", "snli, "), ("MNLI", "epistemic-chaosnli", "mnli, "), ("alphaNLI", "epistemic-chaosnli", "alphanli, "), ("POPQUORN", "epistemic-popquorn", "")):
            cells = [f"{data}{kind}{kept}" for kind in ("hard", "soft")]
            kl = [results.measure(file, c, "test.kl") for c in cells]
            label += ", by accuracy" if kept else ""
            if None in kl:
                lines += [there[f"| {label}"]] if f"| {label}" in there else []
                continue
            said = [" / ".join(value(results, file, c, m, what) for m in PEOPLE3) for c in cells for what in ("mean", "sd")]
            lines.append(f"| {label} | " + " | ".join(said) + f" | {round(100 * (kl[1]['mean'] / kl[0]['mean'] - 1))} % |")
    return "\n".join(lines) if len(lines) > 2 else None


# ---- what gold loses where people are divided ----


def votes_of_labelme(results):
    """Of each image of LabelMe its classes in the order of the votes."""
    found = {}
    with open(pathlib.Path(results.options.data or ROOT / "../shared/data") / "labelme/annotations.csv", newline="") as f:
        for r in csv.DictReader(f):
            found.setdefault(r["task"], []).append(r["label"])
    return found


def split_by_people(results, key, store, truth):
    """Which items people agree on and which they dispute, and the shares of their votes."""
    import numpy

    tasks, classes = ([line.rstrip("\n") for line in open(f"{store}/truth/{truth}.{end}.txt")] for end in ("tasks", "classes"))
    if key == "disputed-labelme":
        votes = votes_of_labelme(results)
        shares = numpy.array([[votes[t].count(c) / len(votes[t]) for c in classes] for t in tasks])
        return shares, numpy.array([len(votes[t]) > 1 and len(set(votes[t])) == 1 for t in tasks]), numpy.array([len(set(votes[t])) > 1 for t in tasks])
    shares = numpy.load(f"{store}/truth/{truth}.npy")
    return shares, shares.max(1) >= 0.95, shares.max(1) < 2 / 3


DISPUTED = {"disputed-labelme": ("labelme", [("gold", "gold"), ("majority", "majority"), ("Dawid-Skene, hard", "d&s"), ("crowd layer on logits", "crowd layer"), ("soft, standard shares", "soft, standard")]),
            "disputed-cifar10h": ("cifar10h", [("gold", "gold"), ("majority", "majority"), ("soft, standard shares", "soft, standard"), ("soft, softmax", "soft, softmax")])}  # fmt: skip


def disputed(results, key):
    """Accuracy, cross-entropy to the shares of votes and mean probability of the answer, per kind of item; means over seeds."""
    import numpy

    file, rows = DISPUTED[key]
    store = pathlib.Path(results.options.stores) / f"{file}.results"
    if not store.exists():
        return None
    db = sqlite3.connect(f"file:{store}/results.sqlite?mode=ro", uri=True)
    people, found, count = {}, {}, {}
    sets = "select cell, path, truth from runs join sets using(key) where state = 'done' and set_name = 'test' order by seed"
    for cell, path, truth in db.execute(sets):
        if truth not in people:
            people[truth] = split_by_people(results, key, store, truth)
        shares, *kinds = people[truth]
        classes = [line.rstrip("\n") for line in open(f"{store}/truth/{truth}.classes.txt")]
        with open(f"{store}/truth/{truth}.gold.csv", newline="") as f:
            gold = {r["task"]: classes.index(r["label"]) for r in csv.DictReader(f)}
        gold = numpy.array([gold.get(line.rstrip("\n"), -1) for line in open(f"{store}/truth/{truth}.tasks.txt")])
        p = numpy.load(f"{store}/{path}")
        each = numpy.stack([p.argmax(1) == gold, -(shares * numpy.log(numpy.maximum(p, 1e-12))).sum(1), p.max(1)])
        for kind, which in zip(("agreed", "disputed"), kinds):
            found.setdefault((cell, kind), []).append(each[:, which & (gold >= 0)].mean(1))
            count.setdefault(kind, []).append(which.sum())
    said = lambda x: f"{100 * x[0]:.1f} / {x[1]:.2f} / {x[2]:.2f}".replace(" 0.", " .")
    mean = lambda cell, kind: numpy.mean(found[cell, kind], axis=0)
    lines = ["| trained on | " + " | ".join(f"{kind}, {numpy.mean(count[kind]):.0f} images" for kind in ("agreed", "disputed")) + " |", "|---|---|---|"]
    lines += [f"| {label} | {said(mean(cell, 'agreed'))} | {said(mean(cell, 'disputed'))} |" for label, cell in rows if (cell, "agreed") in found]
    told = []
    for kind in ("agreed", "disputed"):
        d = numpy.array(found["gold", kind]) - numpy.array(found["soft, standard", kind])  # seed by seed
        said = [[x * s for x in interval(list(d[:, i]))] for i, s in ((0, 100), (1, 1))]
        told.append(" / ".join(f"{signed(x[0], k)} [{signed(x[2], k)}, {signed(x[3], k)}]" for x, k in zip(said, (1, 2))))
    return "\n".join([*lines, f"| gold less shares, 95 % over seeds | {told[0]} | {told[1]} |"])


OTHERS = {**MORE, **WHY, "words-alone": words_alone, "disputed-labelme": disputed, "disputed-cifar10h": disputed, "kurtosis": who_is_right, "entropy": who_is_right, "beyond-views": near_and_far, "why-inverse-kl": late_runs}


# ---- figures ----


# Lines that tell nothing new are left out: a file, part of a figure's name, the filter of `dissent experiment report`.
ONLY = [("cifar10h", "divide", "model=resnet"), ("cifar10h", "divided", "model=resnet"), ("cifar10h", "held-out", "model=resnet"), ("epistemic-popquorn", "held-out", "keep=cross_entropy"),
        ("why-labelme-crowd", "epochs", "model=mlp:scale=standard")]  # fmt: skip


def draw(results, folder):
    """The figures that docs/results.md shows, each by `dissent experiment report` of the file that begins its name."""
    shown = sorted(set(re.findall(r"\(figures/([^)]+\.svg)\)", (ROOT / "docs/results.md").read_text())))
    files = sorted((f.stem for f in (ROOT / "experiments").glob("*.yaml")), key=len, reverse=True)
    by_file = {}
    for name in shown:
        file = next((f for f in files if name.startswith(f + "-")), None)
        only = next((o for f, part, o in ONLY if f == file and part in name), None)
        by_file.setdefault((file, only), []).append(name)
    for (file, only), names in by_file.items():
        store = pathlib.Path(results.options.stores) / f"{file}.results"
        if not file or not store.exists():
            print(f"no store: {', '.join(names)}")
            continue
        with tempfile.TemporaryDirectory() as made:
            results.run(file, store, ["report"], ["--figures", made, *(["--filter", only] if only else [])])
            for name in names:
                if (pathlib.Path(made) / name).exists():
                    shutil.copy(pathlib.Path(made) / name, folder)
                else:
                    print(f"not drawn: {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stores", nargs="?")
    parser.add_argument("--check", metavar="DOCUMENT", help="look for figures in its text that its tables do not have; needs no stores")
    parser.add_argument("--dissent", default=str(ROOT / "build/dissent"))
    parser.add_argument("--data")
    parser.add_argument("--write")
    parser.add_argument("--figures")
    options = parser.parse_args()
    if options.check:
        missing = check(pathlib.Path(options.check).read_text())
        for line, said in missing:
            print(f"{options.check}:{line}: {said}")
        sys.exit(1 if missing else 0)
    if not options.stores:
        parser.error("STORES or --check DOCUMENT")
    results = Results(options)
    if options.figures:
        draw(results, options.figures)
        return
    text = pathlib.Path(options.write).read_text() if options.write else "".join(f"<!-- table {k} -->\n<!-- /table -->\n" for k in (*TABLES, *OTHERS))

    def fill(match):
        made = OTHERS.get(match[1], table)(results, match[1])
        return f"<!-- table {match[1]} -->\n{made}\n<!-- /table -->" if made else match[0]

    text = re.sub(r"<!-- table (\S+) -->\n.*?<!-- /table -->", fill, text, flags=re.S)
    if options.write:
        pathlib.Path(options.write).write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
