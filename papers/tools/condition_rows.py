"""Rows and columns of the tables of papers/results.md that have a condition per row; papers/tools/result_tables.py fills them.

A row is what it is called, its cell (None: cannot be run), what is published, and the standard deviation of that. A
column is its header ({n}: seeds), file, function of the row's cell, measures, and what of them: mean, sd, difference to
what is published, or both.
"""

from claims import PERCENT

SOFT_LOSS_POS = [
    ("gold", "gold", "89.22 / 3.34 / .41", ".70 / .40 / .02"),
    ("majority", "majority", "77.90 / 2.58 / .52", ".84 / .13 / .02"),
    ("Dawid-Skene, hard", "d&s", "77.46 / 2.52 / .50", "1.75 / .09 / .02"),
    ("crowd layer on logits, 5 votes per token", "crowd layer", "76.50 / 2.16 / .60", "2.57 / .04 / .04"),
    ("the same with 3 epochs of warm-up", "crowd layer, warm-up", ""),
    ("crowd layer on logits, all votes", "crowd layer, all votes", ""),
    ("crowd layer on probabilities, 5 votes per token", "crowd layer, on probabilities", ""),
    ("soft", "soft", "80.03 / 1.67 / .67", ".28 / .52 / .01"),
    ("soft, standard shares", "soft, standard", "78.99", ".36"),
]
SOFT_LOSS_LABELME = [
    ("gold", "gold", "97.21 / 4.86 / -.01", ".49 / .14 / .01"),
    ("majority", "majority", "80.36 / 3.07 / .15", ".57 / .09 / .01"),
    ("Dawid-Skene, hard", "d&s", "83.43 / 2.90 / .11", ".79 / .23 / .05"),
    ("crowd layer on logits", "crowd layer", "83.54 / 2.80 / .28", ".57 / .15 / .06"),
    ("crowd layer on probabilities", "crowd layer, on probabilities", ""),
    ("crowd layer on logits, 5 epochs of warm-up", "crowd layer, warm-up", ""),
    ("soft", "soft", "84.85 / 1.64 / .39", ".50 / .02 / .08"),
    ("soft, standard shares", "soft, standard", "83.46", ".82"),
]
SOFT_LOSS_CIFAR = [
    ("gold", "gold", "65.22 / 2.61 / .13", ".76 / .07 / .09"),
    ("majority", "majority", "65.68 / 2.63 / .13", "1.01 / .10 / .03"),
    ("Dawid-Skene, hard: needs ids of workers", None, "65.65 / 2.55 / .13", "1.15 / .14 / .02"),
    ("crowd layer: needs ids of workers", None, "68.25 / 3.51 / .12", "1.06 / .14 / .01"),
    ("soft, standard shares", "soft, standard", "66.64 / 1.11 / .22", ".81 / .04 / .01"),
    ("soft, softmax", "soft, softmax", "65.50", "1.10"),
]


def heads(published, before=()):
    """Eight conditions with what is published of them, behind rows of earlier work."""
    names = [(main, soft) for main in ("gold", "silver") for soft in ("", "kl", "inverse-kl", "ce")]
    said = {"": "", "kl": " + KL", "inverse-kl": " + inverse KL", "ce": " + CE, other draws"}
    return [
        *before,
        *[(main + said[soft], f"{main}+{soft}" if soft else main, p) for (main, soft), p in zip(names, published)],
    ]


