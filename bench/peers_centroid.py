"""The peer of the centroid: CCCP in NumPy, all items at once, rows leave when their L1 change is below 1e-13.

Usage: peers_centroid.py [items [classes [views]]]. One line of CSV: peer,items,classes,views,seconds,ns_per_item,steps.
Views are drawn from a flat Dirichlet, as bench_combine draws them."""
import sys
import time

import numpy as np


def centroid(views, tolerance=1e-13, max_steps=1000):
    """q <- normalise(exp(mean_m log((p_m + q) / 2))) from the average; only unsettled rows are worked on."""
    q = views.mean(axis=0)
    active = np.arange(len(q))
    p = views
    for step in range(1, max_steps + 1):
        old = q[active]
        new = np.exp(np.log((p + old) * .5).mean(axis=0))
        new /= new.sum(axis=1, keepdims=True)
        q[active] = new
        moving = np.abs(new - old).sum(axis=1) > tolerance
        if not moving.any():
            return q, step
        if moving.mean() < .75:  # copying out the rest pays only when enough rows have settled
            rest = np.flatnonzero(np.ones(len(active), bool) & moving)
            active, p = active[rest], p[:, rest]
    return q, max_steps


def main():
    n, k, m = (int(float(a)) for a in (sys.argv[1:] + ["1000000", "4", "4"][len(sys.argv) - 1:])[:3])
    views = np.random.default_rng(0).dirichlet(np.ones(k), (m, n))
    start = time.process_time()
    _, steps = centroid(views)
    seconds = time.process_time() - start
    print("peer,items,classes,views,seconds,ns_per_item,steps")
    print(f"numpy-cccp,{n},{k},{m},{seconds:.3f},{seconds / n * 1e9:.1f},{steps}")


if __name__ == "__main__":
    main()
