"""The Python package beside crowd-kit: a DataFrame in, a DataFrame out, one thread, the processor's clock.

    python peers_package.py ours|peer DawidSkene|MACE|GLAD VOTES.csv ITERATIONS str|object [REPEATS]
        ->  {"seconds": [...]}
    python peers_package.py overhead VOTES.csv ITERATIONS [REPEATS]
        ->  {"python": [...], "c": [...]}

str: columns as pandas reads them, Arrow's texts where pyarrow is there; object: Python texts. overhead: DawidSkene by
the package, and the two calls of the library on the same Arrow buffers. Needs build/python in PYTHONPATH.
"""

import json
import sys
import time
import warnings

warnings.filterwarnings("ignore")

import pandas as pd


def timed(call):
    start = time.process_time()
    call()
    return time.process_time() - start


def ours(name, iterations):
    import dissent

    make = {
        "DawidSkene": lambda: dissent.DawidSkene(iterations, tol=0, n_jobs=1),
        "MACE": lambda: dissent.MACE(n_restarts=1, n_iter=iterations, n_jobs=1),
        "GLAD": lambda: dissent.GLAD(iterations, tol=0, n_jobs=1),
    }[name]
    return lambda votes: make().fit_predict_proba(votes)


def peer(name, iterations):
    from crowdkit.aggregation import GLAD, MACE, DawidSkene

    make = {
        "DawidSkene": lambda: DawidSkene(iterations, tol=-1e9),
        "MACE": lambda: MACE(n_restarts=1, n_iter=iterations),
        "GLAD": lambda: GLAD(iterations, tol=-1e9),
    }[name]
    return lambda votes: make().fit_predict_proba(votes)


def overhead(votes, iterations, repeats):
    from dissent import _core
    from dissent._columns import make_column

    columns = [make_column(votes[c])[0] for c in ("task", "worker", "label")]
    spec = f"dawid-skene:smoothing=0,iterations={iterations},tolerance=0,floor=1e-10"
    with_dissent = ours("DawidSkene", iterations)
    python, c = [], []
    for _ in range(repeats):  # in turn, so that what else runs on the machine disturbs both alike
        python.append(timed(lambda: with_dissent(votes)))
        c.append(timed(lambda: _core.fit(_core.votes_from_columns(*columns, threads=1), spec, threads=1)))
    print(json.dumps({"python": python, "c": c}))


def main():
    side = sys.argv[1]
    if side == "overhead":
        repeats = int(sys.argv[4]) if len(sys.argv) > 4 else 5
        overhead(pd.read_csv(sys.argv[2], dtype=str), int(sys.argv[3]), repeats)
        return
    name, path, iterations, columns = sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5]
    votes = pd.read_csv(path, dtype=str)[["task", "worker", "label"]]
    if columns == "object":
        votes = votes.astype(object)
    fit = {"ours": ours, "peer": peer}[side](name, iterations)
    print(
        json.dumps(
            {"seconds": [timed(lambda: fit(votes)) for _ in range(int(sys.argv[6]) if len(sys.argv) > 6 else 1)]}
        )
    )


if __name__ == "__main__":
    main()