VIEWS = [
    ("standard", "standard"),
    ("softmax", "softmax"),
    ("MACE", "mace"),
    ("Dawid-Skene", "dawid-skene"),
    ("average", "average"),
    ("centroid", "centroid"),
    ("temperature", "temperature"),
    ("hybrid", "hybrid"),
]
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
    "labelme": (
        SOFT_LOSS_LABELME,
        "published",
        [
            here("labelme", SOFT3),
            sd("labelme", SOFT3[:1]),
            less("labelme", SOFT3),
            here("labelme", ["images.accuracy"], "test images"),
            here("why-labelme", [m.replace("test", "seen") for m in SOFT3], "images trained on"),
        ],
    ),
    "pos-soft-loss": (
        SOFT_LOSS_POS,
        "published, 30 seeds",
        [
            here("large-pos-soft-loss", SOFT3, "the paper's size, {n} seeds"),
            sd("large-pos-soft-loss", SOFT3[:1]),
            less("large-pos-soft-loss", SOFT3),
            here("pos-soft-loss", SOFT3, "smaller, {n} seeds"),
        ],
    ),
    "cifar10h": (
        SOFT_LOSS_CIFAR,
        "published, 10 seeds",
        [
            here("cifar10h", SOFT3),
            sd("cifar10h", SOFT3[:1]),
            less("cifar10h", SOFT3),
            here("cifar10h", ["test.kl"], "KL to people"),
            here("cifar10h", SOFT3, "second recipe, {n} seeds", LATER),
            sd("cifar10h", SOFT3[:1], LATER),
        ],
    ),
    "mtl-pos": (
        heads(
            [
                "85.73 / 85.00",
                "86.62** / 85.90**",
                "86.55** / 85.88**",
                "86.76** / 85.98**",
                "75.22 / 67.01",
                "75.82** / 67.66**",
                "76.00** / 67.76**",
                "75.99** / 67.80**",
            ],
            [("Jamison and Gurevych (2015)", None, "78.9")],
        ),
        "published, 10 seeds",
        [
            here("large-mtl-pos", ["test.accuracy", "test.macro_f1"], "the paper's size, {n} seeds"),
            sd("large-mtl-pos", ["test.accuracy", "test.macro_f1"]),
            less("large-mtl-pos", ["test.accuracy", "test.macro_f1"]),
        ],
    ),
    "mtl-pos-test": (
        heads(
            [
                "85.84 / 74.56",
                "85.93 / 75.04",
                "86.29* / 75.04",
                "86.27* / 75.13",
                "77.81 / 60.59",
                "78.61** / 61.68**",
                "79.16** / 61.94**",
                "78.49** / 61.53**",
            ],
            [("Plank et al. (2014)", None, "83.6")],
        ),
        "published, 10 seeds",
        [
            here("large-mtl-pos-test", ["lowlands.accuracy", "lowlands.macro_f1"], "the paper's size, {n} seeds"),
            sd("large-mtl-pos-test", ["lowlands.accuracy", "lowlands.macro_f1"]),
            less("large-mtl-pos-test", ["lowlands.accuracy", "lowlands.macro_f1"]),
            here("mtl-pos-test", ["lowlands.accuracy", "lowlands.macro_f1"], "smaller, {n} seeds"),
        ],
    ),
    "mtl-stemming": (
        heads(
            [
                "73.59 / 57.57",
                "75.63** / 55.58",
                "77.09** / 58.41*",
                "75.26** / 55.92",
                "71.34 / 58.85",
                "73.17** / 57.75",
                "77.47** / 57.85",
                "74.41** / 57.06",
            ],
            [("Jamison and Gurevych (2015)", None, "76.6")],
        ),
        "published, 10 seeds",
        [
            here("large-mtl-stemming", ["test.accuracy", "test.macro_f1"], "the paper's size, {n} seeds"),
            sd("large-mtl-stemming", ["test.accuracy", "test.macro_f1"]),
            less("large-mtl-stemming", ["test.accuracy", "test.macro_f1"]),
            here("mtl-stemming", ["test.accuracy", "test.macro_f1"], "smaller, {n} seeds"),
        ],
    ),
    "encoder-chaosnli": (
        [(d, f"{n}, mpnet", "") for d, n in (("SNLI", "snli"), ("MNLI", "mnli"), ("alphaNLI", "alphanli"))],
        "",
        [
            here("encoder-chaosnli", ["test.majority_accuracy"], "most frequent class", lambda c: c + ", hard"),
            *[
                f
                for kind in ("hard", "soft")
                for f in (
                    here("encoder-chaosnli", PEOPLE3, f"{kind}, {{n}} seeds", lambda c, k=kind: f"{c}, {k}"),
                    sd("encoder-chaosnli", PEOPLE3, lambda c, k=kind: f"{c}, {k}"),
                )
            ],
        ],
    ),
    "encoder-popquorn": (
        [("POPQUORN", "mpnet", "")],
        "",
        [
            here("encoder-popquorn", ["test.majority_accuracy"], "most frequent class", lambda c: c + ", hard"),
            *[
                f
                for kind in ("hard", "soft")
                for f in (
                    here("encoder-popquorn", PEOPLE3, f"{kind}, {{n}} seeds", lambda c, k=kind: f"{c}, {k}"),
                    sd("encoder-popquorn", PEOPLE3, lambda c, k=kind: f"{c}, {k}"),
                )
            ],
        ],
    ),
    "beyond-trust": (
        [(f"{float(t) * 100:.0f} %", t, "") for t in TRUST],
        "",
        [
            here("beyond-trust", ["images.accuracy"], said, lambda c, k=kind: f"{k}, {c}")
            for said, kind in (
                ("majority", "majority"),
                ("Dawid-Skene, hard", "d&s"),
                ("Dawid-Skene, soft", "soft d&s"),
                ("vote shares", "soft"),
                ("crowd layer on logits", "crowd layer"),
            )
        ],
    ),
}
for _key, _set in (("mtl-pos", "test"), ("mtl-pos-test", "lowlands"), ("mtl-stemming", "test")):
    _both = [f"{_set}.accuracy", f"{_set}.macro_f1"]
    TABLES[f"{_key}-networks"] = (
        [r for r in TABLES[_key][0] if r[1]],
        "published, 10 seeds",
        [
            column
            for network in ("released", "default")
            for column in (
                here(f"large-{_key}-{network}", _both, f"{network} network, {{n}} seeds"),
                sd(f"large-{_key}-{network}", _both[:1]),
                less(f"large-{_key}-{network}", _both),
            )
        ],
    )
