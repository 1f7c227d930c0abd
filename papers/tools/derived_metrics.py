"""Values of single runs that are computed from the predictions in a store: how far annotators agree where only one of two
models is right (table 3 of Fornaciari et al.), and distances between labels (Wright and Augenstein, section 5.4)."""

import csv
import functools
import pathlib
import sqlite3

VIEWS = ["standard", "softmax", "dawid-skene", "mace"]
AGREEMENT = {
    "mtl-pos": "kurtosis",
    "mtl-stemming": "entropy",
    "large-mtl-pos-released": "kurtosis",
    "large-mtl-stemming-released": "entropy",
}


@functools.lru_cache
def predictions(store, file):
    """{(cell, seed, fold): (predicted probabilities, known, gold classes, soft labels of the annotators)}."""
    import numpy

    db = sqlite3.connect(f"file:{store}/results.sqlite?mode=ro", uri=True)
    query = """select cell, seed, fold, path, truth from runs join sets using(key)
               where state = 'done' and set_name = 'test' and experiment = ?"""
    found = {}
    for cell, seed, fold, path, truth in db.execute(query, (file,)):
        if not path:
            continue
        read = lambda end, t=truth: [x.rstrip("\n") for x in open(f"{store}/truth/{t}.{end}.txt")]
        classes = read("classes")
        with open(f"{store}/truth/{truth}.gold.csv", newline="") as f:
            gold = {r["task"]: classes.index(r["label"]) for r in csv.DictReader(f)}
        gold = numpy.array([gold.get(t, -1) for t in read("tasks")])
        found[cell, seed, str(fold)] = (
            numpy.load(f"{store}/{path}"),
            gold >= 0,
            gold,
            numpy.load(people) if (people := pathlib.Path(f"{store}/truth/{truth}.npy")).exists() else None,
        )
    return found


def entropies(p):
    import numpy

    return -(p * numpy.log(numpy.where(p > 0, p, 1))).sum(1)


def kurtosis(p):
    """Excess kurtosis of each row, as scipy.stats.kurtosis computes it."""
    centered = p - p.mean(1, keepdims=True)
    return (centered**4).mean(1) / (centered**2).mean(1) ** 2 - 3


def who_is_right(file, store):
    """Means of kurtosis or entropy of the soft labels where both models, only the one with two heads, only the one with one
    head, and neither is right."""
    found, metrics = predictions(store, file), {}
    of = kurtosis if AGREEMENT[file] == "kurtosis" else entropies
    for (cell, seed, fold), (p, known, gold, people) in found.items():
        one = found.get((cell.partition("+")[0], seed, fold)) if "+" in cell else None
        if one is None:
            continue
        two, one, x = p.argmax(1) == gold, one[0].argmax(1) == gold, of(people)
        cases = {"both": two & one, "two_heads": two & ~one, "one_head": one & ~two, "neither": ~two & ~one}
        means = {name: x[which & known] for name, which in cases.items() if (which & known).any()}
        metrics[cell, seed, fold] = {f"right.{name}": float(values.mean()) for name, values in means.items()}
    return metrics


def divergence(p, q):
    import numpy

    return numpy.maximum(0, entropies((p + q) / 2) - (entropies(p) + entropies(q)) / 2)


def distances(file, store):
    """Of a view its mean divergence to the centroid and to the other views; of the centroid the correlation of the two over
    items and views; of a pair of views their divergence."""
    import numpy

    found, metrics = predictions(store, file), {}
    for place in found:
        cell, seed, fold = place
        data, _, name = cell.partition(": ")
        at = lambda view: found[f"{data}: {view}", seed, fold][0]
        if name == "centroid" and file == "multi-view-labels":
            near = [divergence(at(v), at("centroid")) for v in VIEWS]
            far = [sum(divergence(at(v), at(w)) for w in VIEWS if w != v) / 3 for v in VIEWS]
            metrics[place] = {
                "hub.correlation": float(numpy.corrcoef(numpy.concatenate(near), numpy.concatenate(far))[0, 1])
            }
            for v, a, b in zip(VIEWS, near, far):
                metrics.setdefault((f"{data}: {v}", seed, fold), {}).update(
                    {"distance.centroid": float(a.mean()), "distance.views": float(b.mean())}
                )
        elif file == "beyond-views" and name.count(" + ") == 1:
            one, two = name.split(" + ")
            metrics[place] = {"distance.pair": float(divergence(at(one), at(two)).mean())}
    return metrics


def derived(file, store):
    """{(cell, seed, fold): {measure: value}}; empty for most experiments."""
    if file in AGREEMENT:
        return who_is_right(file, store)
    return distances(file, store) if file in ("multi-view-labels", "beyond-views") else {}
