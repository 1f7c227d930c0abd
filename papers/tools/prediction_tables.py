"""Tables of papers/results.md that are made from predictions, or run by run.

Table 3 of Fornaciari et al. (which model is right where, by how people agree), near and far views, runs that learn
late, soft against hard training with words alone, and what gold loses where people are divided. They need numpy and
scipy.
"""

import csv
import functools
import pathlib
import sqlite3

from claims import DATA, interval
from claims import number as signed
from condition_rows import PEOPLE3, VIEWS, heads, value

CELLS = {
    "kurtosis": ("large-mtl-pos", "| published, gold + CE | 6.614 | 6.015 | 5.961 | 5.727 | |"),
    "entropy": ("large-mtl-stemming", None),
}


# ---- table 3 of Fornaciari et al.: which model is right where ----


@functools.lru_cache
def predictions(store):
    """(cell, fold, seed): predicted classes, gold classes (-1: none), what the soft labels of people say."""
    import numpy

    found = {}
    db = sqlite3.connect(f"file:{store}/results.sqlite?mode=ro", uri=True)
    sets = (
        "select cell, fold, seed, path, truth from runs join sets using(key) where state = 'done' and set_name = 'test'"
    )
    for cell, fold, seed, path, truth in db.execute(sets):
        read = lambda end, t=truth: [line.rstrip("\n") for line in open(f"{store}/truth/{t}.{end}.txt")]
        classes = read("classes")
        with open(f"{store}/truth/{truth}.gold.csv", newline="") as f:
            gold = {r["task"]: classes.index(r["label"]) for r in csv.DictReader(f)}
        found[cell, fold, seed] = (
            numpy.load(f"{store}/{path}").argmax(1),
            numpy.array([gold.get(t, -1) for t in read("tasks")]),
            numpy.load(f"{store}/truth/{truth}.npy"),
        )
    return found


def right_or_wrong(found, one, two, kurtosis):
    """How people agree on items that both, only two heads, only one head and neither got right; None: no such runs."""
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
    """Seed: how much more people agree where only `one` (two heads) is right than where only `other` is."""
    store = results.store(c["file"])
    if not store.exists():
        return None
    found = predictions(store)
    seeds = sorted({seed for cell, _, seed in found if cell == c["one"]})
    made = {
        seed: right_or_wrong({k: v for k, v in found.items() if k[2] == seed}, c["other"], c["one"], c["kurtosis"])
        for seed in seeds
    }
    return {seed: (1 if c["kurtosis"] else -1) * (m[1].mean() - m[2].mean()) for seed, m in made.items() if m}


def who_is_right(results, key):
    file, published = CELLS[key]
    store = results.store(file)
    if not store.exists():
        return None
    found = predictions(store)
    lines = [
        "| | both right | only two heads right | only one head right | both wrong | p |",
        "|---|---|---|---|---|---|",
        *([published] if published else []),
    ]
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
    store = results.store(file)
    if not store.exists():
        return None
    names = {b: a for a, b in VIEWS[:4]}
    lines = ["| | hub | nearest two | farthest two | all four |", "|---|---|---|---|---|"]
    for data in ("rte", "mre", "pos", "toxicity", "labelme", "bluebird", "dog", "sentiment"):
        apart = distances(store, data)
        order = ["standard", "softmax", "dawid-skene", "mace"]
        pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
        hub = min(order, key=lambda a: sum(apart[a, b] for b in order))
        chosen = [(names[hub], hub)] + [
            (" + ".join(names[v] for v in pair), " + ".join(pair))
            for pair in (min(pairs, key=apart.get), max(pairs, key=apart.get))
        ]
        said = [
            f"{what}: "
            + " / ".join(value(results, file, f"{data}: {cell}", f"test.{m}", "mean") for m in ("accuracy", "log_loss"))
            for what, cell in chosen
        ]
        said.append(
            " / ".join(value(results, file, f"{data}: all four", f"test.{m}", "mean") for m in ("accuracy", "log_loss"))
        )
        lines.append(f"| {data} | " + " | ".join(said) + " |")
    return "\n".join(lines)


# ---- why inverse KL learns late ----

LATE = 0.83  # accuracy below which a run counts as one that learned late: none of KL's is
INVERSE = [
    ("two encoder layers, as the paper has it", "large-mtl-pos", "gold+inverse-kl"),
    ("the same in float32", "why-inverse-kl", "the paper's size"),
    ("KL instead of inverse KL", "large-mtl-pos", "gold+kl"),
    ("one encoder layer", "why-inverse-kl", "one encoder layer"),
    ("20 steps of warm-up, then falling to 0", "why-inverse-kl", "20 steps of warm-up"),
    ("gradients clipped at 1", "why-inverse-kl", "gradients clipped at 1"),
    ("LSTMs of 32, one layer of 64", "why-inverse-kl", "LSTMs of 32, one layer of 64"),
]


def late_runs(results, _):
    store = results.store("why-inverse-kl")
    if not store.exists():
        return None
    db = sqlite3.connect(f"file:{store}/results.sqlite?mode=ro", uri=True)
    runs = """select value, fold, seed from runs join measures using(key) where state = 'done'
              and metric = 'accuracy' and set_name = 'test' and experiment = ? and cell = ?"""
    percent = lambda x: f"{x * 100:.2f}"
    lines = ["| | runs | accuracy | lowest | highest | below 83 |", "|---|---|---|---|---|---|"]
    for label, experiment, cell in INVERSE:
        x = sorted(r[0] for r in db.execute(runs, (experiment, cell)))
        if x:
            lines.append(
                f"| {label} | {len(x)} | {percent(sum(x) / len(x))} | {percent(x[0])} | {percent(x[-1])} "
                f"| {sum(v < LATE for v in x)} |"
            )
    return "\n".join(lines)


