"""Nominal alpha by the krippendorff package from value counts that lie in memory.

    python peers_krippendorff.py COUNTS.i64 ITEMS CLASSES REPEATS      ->  {"seconds": [...], "alpha": x}

COUNTS.i64: items x classes 64-bit whole numbers without a header. One unmeasured run comes first.
"""
import json
import sys
import time

import krippendorff
import numpy as np


def main():
    items, classes, repeats = map(int, sys.argv[2:5])
    counts = np.fromfile(sys.argv[1], dtype=np.int64).reshape(items, classes)
    seconds = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        alpha = krippendorff.alpha(value_counts=counts, level_of_measurement="nominal")
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": seconds[1:], "alpha": float(alpha)}))


if __name__ == "__main__":
    main()
