"""Tables of papers/results.md that are not one row per condition; papers/tools/result_tables.py puts them into the document.

Crowds of SOFT-LOSS's table 1 (by `dissent agree`), distances of views to the centroid, items of low and high entropy,
differences of two conditions with 95 % intervals by Student's t over seeds (or over seeds and folds where there are few
seeds), what the reference run of an encoder has, and what is not told by conditions one by one.
"""

import csv
import math
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

from claims import DATA, PERCENT, interval
from claims import number as signed

VIEWS = ["standard", "softmax", "mace", "dawid-skene"]


def plain(x, digits):
    return f"{x:.{digits}f}".replace("0.", ".", 1) if abs(x) < 1 else f"{x:.{digits}f}"


def opened(results, file):
    """The store of an experiment; None: not there."""
    store = results.store(file)
    if not (store / "results.sqlite").exists():
        return None, None
    return store, sqlite3.connect(f"file:{store}/results.sqlite?mode=ro", uri=True)


def data_of(results):
    return pathlib.Path(results.options.data or DATA)


# ---- the crowds of SOFT-LOSS ----

CROWDS = [
    ("votes per item", "votes_per_item", ("5.00", "2.50", "51.10"), 2),
    ("coder to label ratio", "coder_to_label_ratio", (".30", ".26", "5.11"), 2),
    ("agreement per item, single votes as agreeing", "agreement_with_singles", (".73", ".73", ".94"), 3),
    ("accuracy of workers", "worker_accuracy", (".68", ".69", ".95"), 3),
    ("share of workers at .75 or more", "workers_at_75", (".29", ".42", "1.00"), 3),
    ("share of workers above .75", "workers_above_75", (".29", ".42", "1.00"), 3),
    ("accuracy of votes", "vote_accuracy", ("", "", ""), 3),
    ("items whose gold label got no vote", "gold_never_voted", ("", "", ""), 4),
]


def first_five(path, to):
    """The first five votes of each item of a file of votes."""
    seen = {}
    with open(path, newline="") as f, open(to, "w", newline="") as out:
        rows = csv.reader(f)
        written = csv.writer(out)
        written.writerow(next(rows))
        for r in rows:
            seen[r[0]] = seen.get(r[0], 0) + 1
            if seen[r[0]] <= 5:
                written.writerow(r)


