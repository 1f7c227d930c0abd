"""Tables of papers/results.md, from the kept runs. Published values come from the experiment files, or are quoted here."""

from derived_metrics import VIEWS as FOUR_VIEWS
from results import PERCENT, interval, plain, published, shown, signed, summarize

SOFT3 = ["accuracy", "cross_entropy", "entropy_correlation"]
NO_RUNS = "-"


def lines_of(header, rows):
    head = "| " + " | ".join(header) + " |"
    return "\n".join([head, "|---" * len(header) + "|", *("| " + " | ".join(r) + " |" for r in rows)])


def cell(results, file, name, measures):
    """Means of several measures of a condition."""
    found = [results.mean(file, name, m) for m in measures]
    texts = [NO_RUNS if x is None else shown(x, m) for x, m in zip(found, measures)]
    return "" if set(texts) == {NO_RUNS} else " / ".join(texts)


def reported(file, name, metrics):
    """The published values of a condition."""
    found = [published(file, name, m) for m in metrics]
    texts = [NO_RUNS if x is None else shown(x, f"x.{m}") for x, m in zip(found, metrics)]
    return "" if set(texts) == {NO_RUNS} else " / ".join(s for s in texts if s != NO_RUNS)


def less_published(results, file, name, measures):
    texts = []
    for m in measures:
        metric = m.partition(".")[2]
        here, published_value = results.mean(file, name, m), published(file, name, metric)
        if here is not None and published_value is not None:
            texts.append(signed((here - published_value) * (100 if metric in PERCENT else 1)))
    return " / ".join(texts)


def spread(results, file, name, measure):
    found = results.summary(file, name, measure)
    return "" if not found or found.sd is None else shown(found.sd, measure)


def seeds(results, file, names, measure):
    found = {s.n for s in (results.summary(file, n, measure) for n in names) if s}
    if len(found) > 1:
        return f"{min(found)} to {max(found)} seeds"
    return "1 seed" if found == {1} else f"{max(found)} seeds"


def gain(results, file, one, other, measure):
    return interval(results.difference(file, one, other, measure, signed=False), measure)


# ---- Uma et al. ----

CROWDS = [
    ("votes per item", "votes_per_item", ("5.00", "2.50", "51.10"), 2),
    ("votes per item and class", "coder_to_label_ratio", (".30", ".26", "5.11"), 2),
    ("agreement", "agreement_with_singles", (".73", ".73", ".94"), 3),
    ("accuracy of annotators", "worker_accuracy", (".68", ".69", ".95"), 3),
    ("annotators at .75 or more", "workers_at_75", (".29", ".42", "1.00"), 3),
    ("annotators above .75", "workers_above_75", (".29", ".42", "1.00"), 3),
    ("items whose gold label got no vote", "gold_never_voted", ("", "", ""), 4),
]


def crowds(results):
    rows = []
    for label, measure, published_values, digits in CROWDS:
        row = [label]
        for data, published_value in zip(("POS, five votes", "LabelMe", "CIFAR-10H"), published_values):
            x = results.mean("crowds", data, f"crowd.{measure}")
            here = "no annotator ids" if x is None else plain(x, digits)
            row.append(f"{published_value} / {here}" if published_value else here)
        rows.append(row)
    return lines_of(["", "POS, published / here", "LabelMe", "CIFAR-10H"], rows)


LABELME = [
    ("gold", "gold"),
    ("majority", "majority"),
    ("Dawid-Skene, hard", "d&s"),
    ("crowd layer on logits", "crowd layer"),
    ("crowd layer on probabilities", "crowd layer, on probabilities"),
    ("soft labels", "soft"),
    ("vote shares", "soft, standard"),
]


def labelme(results):
    file, three = "labelme", [f"test.{m}" for m in SOFT3]
    header = ["", "published", f"here, {seeds(results, file, ['soft'], three[0])}", "less published"]
    return lines_of(
        [*header, "1,188 test images", "images trained on"],
        [
            [
                label,
                reported(file, name, SOFT3),
                cell(results, file, name, three),
                less_published(results, file, name, three),
                cell(results, file, name, ["images.accuracy"]),
                cell(results, "why-labelme", name, [f"seen.{m}" for m in SOFT3]),
            ]
            for label, name in LABELME
        ],
    )


