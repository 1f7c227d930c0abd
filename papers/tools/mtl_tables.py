"""Tables of papers/results.md on the networks of MTL, made from papers/runs alone: each condition as published, with
the released network and with the default network, and what a second head gains."""

from claims import number as signed
from condition_rows import TABLES
from cause_tables import points

SETS = [
    ("POS, five folds", "mtl-pos", "test"),
    ("POS, other tweets", "mtl-pos-test", "lowlands"),
    ("stemming", "mtl-stemming", "test"),
]
NETWORKS = ["released", "default"]


def gain(results, file, cell, measure):
    """A condition with two heads less that with one, with its 95 % interval over seeds."""
    d = results.difference(file, cell, cell.partition("+")[0], measure)
    return f"{points(d)}, {d.n}" if d else "-"


def two_heads():
    """Of each condition with two heads: name of its row, experiment, cell, set."""
    return [
        (f"{said}: {label}", f"large-{key}", cell, where)
        for said, key, where in SETS
        for label, cell, *_ in TABLES[key][0]
        if cell and "+" in cell
    ]


def gains(results, _):
    """What the released and the default network gain in accuracy."""
    lines = ["| | published | released network [95 %], seeds | default network [95 %], seeds |", "|---|---|---|---|"]
    for said, file, cell, where in two_heads():
        one, two = (results.published(file, c, "accuracy") for c in (cell.partition("+")[0], cell))
        ours = [gain(results, f"{file}-{network}", cell, f"{where}.accuracy") for network in NETWORKS]
        lines.append(f"| {said} | {signed((two - one) * 100)} | {' | '.join(ours)} |")
    return "\n".join(lines)


def text_gains(results, _):
    """What the network of the paper's text gains."""
    lines = ["| | accuracy [95 %], seeds | macro-F1 [95 %], seeds |", "|---|---|---|"]
    for said, file, cell, where in two_heads():
        ours = [gain(results, file, cell, f"{where}.{m}") for m in ("accuracy", "macro_f1")]
        lines.append(f"| {said} | {' | '.join(ours)} |")
    return "\n".join(lines)


MTL = {"mtl-gains": gains, "mtl-text-gains": text_gains}
# What is made from papers/runs alone, wherever the tables are made.
LINES = [*(f"{key}-networks" for _, key, _ in SETS), *MTL, "pos-soft-loss-later"]
