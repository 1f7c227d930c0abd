"""How far do people agree, what should be labelled again, and who votes without looking?"""

import numpy as np

import dissent

rng = np.random.default_rng(3)
truth = rng.integers(3, size=120)
votes = []
for task, right in enumerate(truth):
    for worker in rng.choice(10, 4, replace=False):
        careful = worker != 7  # worker 7 answers whatever comes to mind
        label = right if careful and rng.random() < 0.8 else rng.integers(3)
        votes.append((f"t{task}", f"w{worker}", "abc"[label]))

agreement = dissent.agreement(votes)
for name in ("percent", "fleiss", "alpha_nominal"):
    m = agreement[name]
    print(f"{name:15} {m.value:.3f}  [{m.ci_low:.3f}, {m.ci_high:.3f}]")

review = dissent.review(votes, budget=40)
print(review)
for i in range(3):
    row = review.items.row(i)
    print(f"{row['task']}: {row['buy']} more votes; {row['reason']}")
worst = review.workers.row(0)
print(f"{worst['worker']}: {worst['reason']}")
