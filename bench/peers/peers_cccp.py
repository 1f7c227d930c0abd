"""Jensen-Shannon centroid by the concave-convex procedure in NumPy: q <- normalise(exp(mean log((p_m + q) / 2))) from
the average, every row until its L1 change is at most 1e-13. Rows are taken in blocks that stay in the cache, and rows
that have settled leave their block.

    python peers_cccp.py make OUT.f64 VIEWS ITEMS CLASSES SEED     ->  views (M, n, K), doubles without a header
    python peers_cccp.py run IN.f64 OUT.f64 VIEWS ITEMS CLASSES      ->  {"seconds": ...}
"""
import json
import sys
import time

import numpy as np

BLOCK = 4096


def make(path, n_views, n_items, n_classes, seed):
    """Views as methods give them: one true distribution per item, sharpened or flattened by each view, some rows nearly
    sure."""
    r = np.random.default_rng(seed)
    base = r.dirichlet(np.full(n_classes, .6), size=n_items)
    views = np.empty((n_views, n_items, n_classes))
    for m in range(n_views):
        p = (base + 1e-9) ** r.uniform(.5, 3, size=(n_items, 1)) * r.gamma(20, size=base.shape)
        views[m] = p / p.sum(axis=1, keepdims=True)
    views.tofile(path)


def block_centroid(p):
    q = p.mean(axis=0)
    out = np.empty_like(q)
    rows = np.arange(len(q))
    while len(rows):
        x = p + q
        x *= .5
        np.log(x, out=x)
        new = np.exp(x.mean(axis=0))
        new /= new.sum(axis=1, keepdims=True)
        change = np.abs(new - q).sum(axis=1)
        q = new
        going = change > 1e-13
        if 4 * np.count_nonzero(going) < 3 * len(rows):  # copying out the settled ones pays from a quarter on
            out[rows[~going]] = q[~going]
            rows, q, p = rows[going], q[going], p[:, going]
    return out


def main():
    if sys.argv[1] == "make":
        make(sys.argv[2], *map(int, sys.argv[3:7]))
        return
    views = np.fromfile(sys.argv[2]).reshape(tuple(map(int, sys.argv[4:7])))
    out = np.empty(views.shape[1:])
    start = time.perf_counter()
    for first in range(0, views.shape[1], BLOCK):
        out[first:first + BLOCK] = block_centroid(views[:, first:first + BLOCK])
    seconds = time.perf_counter() - start
    out.tofile(sys.argv[3])
    print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    main()