# ---- soft against hard training, words alone ----


def words_alone(results, _):
    """Rows of which there is no store stay what the document has."""
    lines = ["| | hard | sd | soft | sd | KL, soft against hard |", "|---|---|---|---|---|---|"]
    there = (
        {
            line.split(" | ")[0]: line
            for line in pathlib.Path(results.options.write).read_text().splitlines()
            if line.count("|") == 7
        }
        if results.options.write
        else {}
    )
    for kept in ("", ", kept by accuracy"):
        for label, file, data in (
            ("SNLI", "epistemic-chaosnli", "snli, "),
            ("MNLI", "epistemic-chaosnli", "mnli, "),
            ("alphaNLI", "epistemic-chaosnli", "alphanli, "),
            ("POPQUORN", "epistemic-popquorn", ""),
        ):
            cells = [f"{data}{kind}{kept}" for kind in ("hard", "soft")]
            kl = [results.measure(file, c, "test.kl") for c in cells]
            label += ", by accuracy" if kept else ""
            if None in kl:
                lines += [there[f"| {label}"]] if f"| {label}" in there else []
                continue
            said = [
                " / ".join(value(results, file, c, m, what) for m in PEOPLE3) for c in cells for what in ("mean", "sd")
            ]
            lines.append(
                f"| {label} | " + " | ".join(said) + f" | {round(100 * (kl[1]['mean'] / kl[0]['mean'] - 1))} % |"
            )
    return "\n".join(lines) if len(lines) > 2 else None


# ---- what gold loses where people are divided ----


def votes_of_labelme(results):
    """Of each image of LabelMe its classes in the order of the votes."""
    found = {}
    with open(
        pathlib.Path(results.options.data or DATA) / "labelme/annotations.csv", newline=""
    ) as f:
        for r in csv.DictReader(f):
            found.setdefault(r["task"], []).append(r["label"])
    return found


def split_by_people(results, key, store, truth):
    """Which items people agree on and which they dispute, and the shares of their votes."""
    import numpy

    tasks, classes = (
        [line.rstrip("\n") for line in open(f"{store}/truth/{truth}.{end}.txt")] for end in ("tasks", "classes")
    )
    if key == "disputed-labelme":
        votes = votes_of_labelme(results)
        shares = numpy.array([[votes[t].count(c) / len(votes[t]) for c in classes] for t in tasks])
        return (
            shares,
            numpy.array([len(votes[t]) > 1 and len(set(votes[t])) == 1 for t in tasks]),
            numpy.array([len(set(votes[t])) > 1 for t in tasks]),
        )
    shares = numpy.load(f"{store}/truth/{truth}.npy")
    return shares, shares.max(1) >= 0.95, shares.max(1) < 2 / 3


DISPUTED = {
    "disputed-labelme": (
        "labelme",
        [
            ("gold", "gold"),
            ("majority", "majority"),
            ("Dawid-Skene, hard", "d&s"),
            ("crowd layer on logits", "crowd layer"),
            ("soft, standard shares", "soft, standard"),
        ],
    ),
    "disputed-cifar10h": (
        "cifar10h",
        [
            ("gold", "gold"),
            ("majority", "majority"),
            ("soft, standard shares", "soft, standard"),
            ("soft, softmax", "soft, softmax"),
        ],
    ),
}


def disputed(results, key):
    """Accuracy, cross-entropy to shares of votes and mean probability of the answer by kind of item, over seeds."""
    import numpy

    file, rows = DISPUTED[key]
    store = results.store(file)
    if not store.exists():
        return None
    db = sqlite3.connect(f"file:{store}/results.sqlite?mode=ro", uri=True)
    people, found, count = {}, {}, {}
    sets = """select cell, path, truth from runs join sets using(key)
              where state = 'done' and set_name = 'test' order by seed"""
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
    lines = [
        "| trained on | "
        + " | ".join(f"{kind}, {numpy.mean(count[kind]):.0f} images" for kind in ("agreed", "disputed"))
        + " |",
        "|---|---|---|",
    ]
    lines += [
        f"| {label} | {said(mean(cell, 'agreed'))} | {said(mean(cell, 'disputed'))} |"
        for label, cell in rows
        if (cell, "agreed") in found
    ]
    told = []
    for kind in ("agreed", "disputed"):
        d = numpy.array(found["gold", kind]) - numpy.array(found["soft, standard", kind])  # seed by seed
        said = [[x * s for x in interval(list(d[:, i]))] for i, s in ((0, 100), (1, 1))]
        told.append(
            " / ".join(f"{signed(x[0], k)} [{signed(x[2], k)}, {signed(x[3], k)}]" for x, k in zip(said, (1, 2)))
        )
    return "\n".join([*lines, f"| gold less shares, 95 % over seeds | {told[0]} | {told[1]} |"])


PEOPLE = {
    "words-alone": words_alone,
    "disputed-labelme": disputed,
    "disputed-cifar10h": disputed,
    "kurtosis": who_is_right,
    "entropy": who_is_right,
    "beyond-views": near_and_far,
    "why-inverse-kl": late_runs,
}