TABLES["pos-soft-loss-later"] = (
    SOFT_LOSS_POS,
    "published, 30 seeds",
    [
        here("large-pos-soft-loss-later", SOFT3),
        sd("large-pos-soft-loss-later", SOFT3[:1]),
        less("large-pos-soft-loss-later", SOFT3),
    ],
)
SETS = ["rte", "mre", "pos", "toxicity", "labelme", "bluebird", "dog", "sentiment"]
SAID = {"rte": "RTE", "mre": "MRE", "pos": "POS", "labelme": "LabelMe"}
TABLES["beyond-weights"] = (
    [(SAID.get(d, d), d, "") for d in SETS],
    "",
    [
        here("beyond-weights", ["test.accuracy", "test.log_loss"], said, lambda c, k=kind: f"{c}: {k}")
        for said, kind in (
            ("four views, equal", "centroid"),
            ("four views, weighted", "centroid, weighted"),
            ("two views", "centroid of two"),
        )
    ],
)
TABLES["beyond-targets"] = (
    [
        ("softmax", "{} to softmax", ""),
        ("centroid", "{} to centroid", ""),
        ("default labels", "{} to default", ""),
        ("gold, beside the centroid", "gold+{}, centroid", ""),
    ],
    "",
    [
        here("beyond-targets", [m], header, lambda c, k=loss: c.format(k))
        for said, loss in (("KL: ", "kl"), ("Jensen-Shannon: ", "js"))
        for header, m in (
            (said + "accuracy", "images.accuracy"),
            ("log-loss", "images.log_loss"),
            ("to people", "test.cross_entropy"),
        )
    ],
)
_m = lambda said, measure, what="mean": (said, "beyond-images", lambda c: c, [measure], what)
TABLES["beyond-images"] = (
    [
        *[(a, b, "") for a, b in VIEWS[:6]],
        ("centroid, weighted", "centroid, weighted", ""),
        *[(a, b, "") for a, b in VIEWS[6:]],
    ],
    "",
    [
        _m("accuracy, {n} seeds", "images.accuracy"),
        _m("sd", "images.accuracy", "sd"),
        _m("calibrated log-likelihood", "images.calibrated_log_likelihood"),
        _m("cross-entropy to people", "test.cross_entropy"),
    ],
)
TABLES["beyond-votes-images"] = (
    [(f"{n} votes at most" if n > 1 else "1 vote", str(n), "") for n in (1, 2, 3)],
    "",
    [
        here(
            "beyond-votes-images",
            ["images.accuracy", "test.cross_entropy"],
            f"{said}, {{n}} seeds",
            lambda c, k=said: f"{k} of {c}",
        )
        for said in ("majority", "shares", "softmax")
    ],
)
TABLES["beyond-votes-tags"] = (
    [(f"{n} votes at most" if n > 1 else "1 vote", str(n), "") for n in (1, 2, 3, 5)],
    "",
    [
        f
        for said, kind in (("majority", "majority of"), ("softmax", "soft, of"))
        for f in (
            here("beyond-votes-tags", SOFT3, f"{said}, {{n}} seeds", lambda c, k=kind: f"{k} {c}"),
            sd("beyond-votes-tags", SOFT3, lambda c, k=kind: f"{k} {c}"),
        )
    ],
)
AT_15 = {"temperature": "temperature 1.5", "hybrid": "hybrid 1.5"}  # where the released optimiser stops
for _key, _measure, _what in (
    ("labels-accuracy", "test.accuracy", "both"),
    ("labels-log-loss", "test.log_loss", "mean"),
):
    TABLES[_key] = (
        [("RTE", "rte", ""), ("MRE", "mre", ""), ("POS", "pos", ""), ("toxicity, another set", "toxicity", "")],
        "",
        [
            (
                said,
                "multi-view-labels",
                lambda c, k=view, at=_what == "both": (
                    (f"{c[:-1]}: {k}" if k in AT_15 else "")
                    if c.endswith("!")
                    else f"{c}: {AT_15.get(k, k) if at else k}"
                ),
                [_measure],
                _what,
            )
            for said, view in VIEWS
        ],
    )
