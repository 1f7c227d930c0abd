"""A Label Studio export: made, and read into votes as scripts do it, with json and pandas.

python peers_json.py make BYTES EXPORT.json     ->  {"tasks": ...}
python peers_json.py read EXPORT.json           ->  {"seconds": processor time, "votes": ...}
"""

import json
import random
import sys
import time


def make(size, path):
    draw = random.Random(1)
    words = 'the of room was not very good bad clean staff slow food cold price again never "quoted" café'.split()
    texts = [" ".join(draw.choice(words) for _ in range(draw.randint(40, 220))) for _ in range(400)]
    written, task = 0, 0
    with open(path, "w") as f:
        f.write("[")
        while written < size:
            task += 1
            annotations = [
                {
                    "id": 10 * task + k,
                    "completed_by": {"id": who, "email": f"annotator{who}@example.org"},
                    "result": [
                        {
                            "value": {"choices": [draw.choice(("negative", "neutral", "positive"))]},
                            "id": f"x{task}{k}",
                            "from_name": "sentiment",
                            "to_name": "text",
                            "type": "choices",
                            "origin": "manual",
                        }
                    ],
                    "was_cancelled": False,
                    "ground_truth": False,
                    "updated_at": f"2026-03-{1 + task % 28:02d}T09:{k:02d}:00.000001Z",
                    "lead_time": round(20 * draw.random(), 3),
                    "prediction": {},
                    "task": task,
                }
                for k, who in enumerate(draw.sample(range(1, 900), 3))
            ]
            record = json.dumps(
                {
                    "id": task,
                    "annotations": annotations,
                    "drafts": [],
                    "predictions": [],
                    "data": {"text": texts[task % 400]},
                    "meta": {},
                    "project": 7,
                }
            )
            written += f.write("," * (task > 1) + record)
        f.write("]\n")
    print(json.dumps({"tasks": task}))


def read(path):
    import pandas as pd

    start = time.process_time()
    with open(path) as f:
        tasks = json.load(f)
    rows = [
        (t["id"], a["completed_by"]["email"], r["value"]["choices"][0])
        for t in tasks
        for a in t["annotations"]
        if not a["was_cancelled"]
        for r in a["result"]
        if r["from_name"] == "sentiment"
    ]
    votes = pd.DataFrame(rows, columns=["task", "worker", "label"])
    for column in votes:
        pd.factorize(votes[column])
    print(json.dumps({"seconds": time.process_time() - start, "votes": len(votes)}))


if sys.argv[1] == "make":
    make(int(sys.argv[2]), sys.argv[3])
else:
    read(sys.argv[2])
