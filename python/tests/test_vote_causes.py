"""Causes of votes: a slip, another reading, or the view of a group."""

import numpy as np

import dissent


def test_causes():
    rng = np.random.default_rng(1)
    rows = []
    for i in range(200):
        divided = i % 4 == 0
        for w in range(10):
            label = "xyz"[(i + (divided and w % 2)) % 3]
            if w == 9 and rng.random() < 0.5:
                label = "xyz"[rng.integers(3)]
            rows.append((f"t{i}", f"w{w}", label))
    sides = dissent.Groups({f"w{w}": "ab"[w % 2] for w in range(10)}, min_group=2)
    r = dissent.review(rows, causes=True, groups=sides)
    assert len(r.votes["slip"]) == 2000 and r.readings.shape == (200, 3)
    assert max(r.slip_rate, key=r.slip_rate.get) == "w9" and 0.3 < r.slip_rate["w9"] < 0.7
    group = np.asarray(r.votes["group"])
    tasks = np.array([int(t[1:]) for t in r.votes["task"]])
    assert group[tasks % 4 != 0].max() < 0.05 and (group > 0.5).sum() > 150
    assert dissent.review(rows).votes is None
