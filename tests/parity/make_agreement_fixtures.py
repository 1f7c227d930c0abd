"""Reference values of agreement coefficients on synthesised crowds with missing votes.

    pip install numpy pandas scikit-learn krippendorff irrCAC
    python tests/parity/make_agreement_fixtures.py

Writes tests/parity/fixtures/agreement_NAME.votes.csv and agreement.expected.csv (set,measure,value; for pairs of workers
set,measure:A:B,value). Every vote is drawn here; nothing comes from anybody's data. The packages leave items without two
votes out of the agreement, but irrCAC lets items with one vote count in the class shares of Fleiss and Gwet: both ways
are written (the second with `:singles` behind the name).
"""
import itertools
import os
import warnings

import krippendorff
import numpy as np
import pandas as pd
from irrCAC.raw import CAC
from irrCAC.table import CAC as TableCAC
from sklearn.metrics import cohen_kappa_score

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fixtures")


def crowd(seed, n_items, n_workers, values, keep, skill, few=False):
    """Ratings (n_items, n_workers), NaN where nobody voted: a true class, hit with chance `skill`, else a near one."""
    r = np.random.default_rng(seed)
    k = len(values)
    truth = r.choice(k, n_items, p=r.dirichlet(np.full(k, 3.)))
    x = np.full((n_items, n_workers), np.nan)
    for i, w in itertools.product(range(n_items), range(n_workers)):
        if r.random() >= keep:
            continue
        near = np.clip(truth[i] + round(r.normal(0, k / 4)), 0, k - 1)
        x[i, w] = values[truth[i] if r.random() < skill else near if r.random() < .7 else r.integers(k)]
    if few:  # some items with one vote, some with two
        for i in range(0, n_items, 5):
            voted = np.flatnonzero(~np.isnan(x[i]))
            x[i, voted[1 + i % 2:]] = np.nan
    return x


SETS = {
    "whole": dict(x=crowd(1, 60, 4, [1, 2, 3, 4, 5], 1, .5), ordered=True),
    "gaps": dict(x=crowd(2, 120, 7, [1, 2, 4, 8, 16], .6, .4, few=True), ordered=True),
    "zero": dict(x=crowd(3, 200, 9, [0, 1, 2], .45, .6, few=True), ordered=True),
    "wide": dict(x=crowd(4, 50, 14, list(range(1, 41)), .9, .2), ordered=True),
    "halves": dict(x=crowd(5, 80, 5, [.5, 1, 1.5, 2.25], .7, .5, few=True), ordered=True),
    "binary": dict(x=crowd(6, 300, 2, [0, 1], 1, .3), ordered=True),
    "words": dict(x=crowd(7, 90, 6, [0, 1, 2, 3], .5, .5, few=True), names=["ant", "bee", "cat", "dog"], ordered=False),
}


def number(v):
    return str(int(v)) if v == int(v) else repr(float(v))


def irr(x, values, weights, what):
    names = [float(v) for v in values]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(getattr(CAC(pd.DataFrame(x), weights=weights, categories=names, digits=17), what)()["est"]
                     ["coefficient_value"])


def measures(x, ordered):
    values = np.unique(x[~np.isnan(x)])
    voted = (~np.isnan(x)).sum(axis=1)
    two = x[voted >= 2]
    counts = np.stack([(two == v).sum(axis=1) for v in values], axis=1)
    r = counts.sum(axis=1)
    yield "percent", float(np.mean((counts * (counts - 1)).sum(axis=1) / (r * (r - 1))))
    for level in ["nominal"] + (["ordinal", "interval", "ratio"] if ordered else []):
        yield "alpha_" + level, float(krippendorff.alpha(value_counts=counts, value_domain=values,
                                                         level_of_measurement=level))
    for name, rows in (("", two), (":singles", x[voted >= 1])):
        yield "fleiss" + name, irr(rows, values, "identity", "fleiss")
        yield "gwet_ac1" + name, irr(rows, values, "identity", "gwet")
        for w in ("linear", "quadratic", "ordinal") if ordered else ():
            yield f"gwet_ac2_{w}{name}", irr(rows, values, w, "gwet")
    if x.shape[1] == 2:
        table = pd.crosstab(two[:, 0], two[:, 1])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield "scott", float(TableCAC(table, digits=17).scott()["est"]["coefficient_value"])
    for a, b in itertools.combinations(range(x.shape[1]), 2):
        both = ~np.isnan(x[:, a]) & ~np.isnan(x[:, b])
        ya, yb = np.searchsorted(values, x[both, a]), np.searchsorted(values, x[both, b])
        if not len(ya):
            continue
        yield f"n:{a}:{b}", float(len(ya))
        yield f"agreement:{a}:{b}", float(np.mean(ya == yb))
        for w in [None] + (["linear", "quadratic"] if ordered else []):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                kappa = cohen_kappa_score(ya, yb, weights=w, labels=list(range(len(values))))
            if not np.isnan(kappa):
                yield f"cohen{'_' + w if w else ''}:{a}:{b}", float(kappa)
    # a worker taken away; the others on each item
    for w in range(x.shape[1]):
        rest = np.delete(x, w, axis=1)
        counts = np.stack([(rest == v).sum(axis=1) for v in values], axis=1)
        if counts.sum(axis=1).max() > 1:
            yield f"alpha_without:{w}", float(krippendorff.alpha(value_counts=counts, value_domain=values,
                                                                 level_of_measurement="nominal"))
        shares = [np.mean(row[~np.isnan(row)] == x[i, w]) for i, row in enumerate(rest)
                  if not np.isnan(x[i, w]) and not np.isnan(row).all()]
        yield f"with_others:{w}", float(np.mean(shares))
    # one class against all others
    for k, v in enumerate(values):
        one = np.where(np.isnan(two), np.nan, two == v)
        pair = np.stack([(one == 0).sum(axis=1), (one == 1).sum(axis=1)], axis=1)
        yield f"class_alpha:{k}", float(krippendorff.alpha(value_counts=pair, level_of_measurement="nominal"))
        yield f"class_fleiss:{k}", irr(one, [0, 1], "identity", "fleiss")


def main():
    lines = ["set,measure,value"]
    for name, s in SETS.items():
        x = s["x"]
        values = np.unique(x[~np.isnan(x)])
        text = {v: s["names"][int(v)] if "names" in s else number(v) for v in values}
        rows = ["task,worker,label"] + [f"i{i},w{w},{text[x[i, w]]}" for i, w in zip(*np.nonzero(~np.isnan(x)))]
        with open(os.path.join(OUT, f"agreement_{name}.votes.csv"), "w") as f:
            f.write("\n".join(rows) + "\n")
        lines += [f"{name},{measure},{value!r}" for measure, value in measures(x, s["ordered"])]
    with open(os.path.join(OUT, "agreement.expected.csv"), "w") as f:
        f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