def labelme_steps(results):
    """Soft labels against the others on images that were trained on, by how the epoch is selected."""
    columns = [
        ("selected of 20 epochs", "why-labelme-steps", "chosen: {}, 20"),
        ("last of 10", "why-labelme-crowd", "{}, 10"),
        ("last of 20", "why-labelme-steps", "last: {}, 20"),
        ("last of 200", "why-labelme-steps", "last: {}, 200"),
    ]
    others = [
        ("majority", "majority", "majority"),
        ("Dawid-Skene, hard", "d&s", "d&s"),
        ("crowd layer on logits", "crowd layer", "crowd layer"),
        ("vote shares", "shares", "soft, standard"),
    ]
    rows = []
    for label, name, published_value in others:
        a, b = (published("labelme", n, "accuracy") for n in ("soft", published_value))
        row = [f"soft less {label}", signed(100 * (a - b))]
        for _, file, form in columns:
            row.append(gain(results, file, form.format("soft"), form.format(name), "seen.accuracy"))
        rows.append(row)
    return lines_of(["accuracy, points", "published", *(c[0] for c in columns)], rows)


def labelme_epochs(results):
    """Soft labels against the crowd layer and vote shares on new images, by epochs."""
    rows = []
    for epochs in (2, 3, 4, 6, 10, 20):
        row = [str(epochs)]
        for scaled in ("", "scaled: "):
            for other in ("crowd layer", "shares"):
                one, two = (f"{scaled}{n}, {epochs}" for n in ("soft", other))
                row.append(gain(results, "why-labelme-crowd", one, two, "images.accuracy"))
        rows.append(row)
    return lines_of(
        ["epochs", "less crowd layer", "less shares", "scaled: less crowd layer", "scaled: less shares"], rows
    )


def pos(results):
    file, three = "large-pos-soft-loss-later", [f"test.{m}" for m in SOFT3]
    others = [("default", "large-pos-soft-loss-default"), ("smaller", "pos-soft-loss")]
    names = [n for _, n in LABELME]
    header = ["", "published, 30 seeds", f"later code, {seeds(results, file, names, three[0])}", "sd", "less published"]
    return lines_of(
        [*header, *(f"{label}, {seeds(results, other, names, three[0])}" for label, other in others)],
        [
            [
                label,
                reported(file, name, SOFT3),
                cell(results, file, name, three),
                spread(results, file, name, three[0]),
                less_published(results, file, name, three),
                *(cell(results, other, name, three) for _, other in others),
            ]
            for label, name in LABELME
        ],
    )


def pos_vectors(results):
    rows = []
    file = "large-pos-soft-loss-later"
    others = [
        ("majority", "majority"),
        ("d&s", "d&s"),
        ("soft, standard", "soft, standard"),
        ("crowd layer", "crowd layer"),
    ]
    texts = [signed(100 * (published(file, "soft", "accuracy") - published(file, n, "accuracy"))) for n, _ in others]
    rows.append(["300 dimensions, published", "30", *texts])
    for label, name in (("25 dimensions, later code", file), ("50 dimensions, paper's size", "why-pos-soft-loss-size")):
        n = results.summary(name, "soft", "test.accuracy").n
        rows.append([label, str(n), *(gain(results, name, "soft", o, "test.accuracy") for o, _ in others)])
    return lines_of(
        ["word vectors", "seeds", "less majority", "less Dawid-Skene", "less shares", "less crowd layer"], rows
    )


def cifar10h(results):
    file, two = "cifar10h", ["test.accuracy", "test.cross_entropy"]
    rows = []
    for label, name in (
        ("gold", "gold"),
        ("majority", "majority"),
        ("vote shares", "soft, standard"),
        ("softmax of votes", "soft, softmax"),
    ):
        rows.append(
            [
                label,
                reported(file, name, SOFT3),
                cell(results, file, name, [*two, "test.kl"]),
                less_published(results, file, name, two),
                cell(results, file, f"{name}, later recipe", [*two, "test.kl"]),
            ]
        )
    names = ["gold", "majority", "soft, standard", "soft, softmax"]
    first, later = (seeds(results, file, [n + end for n in names], two[0]) for end in ("", ", later recipe"))
    return lines_of(["", "published", f"paper's recipe, {first}", "less published", f"later code, {later}"], rows)