TABLES["labels-accuracy"][0].insert(1, ("RTE, temperatures at their optimum", "rte!", ""))
TWO = [
    (f"{a} of Dawid-Skene and MACE" if i == 0 else f"{a} of the two", f"{a} of two", "")
    for i, a in enumerate(("average", "centroid", "temperature", "hybrid"))
]
SECOND_SETS = {"treebank": ", with traces", "insciout": ", strengths 2 and 3"}  # words for a heading
for _file, _sets, _metrics, _more in (
    ("large-multi-view-rte", ["snli"], ("accuracy", "macro_f1", "calibrated_log_likelihood"), []),
    ("large-multi-view-mre", ["insciout"], ("macro_f1", "calibrated_log_likelihood"), []),
    (
        "large-multi-view-mre-released",
        ["strong", "insciout"],
        ("macro_f1", "calibrated_log_likelihood", "log_loss"),
        [],
    ),
    ("large-multi-view-pos", ["words", "treebank"], ("macro_f1", "calibrated_log_likelihood"), TWO),
    ("large-multi-view-toxicity", ["test"], ("macro_f1", "calibrated_log_likelihood"), TWO),
    ("multi-view-toxicity", ["test"], ("macro_f1", "calibrated_log_likelihood"), TWO),
):
    _columns = []
    for _set in _sets:
        _m, _f1, _with = (
            [f"{_set}.{m}" for m in _metrics],
            [f"{_set}.macro_f1"],
            SECOND_SETS[_set] if _set != _sets[0] else "",
        )
        for _said, _cell in (
            (f"KL{_with}, {{n}} seeds", lambda c: c),
            (f"gold + KL{_with}, {{n}} seeds", lambda c: f"gold + {c}"),
        ):
            _columns += [here(_file, _m, _said, _cell)] + ([] if _with else [sd(_file, _f1, _cell)])
    TABLES[_file] = (
        [("gold alone", "gold", ""), ("silver alone", "silver", ""), *[(a, b, "") for a, b in VIEWS], *_more],
        "",
        _columns,
    )

# Rows that are quoted alone.
ALSO = {
    "labels-accuracy": "| toxicity, the paper's set, published "
    "| 78.4 | 78.4 | 73.1 | 73.3 | 75.4 | 75.4 | 75.7 | 75.7 |"
}


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
    return (
        number(m[what], measure) + ("*" * m.get("stars", 0) if what == "mean" else "")
        if m.get(what) is not None
        else "-"
    )
