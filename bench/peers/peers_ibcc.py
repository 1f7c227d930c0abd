"""The peer to beat: independent Bayesian classifier combination by variational Bayes on scipy's sparse matrices.

Kim and Ghahramani (2012), mean-field updates as in truth-inference-at-scale: Dirichlet priors of 4 on the diagonal of
each worker's confusion matrix, 1 off it, 1 on the classes. Votes are one sparse matrix A of items x (worker, label), so
that an iteration is two products with K dense columns,

    E:  log T = A @ E[log pi] + E[log nu]          M:  counts = A.T @ T

and everything else is done in place on arrays of items x K or (workers x K) x K. Posteriors lie column by column while
they are normalised: NumPy reduces over a last axis of 4 several times slower than it adds 4 columns.

PlainIBCC is the same model in the layout that truth-inference-at-scale published: one matrix of truth values per class,
K products per iteration each way. It is three to four times slower; both give the same posteriors.

    python peers_ibcc.py sparse|plain VOTES.npz ITERATIONS [OUT.npy]    ->  {"seconds": of each iteration}
"""
import json
import sys
import time

import numpy as np
import scipy.sparse as sp
from scipy.special import digamma


class SparseIBCC:
    def __init__(self, task, worker, label, n_items, n_workers, n_classes):
        self.shape = n_items, n_workers, n_classes
        column = worker.astype(np.int32) * n_classes + label
        ones = np.ones(len(task))
        # CSR of A; its transpose is a CSC view of the same arrays, which scatters into the small table of counts.
        self.a = sp.csr_matrix((ones, (task, column)), shape=(n_items, n_workers * n_classes))
        self.at = self.a.T
        self.prior = np.ones((n_classes, n_classes)) + 3 * np.eye(n_classes)  # (label, true)
        counts = np.zeros((n_items, n_classes))
        np.add.at(counts, (task, label), 1)
        self.t = counts / counts.sum(axis=1, keepdims=True)

    def iterate(self):
        n_items, n_workers, k = self.shape
        # M: expected logarithms of the worker tables, (worker, label, true)
        table = (self.at @ self.t).reshape(n_workers, k, k)
        table += self.prior
        total = digamma(table.sum(axis=1, keepdims=True))
        digamma(table, out=table)
        table -= total
        log_nu = digamma(self.t.sum(axis=0) + 1)  # less a constant, which the normalisation takes out
        # E
        log_t = self.a @ table.reshape(n_workers * k, k)
        columns = np.ascontiguousarray(log_t.T)
        columns += log_nu[:, None]
        largest = columns[0].copy()
        for c in columns[1:]:
            np.maximum(largest, c, out=largest)
        columns -= largest
        np.exp(columns, out=columns)
        np.add.reduce(columns, axis=0, out=largest)
        columns /= largest
        self.t[:] = columns.T


class PlainIBCC:
    def __init__(self, task, worker, label, n_items, n_workers, n_classes):
        self.by_item = [
            sp.coo_matrix((np.ones(np.count_nonzero(label == k), bool), (task[label == k], worker[label == k])),
                          shape=(n_items, n_workers)).tocsr() for k in range(n_classes)
        ]
        self.by_worker = [m.T.tocsr() for m in self.by_item]
        self.prior = np.ones((n_classes, n_classes)) + 3 * np.eye(n_classes)
        self.t = np.stack([np.asarray(m.sum(axis=1)).ravel() for m in self.by_item], axis=1).astype(float)
        self.t /= self.t.sum(axis=1, keepdims=True)

    def iterate(self):
        counts = np.stack([m @ self.t for m in self.by_worker], axis=1) + self.prior  # (worker, label, true)
        table = digamma(counts) - digamma(counts.sum(axis=1, keepdims=True))
        log_t = np.tile(digamma(self.t.sum(axis=0) + 1), (len(self.t), 1))
        for k, m in enumerate(self.by_item):
            log_t += m @ table[:, k]
        log_t = np.exp(log_t - log_t.max(axis=1, keepdims=True))
        self.t = log_t / log_t.sum(axis=1, keepdims=True)


def main():
    d = np.load(sys.argv[2])
    kind = {"sparse": SparseIBCC, "plain": PlainIBCC}[sys.argv[1]]
    model = kind(d["task"], d["worker"], d["label"], int(d["n_items"]), int(d["n_workers"]), int(d["n_classes"]))
    seconds = []
    for _ in range(int(sys.argv[3])):
        start = time.process_time()
        model.iterate()
        seconds.append(time.process_time() - start)
    if len(sys.argv) > 4:
        np.save(sys.argv[4], model.t)
    print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    main()
