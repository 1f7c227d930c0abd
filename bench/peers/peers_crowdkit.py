"""crowd-kit's fits, timed. The convergence tests are switched off where iterations are counted; the time of one
iteration is the difference of two runs, so that neither the start nor the conversion of the input counts.

    python peers_crowdkit.py dawid-skene|mace VOTES.csv|VOTES.npz FEW MANY    ->  {"seconds": per iteration, ...}
    python peers_crowdkit.py glad VOTES.csv                          ->  {"seconds": whole fit, "objective": ...}
"""

import json
import sys
import time
import warnings

warnings.filterwarnings("ignore")

import numpy as np
import pandas as pd
from crowdkit.aggregation import GLAD, MACE, DawidSkene


def timed(model, votes):
    start = time.process_time()
    model.fit(votes)
    return time.process_time() - start


def glad_objective(votes, alphas, betas):
    """log P(votes) + log prior of the parameters, the class summed out: what GLAD's EM climbs. Prior N(1, 1) on each
    alpha and on each log of the inverse difficulty, its constants included, as dissent's glad reports it."""
    labels = sorted(votes.label.unique())
    k = len(labels)
    a, b = alphas[votes.worker].to_numpy(), betas[votes.task].to_numpy()
    x = a * np.exp(b)
    right, wrong = -np.logaddexp(0, -x), -np.logaddexp(0, x) - np.log(k - 1)
    task = pd.factorize(votes.task)[0]
    log_p = np.zeros((task.max() + 1, k))
    for c, name in enumerate(labels):
        np.add.at(log_p[:, c], task, np.where(votes.label == name, right, wrong))
    top = log_p.max(axis=1)
    marginal = np.sum(top + np.log(np.exp(log_p - top[:, None]).sum(axis=1)) - np.log(k))
    constants = (len(alphas) + len(betas)) * np.log(2 * np.pi) / 2
    return float(marginal - ((alphas - 1) ** 2).sum() / 2 - ((betas - 1) ** 2).sum() / 2 - constants)


def main():
    what, path = sys.argv[1:3]
    if what == "glad":
        votes = pd.read_csv(path, dtype=str)[["task", "worker", "label"]]
        model = GLAD(silent=True)
        seconds = timed(model, votes)
        print(json.dumps({"seconds": seconds, "objective": glad_objective(votes, model.alphas_, model.betas_)}))
        return
    if path.endswith(".csv"):  # ids as they are in the file, text: what its users give it
        votes = pd.read_csv(path, dtype=str)[["task", "worker", "label"]]
    else:  # integers: the fastest it can be given
        d = np.load(path)
        votes = pd.DataFrame({"task": d["task"], "worker": d["worker"], "label": d["label"]})
    few, many = int(sys.argv[3]), int(sys.argv[4])
    make = {
        "dawid-skene": lambda n: DawidSkene(n_iter=n, tol=-np.inf),
        "mace": lambda n: MACE(n_restarts=1, n_iter=n, method="vb", random_state=0),
    }[what]
    a = timed(make(few), votes)
    b = timed(make(many), votes)
    print(json.dumps({"seconds": (b - a) / (many - few), "whole": [a, b]}))


if __name__ == "__main__":
    main()
