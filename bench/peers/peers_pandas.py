"""Reading votes with pandas: read_csv, then factorize of the three columns.

    python peers_pandas.py VOTES.csv    ->  {"seconds": ...}
"""
import json
import sys
import time

import pandas as pd

start = time.perf_counter()
votes = pd.read_csv(sys.argv[1])
parts = [pd.factorize(votes[c]) for c in ("task", "worker", "label")]
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "votes": len(votes), "ids": [len(p[1]) for p in parts]}))