# ---- Fornaciari et al. ----

SETS = [("POS, five folds", "mtl-pos", "test"), ("POS, other tweets", "mtl-pos-test", "lowlands")]
SETS += [("stemming", "mtl-stemming", "test")]
LOSSES = {"kl": "KL", "inverse-kl": "inverse KL", "ce": "CE"}
CONDITIONS = [main + (f"+{k}" if k else "") for main in ("gold", "silver") for k in ("", *LOSSES)]


def condition(name):
    main, _, loss = name.partition("+")
    return main + (f" + {LOSSES[loss]}" if loss else "")


def networks(key, where):
    def table(results):
        both = [f"{where}.accuracy", f"{where}.macro_f1"]
        metrics = ["accuracy", "macro_f1"]
        files = [f"large-{key}-{n}" for n in ("released", "default")]
        header = ["", "published, 10 seeds"]
        for row_label, file in zip(("released network", "default network"), files):
            header += [f"{row_label}, {seeds(results, file, CONDITIONS, both[0])}", "sd", "less published"]
        rows = []
        for name in CONDITIONS:
            row = [condition(name), reported(files[0], name, metrics)]
            for file in files:
                row += [cell(results, file, name, both), spread(results, file, name, both[0])]
                row.append(less_published(results, file, name, both))
            rows.append(row)
        return lines_of(header, rows)

    return table


def mtl_gains(results):
    rows = []
    for row_label, key, where in SETS:
        for name in CONDITIONS:
            if "+" not in name:
                continue
            main = name.partition("+")[0]
            files = [f"large-{key}-released", f"large-{key}-default"]
            one, two = (published(files[0], n, "accuracy") for n in (main, name))
            row = [f"{row_label}: {condition(name)}", signed(100 * (two - one))]
            row += [gain(results, file, name, main, f"{where}.accuracy") for file in files]
            row.append(gain(results, key, name, main, "test.accuracy") if key != "mtl-pos-test" else "")
            rows.append(row)
    return lines_of(["", "published", "released network", "default network", "smaller network, CPU"], rows)


WHY_RELEASED = [
    ("released network", "large-mtl-pos-released", "{}"),
    ("ReLU between the layers of the heads", "why-mtl-pos-released", "ReLU in the heads: {}"),
    ("15 characters, read at both ends", "why-mtl-pos-released", "15 characters at both ends: {}"),
    ("no dropout between the encoders", "why-mtl-pos-released", "no dropout between encoders: {}"),
    ("default network", "large-mtl-pos-default", "{}"),
    ("default network, heads without ReLU", "why-mtl-pos-released", "default, linear heads: {}"),
]


def mtl_pos_why(results):
    """Inverse KL on POS with single changes of the released network, and how much each change adds to its gain."""
    accuracy, f1 = "test.accuracy", "test.macro_f1"
    gains, rows = {}, []
    for label, file, form in WHY_RELEASED:
        two, one = form.format("gold+inverse-kl"), form.format("gold")
        a, b = (results.by_seed(file, c, accuracy) for c in (two, one))
        gains[label] = {s: a[s] - b[s] for s in sorted(a.keys() & b.keys())}
        base = gains["released network"]
        common = sorted(gains[label].keys() & base.keys())
        more = summarize(gains[label][s] - base[s] for s in common) if len(rows) else None
        row = [label, str(len(gains[label])), cell(results, file, one, [accuracy, f1])]
        row += [gain(results, file, two, one, m) for m in (accuracy, f1)]
        rows.append([*row, interval(more, accuracy) if more else ""])
    header = ["", "seeds", "gold", "inverse KL: accuracy", "inverse KL: F1", "accuracy, less the released network's gain"]
    return lines_of(header, rows)


