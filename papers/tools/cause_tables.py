"""Tables of papers/results.md on why claims fail, from papers/experiments/why-*.yaml and from what stores keep of runs.

Which steps, epochs, vectors and labels decide: means over runs, and differences of two conditions with 95 % intervals
by Student's t over seeds, or over seeds and folds where there are fewer than five seeds. papers/tools/result_tables.py puts
them into the document.
"""

import functools
import math

from claims import interval
from claims import number as signed
from kept_runs import area_of
from analysis_tables import difference, mean_of, opened, plain

HEADS = [
    "| | one head: accuracy / macro-F1 | two heads, {} | gain in accuracy [95 %] | in macro-F1 |",
    "|---|---|---|---|---|",
]


def heads_row(db, file, said, one, two, where):
    """Accuracy and macro-F1 with one head and with two, and what the second gains; None: not run."""
    metrics = [f"{where}.accuracy", f"{where}.macro_f1"]
    found = [[mean_of(db, file, cell, m) for m in metrics] for cell in (one, two)]
    if not (found[0][0][1] and found[1][0][1]):
        return None
    shown = [" / ".join(f"{100 * v:.2f}" for v, _ in pair) for pair in found]
    return f"| {said} | " + " | ".join([*shown, *[difference(db, file, two, one, m) or "" for m in metrics]]) + " |"


# ---- SOFT-LOSS, LabelMe ----

STEPS = [("gold", "gold", 97.21), ("majority", "majority", 80.36), ("Dawid-Skene, hard", "d&s", 83.43),
         ("crowd layer on logits", "crowd layer", 83.54), ("soft", "soft", 84.85),
         ("soft, standard shares", "shares", 83.46)]  # fmt: skip
KEPT = [("chosen of {}", "why-labelme-steps", f"chosen: {{}}, {e}", e) for e in (20, 200)] + [
    ("last of {}", "why-labelme-crowd", "{}, 10", 10)
]
KEPT += [("last of {}", "why-labelme-steps", f"last: {{}}, {e}", e) for e in (20, 200)]


def points(d):
    """Differences of seeds, or a summary of them, as "+1.35 [+.62, +2.08]"."""
    mean, _, low, high = (100 * y for y in interval(d))
    return f"{signed(mean)} [{signed(low)}, {signed(high)}]"


def against(one, other):
    """Difference of two lists of values of the same seeds, in points."""
    return points([a - b for a, b in zip(one, other)])