def agree(results, *line):
    """What `dissent agree` says, by measure."""
    done = subprocess.run(
        [results.options.dissent, "agree", *map(str, line), "-q", "--resamples", "0"], capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(done.stderr)
    return {r["measure"]: r["value"] for r in csv.DictReader(done.stdout.splitlines())}


def agreements(results, _):
    """How far the crowds of MULTI-VIEW agree."""
    data = data_of(results)
    if not (data / "rte_snow").exists():
        return None
    lines = [
        "| | published | share of agreeing pairs | Fleiss' kappa | Krippendorff's alpha |",
        "|---|---|---|---|---|",
    ]
    for said, file, published in (
        ("RTE", "rte_snow/annotations.csv", ".629"),
        ("MRE", "mre_crowdtruth/annotations_cause_expert_subset.csv", ".857"),
        ("POS", "pos_gimpel/annotations.csv", ".725"),
    ):
        x = agree(results, data / file)
        lines.append(
            f"| {said} | {published} | "
            + " | ".join(plain(float(x[m]), 3) for m in ("percent", "fleiss", "alpha_nominal"))
            + " |"
        )
    return "\n".join(lines)


def crowds(results, _):
    """Table 1 of SOFT-LOSS."""
    data, said = data_of(results), []
    if not (data / "labelme").exists():
        return None
    with tempfile.TemporaryDirectory() as folder:
        first_five(data / "pos_gimpel/annotations.csv", f"{folder}/votes.csv")
        counts = (data / "cifar10h/counts.csv").read_text()
        pathlib.Path(folder, "counts.csv").write_text(counts.replace("c", "", 10))  # classes as gold names them
        for line in (
            [f"{folder}/votes.csv", "--gold", data / "pos_gimpel/gold.csv"],
            [data / "labelme/annotations.csv", "--gold", data / "labelme/gold.csv"],
            [f"{folder}/counts.csv", "--input", "counts", "--gold", data / "cifar10h/gold.csv"],
        ):
            said.append(agree(results, *line))
    lines = ["| | POS, published / here | LabelMe | CIFAR-10H |", "|---|---|---|---|"]
    for label, measure, published, digits in CROWDS:
        here = [plain(float(s[measure]), digits) if s.get(measure) else "no ids of workers" for s in said]
        lines.append(f"| {label} | " + " | ".join(f"{p} / {h}" if p else h for p, h in zip(published, here)) + " |")
    return "\n".join(lines)


# ---- views and their centroid ----


def divergence(p, q):
    import numpy

    entropy = lambda x: -(x * numpy.log(numpy.where(x > 0, x, 1))).sum(1)
    return numpy.maximum(0, entropy((p + q) / 2) - (entropy(p) + entropy(q)) / 2)


def hub(results, _):
    """Correlation of a view's distance to the centroid with its mean distance to the other views."""
    import numpy

    store, db = opened(results, "multi-view-labels")
    if not db:
        return None
    lines, means = ["| | over items and views |", "|---|---|"], []
    for said, data in (("RTE", "rte"), ("MRE", "mre"), ("POS", "pos"), ("toxicity, another set", "toxicity")):
        path = lambda name: db.execute(
            "select path from runs join sets using(key) where state = 'done' and cell = ?", (f"{data}: {name}",)
        ).fetchone()[0]
        p = {name: numpy.load(f"{store}/{path(name)}") for name in (*VIEWS, "centroid")}
        near = {v: divergence(p[v], p["centroid"]) for v in VIEWS}
        far = {v: sum(divergence(p[v], p[w]) for w in VIEWS if w != v) / 3 for v in VIEWS}
        r = numpy.corrcoef(numpy.concatenate([near[v] for v in VIEWS]), numpy.concatenate([far[v] for v in VIEWS]))[
            0, 1
        ]
        lines.append(f"| {said} | {plain(r, 3)} |")
        means += [(near[v].mean(), far[v].mean()) for v in VIEWS] if data != "toxicity" else []
    r = numpy.corrcoef(*zip(*means))[0, 1]
    return "\n".join([*lines, f"| the 12 means of the first three | {plain(r, 3)} |", "| published | .935 |"])


# ---- items of low and high entropy ----

CIFAR = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
ENTROPIES = [
    ("SNLI", "chaosnli/snli_items.csv", {"c_e": "entailment", "c_n": "neutral", "c_c": "contradiction"}),
    ("MNLI", "chaosnli/mnli_m_items.csv", {"c_e": "entailment", "c_n": "neutral", "c_c": "contradiction"}),
    ("alphaNLI", "chaosnli/alphanli_items.csv", {"c_1": "first", "c_2": "second"}),
    ("CIFAR-10H", "cifar10h/counts.csv", {f"c{k}": name for k, name in enumerate(CIFAR)}),
]


def low_and_high(results, _):
    """Of each data set the items that people see most and least alike, and how its entropies lie."""
    data = data_of(results)
    lines = ["| | most alike | most divided | unanimous | mean entropy | above .9 |", "|---|---|---|---|---|---|"]
    for said, file, columns in ENTROPIES:
        if not (data / file).exists():
            return None
        with open(data / file, newline="") as f:
            rows = list(csv.DictReader(f))
        found = []
        for r in rows:
            votes = [int(r[c]) for c in columns]
            share = [v / sum(votes) for v in votes]
            found.append(
                (
                    -sum(s * math.log(s) for s in share if s) / math.log(len(share)) + 0.0,
                    r.get("task") or r.get("image") or str(len(found)),
                    votes,
                )
            )
        shown = lambda x: (
            f"{x[1]}: "
            + ", ".join(f"{n} {name}" for name, n in sorted(zip(columns.values(), x[2]), key=lambda y: -y[1]) if n)
        )
        entropy = [x[0] for x in found]
        lines.append(
            f"| {said} | {shown(min(found))} | {shown(max(found))} "
            f"| {sum(e == 0 for e in entropy)} of {len(entropy):,} | {plain(sum(entropy) / len(entropy), 2)} "
            f"| {100 * sum(e > 0.9 for e in entropy) / len(entropy):.1f} % |"
        )
    return "\n".join(lines)


# ---- differences of two conditions ----


def pairs(db, experiment, one, other, measure):
    """Differences of runs of the same seed and fold; a cell EXPERIMENT//CELL is another experiment's."""
    metric = measure.partition(".")[2]
    rows = """select seed, fold, value from runs join measures using(key)
              where state = 'done' and experiment = ? and cell = ? and set_name = ? and metric = ?"""
    named = [cell.split("//") if "//" in cell else (experiment, cell) for cell in (one, other)]
    got = [{(s, f): v for s, f, v in db.execute(rows, (*name, *measure.split(".", 1)))} for name in named]
    both = sorted(got[0].keys() & got[1].keys())
    folds = {s: [k for k in both if k[0] == s] for s, _ in both}
    whole = [k for k in folds.values() if len(k) == max(map(len, folds.values()))]  # seeds that have all folds
    if len(whole) >= 5:  # of each seed the mean over its folds
        return [sum(got[0][k] - got[1][k] for k in seed) / len(seed) for seed in whole], metric
    return [got[0][k] - got[1][k] for k in both], metric


def difference(db, experiment, one, other, measure):
    """ "+1.35 [+.62, +2.08]" in points where the measure is a share; None: nothing to compare."""
    d, metric = pairs(db, experiment, one, other, measure)
    if len(d) < 2:
        return None
    scale, digits = (100, 2) if metric in PERCENT else (1, 3)
    mean, _, low, high = (x * scale for x in interval(d))
    return f"{signed(mean, digits)} [{signed(low, digits)}, {signed(high, digits)}]"


ACCURACY, PEOPLE = "images.accuracy", "test.cross_entropy"
LOSS = "{} against KL, {}".format
# key: file, rows of (what, one, other, measure)
GAINS = {
    "gains-trust": (
        "beyond-trust",
        [
            (f"{said}, {int(100 * float(t))} % random", f"{one}, {t}", f"{other}, {t}", ACCURACY)
            for t in (".1", ".25", ".5", ".75")
            for said, one, other in (
                ("Dawid-Skene as soft labels against shares", "soft d&s", "soft"),
                ("crowd layer against shares", "crowd layer", "soft"),
                ("crowd layer against Dawid-Skene as soft labels", "crowd layer", "soft d&s"),
            )
        ],
    ),
    "gains-targets": (
        "beyond-targets",
        [
            (f"Jensen-Shannon against KL, {said}", f"js to {k}", f"kl to {k}", m)
            for m in (ACCURACY, PEOPLE)
            for said, k in (("softmax", "softmax"), ("centroid", "centroid"), ("default labels", "default"))
        ]
        + [
            (f"default labels against the centroid, {said}", f"{k} to default", f"{k} to centroid", m)
            for m in (ACCURACY, PEOPLE)
            for said, k in (("KL", "kl"), ("Jensen-Shannon", "js"))
        ],
    ),
    "gains-votes-tags": (
        "beyond-votes-tags",
        [
            (
                f"softmax against the majority, {n} votes at most" if n > 1 else "softmax against the majority, 1 vote",
                f"soft, of {n}",
                f"majority of {n}",
                m,
            )
            for m in ("test.accuracy", PEOPLE)
            for n in (1, 2, 3, 5)
        ],
    ),
    "gains-inverse-kl": (
        "why-inverse-kl",
        [
            (f"inverse KL with {said}, against {told}", cell, f"large-mtl-pos//{other}", "test.accuracy")
            for said, cell in (
                ("20 steps of warm-up", "20 steps of warm-up"),
                ("one encoder layer", "one encoder layer"),
            )
            for told, other in (("KL", "gold+kl"), ("one head", "gold"))
        ],
    ),
}
UNIT = {
    "accuracy": "accuracy, points",
    "macro_f1": "macro-F1, points",
    "cross_entropy": "cross-entropy to people, nats",
}


def gains(results, key):
    file, rows = GAINS[key]
    _, db = opened(results, file)
    if not db:
        return None
    lines = ["| difference | of | [95 % over seeds] |", "|---|---|---|"]
    for said, one, other, measure in rows:
        d = difference(db, file, one, other, measure)
        if d:
            lines.append(f"| {said} | {UNIT[measure.partition('.')[2]]} | {d} |")
    return "\n".join(lines) if len(lines) > 2 else None


def mean_of(db, experiment, cell, measure):
    rows = """select avg(value), count(*) from runs join measures using(key)
              where state = 'done' and experiment = ? and cell = ? and set_name = ? and metric = ?"""
    return db.execute(rows, (experiment, cell, *measure.split(".", 1))).fetchone()


# ---- the reference run of an encoder, by PyTorch and transformers (accuracy, macro-F1, calibrated log-likelihood) ----

REFERENCE = {
    "gold": (0.583, 0.545, 0.653),
    "silver": (0.678, 0.646, 0.595),
    "standard": (0.695, 0.670, 0.589),
    "softmax": (0.687, 0.641, 0.591),
    "dawid-skene": (0.645, 0.611, 0.621),
    "mace": (0.599, 0.563, 0.656),
    "average": (0.678, 0.652, 0.600),
    "centroid": (0.660, 0.637, 0.617),
    "temperature": (0.684, 0.651, 0.595),
    "hybrid": (0.642, 0.631, 0.632),
    "gold + standard": (0.631, 0.595, 0.615),
    "gold + softmax": (0.691, 0.631, 0.583),
    "gold + dawid-skene": (0.627, 0.609, 0.635),
    "gold + mace": (0.617, 0.599, 0.639),
    "gold + average": (0.642, 0.593, 0.629),
    "gold + centroid": (0.640, 0.620, 0.625),
    "gold + temperature": (0.608, 0.547, 0.645),
    "gold + hybrid": (0.638, 0.615, 0.626),
}


def reference(results, _):
    file, metrics = "large-multi-view-rte", ("accuracy", "macro_f1", "calibrated_log_likelihood")
    shown, within, differences = [], [], {m: [] for m in metrics}
    for cell, there in REFERENCE.items():
        here = [results.measure(file, cell, f"snli.{m}") for m in metrics]
        if None in here:
            continue
        within += [abs(h["mean"] - t) / h["sd"] for h, t in zip(here, there) if h["sd"]]  # the spread may be lost
        for m, h, t in zip(metrics, here, there):
            differences[m].append(h["mean"] - t)
        said = lambda x: f"{100 * x[0]:.1f} / {100 * x[1]:.1f} / {plain(x[2], 3)}"
        shown.append(f"| {cell} | {said([h['mean'] for h in here])} | {said(there)} |")
    if not shown:
        return None
    n, mean = len(within), {m: sum(d) / len(d) for m, d in differences.items()}
    told = (
        f"Of {n} figures whose spread is known {sum(w <= 1 for w in within)} lie within one standard deviation over our "
        f"seeds of the reference run, all within {plain(max(within), 1)}; "
        f"on average accuracy is {signed(100 * mean['accuracy'], 1)} points, "
        f"macro-F1 {signed(100 * mean['macro_f1'], 1)} points "
        f"and calibrated log-likelihood {signed(mean['calibrated_log_likelihood'], 3)} here."
    )
    return "\n".join(
        [
            told,
            "",
            "<details><summary>Condition by condition</summary>",
            "",
            "| | here: accuracy / macro-F1 / calibrated log-likelihood | reference |",
            "|---|---|---|",
            *shown,
            "",
            "</details>",
        ]
    )


# ---- what conditions without pretraining have in common ----

BAGS = [
    ("RTE to SNLI", "multi-view-rte", "snli"),
    ("MRE to press releases", "multi-view-mre", "insciout"),
    ("toxicity, another set", "multi-view-toxicity", "test"),
    ("POS to newspapers, a small tagger", "multi-view-pos", "words"),
    ("the same with traces", "multi-view-pos", "treebank"),
]


def ranges(results, _):
    lines = [
        "| | conditions | seeds | gold: macro-F1 / calibrated log-likelihood | the others, lowest to highest |",
        "|---|---|---|---|---|",
    ]
    for said, file, name in BAGS:
        results.measure(file, "gold", f"{name}.macro_f1")
        cells = [c for c in results.tables.get(file) or {} if results.measure(file, c, f"{name}.macro_f1")]
        if "gold" not in cells:
            continue
        get = lambda c, m: results.measure(file, c, f"{name}.{m}")["mean"]
        others = [c for c in cells if c != "gold"]
        f1, cll = ([get(c, m) for c in others] for m in ("macro_f1", "calibrated_log_likelihood"))
        seeds = {results.measure(file, c, f"{name}.macro_f1")["seeds"] for c in cells}
        lines.append(
            f"| {said} | {len(cells)} | {' to '.join(str(s) for s in sorted(seeds))} "
            f"| {100 * get('gold', 'macro_f1'):.1f} / {plain(get('gold', 'calibrated_log_likelihood'), 3)} "
            f"| {100 * min(f1):.1f} to {100 * max(f1):.1f} / {plain(min(cll), 3)} to {plain(max(cll), 3)} |"
        )
    return "\n".join(lines) if len(lines) > 2 else None


MORE = {
    "crowds": crowds,
    "agreements": agreements,
    "hub": hub,
    "low-and-high": low_and_high,
    "reference": reference,
    "ranges": ranges,
    **{k: gains for k in GAINS},
}