ENOUGH = 3  # seeds in which each case occurs in all folds
SIZES = [("released network", "large-{}-released"), ("smaller network", "{}")]


def who_is_right(results):
    rows = [["POS, gold + CE, published (kurtosis)", "10", "6.614", "6.015", "5.961", "5.727", ""]]
    sets = [("POS, {} (kurtosis)", "mtl-pos"), ("stemming, {} (entropy)", "mtl-stemming")]
    files = [(f"{row_label}, {size}", f.format(key)) for row_label, key in sets for size, f in SIZES]
    for row_label, file in files:
        for name in CONDITIONS:
            places = [results.by_seed(file, name, f"right.{k}") for k in ("both", "two_heads", "one_head", "neither")]
            seeds = sorted(set.intersection(*map(set, places)))
            if len(seeds) < ENOUGH:
                continue
            means = [summarize(p[s] for s in seeds).mean for p in places]
            d = interval(summarize(places[1][s] - places[2][s] for s in seeds), "right.kurtosis")
            rows.append([row_label.format(condition(name)), str(len(seeds)), *(plain(x, 3) for x in means), d])
    places = ["both right", "only two heads", "only one head", "neither"]
    return lines_of(["", "seeds", *places, "two less one head [95 %]"], rows)


# ---- Wright and Augenstein ----

VIEWS = ["standard", "softmax", "mace", "dawid-skene", "average", "centroid", "temperature", "hybrid"]
METHOD_TITLES = {"standard": "vote shares", "softmax": "softmax", "mace": "MACE", "dawid-skene": "Dawid-Skene"}
FIXED = {"temperature": "temperature 1.5", "hybrid": "hybrid 1.5"}  # where the released optimizer stops
LABEL_SETS = [("RTE", "rte"), ("MRE", "mre"), ("POS", "pos"), ("toxicity, another set", "toxicity")]


def label_accuracy(results):
    file, rows = "multi-view-labels", []
    for row_label, data in LABEL_SETS:
        row = [row_label]
        for v in VIEWS:
            name = f"{data}: {FIXED.get(v, v)}"
            published_value, here = published(file, name, "accuracy"), results.mean(file, name, "test.accuracy")
            row.append((f"{100 * published_value:.1f} / " if published_value else "") + f"{100 * here:.2f}")
        rows.append(row)
    rows.append(["toxicity, published", "78.4", "78.4", "73.1", "73.3", "75.4", "75.4", "75.7", "75.7"])
    return lines_of(["", *(METHOD_TITLES.get(v, v) for v in VIEWS)], rows)


def label_log_loss(results):
    rows = [
        [row_label, *(cell(results, "multi-view-labels", f"{data}: {v}", ["test.log_loss"]) for v in VIEWS)]
        for row_label, data in LABEL_SETS
    ]
    return lines_of(["", *(METHOD_TITLES.get(v, v) for v in VIEWS)], rows)


def agreement(results):
    rows = []
    for row_label, published_value in (("RTE", ".629"), ("MRE", ".857"), ("POS", ".725")):
        found = [results.mean("crowds", row_label, f"crowd.{m}") for m in ("percent", "fleiss", "alpha_nominal")]
        rows.append([row_label, published_value, *(plain(x, 3) for x in found)])
    return lines_of(["", "published as kappa", "agreeing pairs", "Fleiss kappa", "Krippendorff alpha"], rows)


def hub(results):
    rows = []
    for row_label, data in LABEL_SETS:
        r = results.mean("multi-view-labels", f"{data}: centroid", "hub.correlation")
        means = [results.mean("multi-view-labels", f"{data}: {v}", "distance.centroid") for v in FOUR_VIEWS]
        rows.append([row_label, plain(r, 3), *(plain(x, 3) for x in means)])
    return lines_of(["", "correlation", *(f"{METHOD_TITLES[v]} to centroid" for v in FOUR_VIEWS)], rows)