def why_steps(results, _):
    """Accuracy on images that were trained on, by epochs and by which of them is kept."""
    get = lambda who, kept: results.values(kept[1], kept[2].format(who), "seen.accuracy")
    lines = ["| | published | " + " | ".join(k[0].format(k[3]) for k in KEPT) + " |", "|---" * (len(KEPT) + 2) + "|"]
    for label, cell, published in STEPS:
        found = [get(cell, k) for k in KEPT]
        if not any(found):
            return None
        lines.append(
            f"| {label} | {published:.2f} | "
            + " | ".join(f"{100 * sum(v) / len(v):.2f}" if v else "" for v in found)
            + " |"
        )
    for label, cell, published in STEPS[1:4] + STEPS[5:]:
        shown = [against(get("soft", k), get(cell, k)) for k in KEPT]
        lines.append(f"| soft against {label} | {signed(84.85 - published)} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def why_crowd(results, _):
    """Soft labels against the crowd layer and against shares by epochs, on the test images."""
    get = lambda who, e: results.values("why-labelme-crowd", f"{who}, {e}", "images.accuracy")
    less = "against the crowd layer [95 %] | against shares"
    lines = [f"| epochs | soft | {less} | scaled: soft | {less} |", "|---" * 7 + "|"]
    for e in (2, 3, 4, 6, 10, 20):
        shown = []
        for kind in ("", "scaled: "):
            soft, crowd, shares = (get(kind + who, e) for who in ("soft", "crowd layer", "shares"))
            if not (soft and crowd and shares):
                return None
            shown += [f"{100 * sum(soft) / len(soft):.2f}", against(soft, crowd), against(soft, shares)]
        lines.append(f"| {e} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


# ---- SOFT-LOSS, tags ----

BLOCKS = [
    (f"the {d} 2,439 tokens, {v} votes", f"{d}, {v} votes: {{}}") for d in ("first", "last") for v in ("all", "5")
]
BLOCKS += [("the first, 5 votes, word vectors of 50 numbers", "50 numbers: {}")]


def why_tags(results, _):
    file = "why-pos-soft-loss"
    _, db = opened(results, file)
    if not db:
        return None
    lines = [
        "| tested on | soft | against the majority [95 %] | against shares | against the crowd layer |",
        "|---|---|---|---|---|",
    ]
    for said, form in BLOCKS:
        mean, n = mean_of(db, file, form.format("soft"), "test.accuracy")
        less = lambda other, form=form: (
            difference(db, file, form.format("soft"), form.format(other), "test.accuracy") or ""
        )
        if n:
            lines.append(
                f"| {said} | {100 * mean:.2f} | "
                + " | ".join(less(o) for o in ("majority", "shares", "crowd layer"))
                + " |"
            )
    return "\n".join(lines) if len(lines) > 2 else None


VECTORS = [("25 numbers, of tweets", "large-pos-soft-loss"), ("50 numbers", "why-pos-soft-loss-size")]
OTHER_LABELS = [
    ("the majority", "majority"),
    ("Dawid-Skene", "d&s"),
    ("shares", "soft, standard"),
    ("the crowd layer", "crowd layer"),
]


def tags_by_vectors(results, _):
    """What soft labels gain over others at the paper's size, by what is known of words."""
    last = VECTORS[-1][1]
    if not results.difference(last, "soft", "majority", "test.accuracy"):
        return None
    said = lambda cell: 100 * results.published(last, cell, "accuracy")
    lines = [
        "| word vectors | seeds | " + " | ".join(f"against {name} [95 %]" for name, _ in OTHER_LABELS) + " |",
        "|---" * 6 + "|",
        "| 300 numbers, published | 30 | " + " | ".join(signed(said("soft") - said(c)) for _, c in OTHER_LABELS) + " |",
    ]
    for vectors, file in VECTORS:
        found = [results.difference(file, "soft", cell, "test.accuracy") for _, cell in OTHER_LABELS]
        lines.append(f"| {vectors} | {found[0].n} | " + " | ".join(map(points, found)) + " |")
    return "\n".join(lines)


# ---- MTL ----

STEMS = [("2 epochs", "{}, 2"), ("5 epochs", "{}, 5"), ("10 epochs", "{}, 10"), ("20 epochs", "{}, 20"),
         ("10 epochs, the epoch chosen by accuracy", "{}, epoch by accuracy"),
         ("10 epochs, batches of 1,024, as the paper has it", "{}, batches of 1024"),
         ("10 epochs, words cut at 12 letters", "{}, 12 letters")]  # fmt: skip
TWEETS = [(str(e), f"{{}}, {e}") for e in (3, 10, 30)]
# What is changed, experiment, cells of one head and of two.
FOLDS = [
    ("the paper's size, 10 epochs of 9 steps", "large-mtl-pos", "gold", "gold+kl"),
    *[
        (f"the paper's size, {said}", "why-mtl-pos", f"one head, {cell}", f"two heads, {cell}")
        for said, cell in (
            ("batches of 256: 10 epochs of 34 steps", "batches of 256"),
            ("word vectors of 50 numbers", "50 numbers"),
        )
    ],
    *[
        (f"smaller, {said}", "why-mtl-pos-steps", f"one head, {cell}", f"two heads, {cell}")
        for said, cell in (
            ("10 epochs of 9 steps", "batches of 1024"),
            ("3 epochs of 34 steps", "3"),
            ("10 epochs of 34 steps", "10"),
            ("30 epochs of 34 steps", "30"),
        )
    ],
]


def why_heads(file, rows, loss, where, first, results, _):
    """One head against two, a setting per row."""
    _, db = opened(results, file)
    if not db:
        return None
    lines = [line.format(loss).replace("| |", f"| {first} |", 1) if first else line.format(loss) for line in HEADS]
    found = [heads_row(db, file, said, form.format("one head"), form.format("two heads"), where) for said, form in rows]
    lines += [f for f in found if f]
    return "\n".join(lines) if len(lines) > 2 else None


def why_folds(results, _):
    lines = [line.format("KL") for line in HEADS] + ["| published | 85.73 / 85.00 | 86.62 / 85.90 | +.89 | +.90 |"]
    for said, file, one, two in FOLDS:
        _, db = opened(results, file)
        row = heads_row(db, file, said, one, two, "test") if db else None
        lines += [row] if row else []
    return "\n".join(lines) if len(lines) > 3 else None


def small_folds(results, _):
    """What a second head gains with smaller nets and batches of 256, by loss and main label; and what is published."""
    file = "mtl-pos"
    _, db = opened(results, file)
    lines = ["| | published: accuracy / macro-F1 | gain in accuracy [95 %] | in macro-F1 |", "|---|---|---|---|"]
    for main in ("gold", "silver") if db else ():
        for said, loss in (("KL", "kl"), ("inverse KL", "inverse-kl"), ("CE, other draws", "ce")):
            cell, measures = f"{main}+{loss}", ("test.accuracy", "test.macro_f1")
            gains = [difference(db, file, cell, main, m) for m in measures]
            told = [[results.published(file, c, m.partition(".")[2]) for c in (cell, main)] for m in measures]
            if None not in gains:
                published = " / ".join(signed(100 * (a - b)) for a, b in told)
                lines.append(f"| {main} + {said} | {published} | " + " | ".join(gains) + " |")
    return "\n".join(lines) if len(lines) > 2 else None


def why_silver(results, _):
    """Stemming beside silver labels, chosen and tested by gold labels and by the majority."""
    less = "gain [95 %]"
    lines = [
        f"| chosen and tested by | silver | silver + inverse KL | {less} | runs that keep epochs 1 to 3, of each |"
    ]
    lines += ["|---|---|---|---|---|"]
    for said, file in (("gold labels", "large-mtl-stemming"), ("the majority, ties left out", "why-stemming-silver")):
        _, db = opened(results, file)
        cells = ("silver", "silver+inverse-kl")
        found = [mean_of(db, file, c, "test.accuracy") for c in cells] if db else []
        if found and all(n for _, n in found):
            gain = difference(db, file, cells[1], cells[0], "test.accuracy")
            early = [early_runs(db, file, c) for c in cells]
            lines.append(
                f"| {said} | " + " | ".join([*[f"{100 * v:.2f}" for v, _ in found], gain, " and ".join(early)]) + " |"
            )
    return "\n".join(lines) if len(lines) > 3 else None


def early_runs(db, file, cell):
    """How many runs of a cell keep one of the first three epochs."""
    count = "select sum(best_epoch < 3), count(*) from runs where state = 'done' and experiment = ? and cell = ?"
    early, n = db.execute(count, (file, cell)).fetchone()
    return f"{early} of {n}"


def kept_epochs(results, _):
    """Accuracy of the runs of stemming by the epoch that they kept."""
    file = "large-mtl-stemming"
    _, db = opened(results, file)
    if not db:
        return None
    bands = [("1 to 3", 0, 2), ("4 to 6", 3, 5), ("7 to 10", 6, 9)]
    rows = """select count(*), avg(value) from runs join measures using(key)
              where state = 'done' and experiment = ? and cell = ?
              and set_name = 'test' and metric = 'accuracy' and best_epoch between ? and ?"""
    lines = ["| epoch kept | " + " | ".join(b for b, _, _ in bands) + " |", "|---" * (len(bands) + 1) + "|"]
    for main in ("gold", "silver"):
        for said, cell in ((main, main), (f"{main} + inverse KL", f"{main}+inverse-kl")):
            got = [db.execute(rows, (file, cell, low, high)).fetchone() for _, low, high in bands]
            lines.append(
                f"| {said} | "
                + " | ".join(f"{100 * v:.2f} ({n} run{'s' if n > 1 else ''})" if n else "" for n, v in got)
                + " |"
            )
    return "\n".join(lines)


def last_epochs(results, _):
    """How many runs of tags on other tweets keep one of the last two epochs."""
    file = "large-mtl-pos-test"
    _, db = opened(results, file)
    if not db:
        return None
    rows = "select count(*), sum(best_epoch >= 8) from runs where state = 'done' and experiment = ? and cell = ?"
    lines = ["| | runs | keep the ninth or tenth of ten epochs |", "|---|---|---|"]
    for said, cell in (("gold", "gold"), ("gold + KL", "gold+kl"), ("silver", "silver"), ("silver + KL", "silver+kl")):
        n, late = db.execute(rows, (file, cell)).fetchone()
        lines.append(f"| {said} | {n} | {late} |")
    return "\n".join(lines)


# ---- MULTI-VIEW, RTE ----

RTE = "large-multi-view-rte"
# Labels, experiment and cell, and their mean entropy where multi-view-labels.yaml does not have them.
LABELS = [
    ("vote shares", RTE, "standard", None),
    ("their softmax", RTE, "softmax", None),
    ("average", RTE, "average", None),
    ("centroid", RTE, "centroid", None),
    ("centroid, softened", "why-rte", "centroid, softened", 0.72),
    ("MACE", RTE, "mace", None),
    ("Dawid-Skene", RTE, "dawid-skene", None),
    ("Dawid-Skene, softened", "why-rte", "dawid-skene, softened", 0.72),
    ("majority, ties split", "why-rte", "majority, ties split", 0.08),
    ("majority", RTE, "silver", 0.0),
    ("gold", RTE, "gold", 0.0),
]


def areas(results, file, cell, where="snli"):
    """Seed: area under the ROC curve of predictions on a set of two classes, and the epoch that was kept."""
    store, db = opened(results, file)
    rows = """select seed, path, truth, best_epoch from runs join sets using(key)
              where state = 'done' and experiment = ? and cell = ? and set_name = ?"""
    found = db.execute(rows, (file, cell, where)) if db else ()
    return {seed: (area_of(store, path, truth), epoch) for seed, path, truth, epoch in found}


def entropy_of(results, view):
    """Mean entropy of a kind of label of RTE, as a share of the largest."""
    import numpy

    store, db = opened(results, "multi-view-labels")
    rows = "select path from runs join sets using(key) where state = 'done' and cell = ?"
    p = numpy.load(store / db.execute(rows, (f"rte: {view}",)).fetchone()[0])
    return -(p * numpy.log(numpy.where(p > 0, p, 1))).sum(1).mean() / math.log(2)


def area_cells(results, file, cell, base, measure):
    """Mean area, in percent, with its seeds, and the difference to that of `base`."""
    found = results.measure(file, cell, measure)
    if not found:
        return ["", ""]
    less = results.difference(file, cell, base, measure) if cell != base else None
    told = ""
    if less and less.n >= 3:
        told = points(less) + (f" ({less.n} seeds)" if less.n < found["seeds"] else "")
    return [f"{100 * found['mean']:.1f} ({found['seeds']} seeds)", told]


def why_rte(results, _):
    """How well what is learned from each kind of label ranks pairs of SNLI."""
    if not results.store("multi-view-labels").exists() or not results.measure(RTE, "standard", "snli.area"):
        return None
    lines = [
        "| labels | mean entropy | area, epoch chosen | against shares [95 %] | keep epoch 1 or 2 |",
        "|---" * 5 + "|",
    ]
    for said, file, cell, doubt in LABELS:
        entropy = entropy_of(results, cell) if doubt is None else doubt
        early = results.measure(file, cell, "snli.early")
        shown = [
            *area_cells(results, file, cell, "standard", "snli.area"),
            f"{early['mean'] * early['seeds']:.0f} of {early['seeds']}" if early else "",
        ]
        lines.append(f"| {said} | {plain(entropy, 2)} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def last_rte(results, _):
    """The same with the last epoch, and macro-F1."""
    less = "against shares [95 %]"
    lines = [f"| labels | area, last epoch | {less} | macro-F1 | {less} |", "|---|---|---|---|---|"]
    for said, _, cell, _ in LABELS:
        shown = [
            c
            for m in ("snli.area", "snli.macro_f1")
            for c in area_cells(results, "why-rte", f"last: {cell}", "last: standard", m)
        ]
        lines += [f"| {said} | " + " | ".join(shown) + " |"] if shown[0] else []
    return "\n".join(lines) if len(lines) > 2 else None


def kept_rte(results, _):
    """Area under the curve of the runs of RTE by the epoch that they kept."""
    lines = ["| epoch kept | 1 or 2 | 3 | 4 | 5 |", "|---|---|---|---|---|"]
    for said, file, cell, _ in LABELS:
        found = areas(results, file, cell) if file == RTE and cell != "average" else {}
        bands = [[a for a, e in found.values() if e in band] for band in ((0, 1), (2,), (3,), (4,))]
        shown = [f"{100 * sum(b) / len(b):.1f} ({len(b)} run{'s' if len(b) > 1 else ''})" if b else "" for b in bands]
        lines += [f"| {said} | " + " | ".join(shown) + " |"] if found else []
    return "\n".join(lines) if len(lines) > 2 else None


# ---- MULTI-VIEW, toxicity ----

COMMENTS = [
    ("majority", "silver", "standard"),
    ("vote shares", "standard", "standard"),
    ("their softmax", "softmax", "softmax"),
    ("MACE", "mace", "mace"),
    ("Dawid-Skene", "dawid-skene", "dawid-skene"),
    ("centroid", "centroid", "centroid"),
    ("gold", "gold", None),
]


def why_toxicity(results, _):
    """How often labels of comments are right, and how well what is learned from them ranks the comments of the test."""
    if not results.store("multi-view-labels").exists():
        return None
    lines = ["| labels | right, percent | area under the curve | against the majority [95 %] |", "|---|---|---|---|"]
    for said, cell, view in COMMENTS:
        right = results.measure("multi-view-labels", f"toxicity: {view}", "test.accuracy")["mean"] if view else 1
        shown = [f"{100 * right:.1f}", *area_cells(results, "large-multi-view-toxicity", cell, "silver", "test.area")]
        lines.append(f"| {said} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


WHY = {
    "why-labelme-steps": why_steps,
    "why-labelme-crowd": why_crowd,
    "why-pos-soft-loss": why_tags,
    "why-pos-soft-loss-size": tags_by_vectors,
    "why-stemming": functools.partial(why_heads, "why-stemming", STEMS, "inverse KL", "test", ""),
    "why-mtl-pos-test": functools.partial(why_heads, "why-mtl-pos-test", TWEETS, "KL", "lowlands", "epochs"),
    "why-mtl-pos": why_folds,
    "small-mtl-pos": small_folds,
    "why-stemming-silver": why_silver,
    "kept-epochs": kept_epochs,
    "last-epochs": last_epochs,
    "why-rte": why_rte,
    "kept-rte": kept_rte,
    "last-rte": last_rte,
    "why-toxicity": why_toxicity,
}
