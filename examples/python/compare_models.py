"""Is model A better than model B, and on which items? Two seeds per side, against gold labels and against people."""

import numpy as np

import dissent

rng = np.random.default_rng(0)
n, classes = 300, ["no", "perhaps", "yes"]
tasks = [f"t{i}" for i in range(n)]
people = dissent.SoftLabels(tasks, classes, rng.dirichlet([0.6, 0.6, 0.6], size=n))
gold = dict(zip(tasks, people.labels.tolist()))


def model(noise: float, seed: int) -> dissent.SoftLabels:
    """Stands for what a trained model predicts: what people say, blurred."""
    blur = np.random.default_rng(seed).dirichlet([1, 1, 1], size=n)
    return dissent.SoftLabels(tasks, classes, (1 - noise) * people.p + noise * blur)


a, b = [model(0.45, seed) for seed in (1, 2)], [model(0.55, seed) for seed in (3, 4)]

result = dissent.evaluate(a[0], gold, people)
for name in ("accuracy", "macro_f1", "cross_entropy", "jsd", "entropy_correlation"):
    m = result[name]
    print(f"{name:20} {m.value:.3f}  [{m.ci_low:.3f}, {m.ci_high:.3f}]")

comparison = dissent.compare(a, b, gold, human=people)
difference = comparison.accuracy.difference
print(f"A - B: {difference.value:+.3f} [{difference.ci_low:+.3f}, {difference.ci_high:+.3f}], p = {comparison.accuracy.p:.4f}")
print("items that only A has correct:", comparison.cells["only_a_correct"], "only B:", comparison.cells["only_b_correct"])

dissent.report("models.html", predictions={"A": a[0], "B": b[0]}, gold=gold, human=people)