def views(file, where, metrics, two_views=False, others=()):
    """KL alone and gold + KL for all views; `others`: further test sets."""
    names = [*VIEWS, *(f"{v} of two" for v in VIEWS[4:] if two_views)]

    def table(results):
        measures = [f"{where}.{m}" for m in metrics]
        f1 = f"{where}.macro_f1"
        header = ["", f"KL, {seeds(results, file, ['gold', *names], f1)}", "sd of F1"]
        header += [f"gold + KL, {seeds(results, file, [f'gold + {v}' for v in names], f1)}", "sd of F1"]
        header += [f"KL, {row_label}" for _, row_label in others]
        rows = []
        for label, name in [("gold alone", "gold"), ("silver alone", "silver")] + [(METHOD_TITLES.get(v, v), v) for v in names]:
            row = [label, cell(results, file, name, measures), spread(results, file, name, f1)]
            row += [cell(results, file, f"gold + {name}", measures), spread(results, file, f"gold + {name}", f1)]
            for other, _ in others:
                row.append(cell(results, file, name, [m.replace(where, other) for m in measures]))
            rows.append(row)
        return lines_of(header, rows)

    return table


RAW_SETS = [
    ("POS", "large-multi-view-pos", "words"),
    ("toxicity, another set", "large-multi-view-toxicity", "test"),
    ("MRE", "large-multi-view-mre-released", "strong"),
    ("RTE", "large-multi-view-rte", "snli"),
]


def raw_likelihood(results):
    """CLL and log-loss without calibration, over the seeds that have both."""

    def both(file, where, name):
        measures = [f"{where}.{m}" for m in ("calibrated_log_likelihood", "log_loss")]
        values = [results.by_seed(file, name, m) for m in measures]
        common = sorted(values[0].keys() & values[1].keys())
        means = [summarize(v[s] for s in common).mean for v in values]
        return " / ".join(shown(x, m) for x, m in zip(means, measures)), len(common)

    header, columns = [""], []
    conditions = [("gold alone", "gold"), ("silver alone", "silver")]
    conditions += [(METHOD_TITLES.get(v, v), v) for v in VIEWS]
    conditions += [(f"gold + {METHOD_TITLES.get(v, v)}", f"gold + {v}") for v in ("standard", "centroid")]
    for label, file, where in RAW_SETS:
        texts, counts = zip(*(both(file, where, name) for _, name in conditions))
        n = f"{min(counts)} to {max(counts)}" if min(counts) < max(counts) else str(max(counts))
        header.append(f"{label}, {n} seeds")
        columns.append(texts)
    return lines_of(header, [[label, *row] for (label, _), row in zip(conditions, zip(*columns))])


def last_epoch(results):
    rows = []
    for label, name in (
        ("vote shares", "standard"),
        ("softmax", "softmax"),
        ("centroid", "centroid"),
        ("MACE", "mace"),
        ("Dawid-Skene", "dawid-skene"),
        ("gold", "gold"),
    ):
        last, f1 = f"last: {name}", "snli.macro_f1"
        against = gain(results, "why-rte", last, "last: standard", f1) if name != "standard" else ""
        rows.append(
            [
                label,
                cell(results, "large-multi-view-rte", name, [f1]),
                cell(results, "why-rte", last, [f1]),
                against,
            ]
        )
    return lines_of(["", "epoch selected", "last epoch, 10 seeds", "less vote shares [95 %]"], rows)


BAGS = [
    ("RTE to SNLI", "multi-view-rte", "snli"),
    ("MRE to press releases", "multi-view-mre", "insciout"),
    ("toxicity, another set", "multi-view-toxicity", "test"),
    ("POS to newspapers", "multi-view-pos", "words"),
]


def without_pretraining(results):
    rows = []
    for row_label, file, where in BAGS:
        f1, cll = f"{where}.macro_f1", f"{where}.calibrated_log_likelihood"
        others = [c for c in results.runs(file) if c != "gold"]
        of = lambda m: [results.mean(file, c, m) for c in others]
        low_high = lambda m: f"{shown(min(of(m)), m)} to {shown(max(of(m)), m)}"
        gold = cell(results, file, "gold", [f1, cll])
        rows.append([row_label, seeds(results, file, others, f1), gold, low_high(f1), low_high(cll)])
    return lines_of(["", "seeds", "gold: F1 / CLL", "all others: F1", "all others: CLL"], rows)


