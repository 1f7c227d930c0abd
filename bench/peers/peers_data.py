"""Votes as arrays for the peers, from the CSV file that dissent reads: indices in order of first appearance.

    python peers_data.py VOTES.csv OUT.npz
"""
import sys

import numpy as np
import pandas as pd

votes = pd.read_csv(sys.argv[1], dtype=str)
columns = {}
for name in ("task", "worker", "label"):
    codes, ids = pd.factorize(votes[name])
    columns[name] = codes.astype(np.int32)
    columns[{"task": "n_items", "worker": "n_workers", "label": "n_classes"}[name]] = len(ids)
np.savez(sys.argv[2], **columns)