# ---- Singh et al. ----

PEOPLE3 = ["test.accuracy", "test.kl", "test.entropy_correlation"]


def soft_hard(results):
    names = ("SNLI", "MNLI", "alphaNLI")
    sets = [("POPQUORN, words", "epistemic-popquorn", "hard", "soft")]
    sets.append(("POPQUORN, MPNet", "encoder-popquorn", "mpnet, hard", "mpnet, soft"))
    for reader, file, of in (("words", "epistemic-chaosnli", "{}, {}"), ("MPNet", "encoder-chaosnli", "{}, mpnet, {}")):
        sets += [(f"{n}, {reader}", file, *(of.format(n.lower(), k) for k in ("hard", "soft"))) for n in names]
    sets.append(("CIFAR-10H, images", "cifar10h", "majority", "soft, standard"))
    rows = []
    for row_label, file, hard, soft in sets:
        kl = results.mean(file, soft, "test.kl") / results.mean(file, hard, "test.kl") - 1
        rows.append(
            [
                row_label,
                cell(results, file, hard, PEOPLE3),
                cell(results, file, soft, PEOPLE3),
                f"{100 * kl:+.0f} %",
                gain(results, file, soft, hard, PEOPLE3[2]),
                " / ".join(plain(results.mean(file, c, "curve.best_epoch"), 1) for c in (hard, soft)),
            ]
        )
    head = ["", "hard", "soft", "KL", "correlation, soft less hard [95 %]", "best epoch, hard / soft"]
    return lines_of(head, rows)


def entropies(results):
    rows = []
    for row_label in ("SNLI", "MNLI", "alphaNLI", "CIFAR-10H"):
        of = lambda m: results.mean("crowds", row_label, f"entropy.{m}")
        share = f"{100 * of('above_90'):.1f} %"
        rows.append([row_label, f"{of('items'):.0f}", f"{of('unanimous'):.0f}", plain(of("mean")), share])
    return lines_of(["", "items", "unanimous", "mean normalized entropy", "above .9"], rows)


# ---- questions that the papers leave open ----


def trust(results):
    kinds = [("majority", "majority"), ("Dawid-Skene, hard", "d&s"), ("Dawid-Skene, soft", "soft d&s")]
    kinds += [("vote shares", "soft"), ("crowd layer", "crowd layer")]
    rows = []
    for share in ("0", ".1", ".25", ".5", ".75"):
        row = [f"{100 * float(share):.0f} %"]
        row += [cell(results, "beyond-trust", f"{k}, {share}", ["images.accuracy"]) for _, k in kinds]
        for one in ("soft d&s", "crowd layer"):
            row.append(gain(results, "beyond-trust", f"{one}, {share}", f"soft, {share}", "images.accuracy"))
        rows.append(row)
    return lines_of(
        ["random", *(k for k, _ in kinds), "Dawid-Skene, soft, less shares", "crowd layer less shares"], rows
    )


CROWD_SETS = ["rte", "mre", "pos", "toxicity", "labelme", "bluebird", "dog", "sentiment"]


def weights(results):
    two = ["test.accuracy", "test.log_loss"]
    kinds = ("centroid", "centroid, weighted", "centroid of two")
    rows = [[d, *(cell(results, "beyond-weights", f"{d}: {k}", two) for k in kinds)] for d in CROWD_SETS]
    return lines_of(["", "four views, equal", "four views, weighted", "Dawid-Skene and MACE"], rows)


def near_and_far(results):
    file, rows = "beyond-views", []
    order = ["standard", "softmax", "dawid-skene", "mace"]
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    for d in CROWD_SETS:
        apart = {p: results.mean(file, f"{d}: {p[0]} + {p[1]}", "distance.pair") for p in pairs}
        hub = min(order, key=lambda v: sum(apart[p] for p in pairs if v in p))
        row = [d]
        for chosen in ((hub,), min(pairs, key=apart.get), max(pairs, key=apart.get)):
            name = " + ".join(METHOD_TITLES[v] for v in chosen)
            row.append(f"{name}: {cell(results, file, f'{d}: ' + ' + '.join(chosen), ['test.log_loss'])}")
        row.append(cell(results, file, f"{d}: all four", ["test.log_loss"]))
        rows.append(row)
    return lines_of(["log-loss to gold", "hub alone", "nearest two", "farthest two", "all four"], rows)


def image_targets(results):
    file = "beyond-images"
    measures = ["images.accuracy", "images.calibrated_log_likelihood", "test.cross_entropy"]
    rows = [
        [
            METHOD_TITLES.get(v, v),
            *(cell(results, file, v, [m]) for m in measures),
            gain(results, file, v, "standard", measures[0]),
        ]
        for v in [*VIEWS[:6], "centroid, weighted", *VIEWS[6:]]
    ]
    return lines_of(["", "accuracy", "CLL", "cross-entropy to annotators", "accuracy less vote shares [95 %]"], rows)


def losses(results):
    file, rows = "beyond-targets", []
    for row_label, form in (
        ("softmax", "{} to softmax"),
        ("centroid", "{} to centroid"),
        ("default labels", "{} to default"),
        ("gold with the centroid", "gold+{}, centroid"),
    ):
        kl, js = form.format("kl"), form.format("js")
        measures = ["images.accuracy", "images.log_loss", "test.cross_entropy"]
        row = [row_label, cell(results, file, kl, measures), cell(results, file, js, measures)]
        row += [gain(results, file, js, kl, m) for m in (measures[0], measures[2])]
        rows.append(row)
    head = ["target", "KL", "Jensen-Shannon", "accuracy, JS less KL", "cross-entropy, JS less KL"]
    return lines_of(head, rows)


def votes(results):
    rows = []
    for n in (1, 2, 3, 5):
        row = [str(n)]
        for file, soft, acc in (
            ("beyond-votes-images", f"shares of {n}", "images.accuracy"),
            ("beyond-votes-tags", f"soft, of {n}", "test.accuracy"),
        ):
            for m in (acc, "test.cross_entropy"):
                row.append(gain(results, file, soft, f"majority of {n}", m))
        rows.append([x if x != NO_RUNS else "" for x in row])
    head = ["votes per item", "LabelMe, shares: accuracy", "cross-entropy", "tags, softmax: accuracy", "cross-entropy"]
    return lines_of(head, rows)


TABLES = {
    "crowds": crowds,
    "labelme": labelme,
    "labelme-steps": labelme_steps,
    "labelme-epochs": labelme_epochs,
    "pos": pos,
    "pos-vectors": pos_vectors,
    "cifar10h": cifar10h,
    "mtl-gains": mtl_gains,
    **{key: networks(key, where) for _, key, where in SETS},
    "mtl-pos-why": mtl_pos_why,
    "who-is-right": who_is_right,
    "label-accuracy": label_accuracy,
    "label-log-loss": label_log_loss,
    "agreement": agreement,
    "hub": hub,
    "views-pos": views(
        "large-multi-view-pos", "words", ["macro_f1", "calibrated_log_likelihood"], True, [("treebank", "with traces")]
    ),
    "views-toxicity": views("large-multi-view-toxicity", "test", ["macro_f1", "calibrated_log_likelihood"], True),
    "views-mre": views(
        "large-multi-view-mre-released",
        "strong",
        ["macro_f1", "calibrated_log_likelihood", "log_loss"],
        False,
        [("insciout", "strengths 2 and 3")],
    ),
    "views-rte": views("large-multi-view-rte", "snli", ["macro_f1", "calibrated_log_likelihood", "log_loss"]),
    "last-epoch": last_epoch,
    "raw-likelihood": raw_likelihood,
    "without-pretraining": without_pretraining,
    "soft-hard": soft_hard,
    "entropies": entropies,
    "trust": trust,
    "weights": weights,
    "near-far": near_and_far,
    "image-targets": image_targets,
    "losses": losses,
    "votes": votes,
}
