"""Votes to soft labels: several methods, one combination, and who can be trusted."""

import dissent

# Who said what about which item. A DataFrame, polars, Arrow or a file (dissent.read_votes) will do as well.
votes = dissent.Votes(
    [
        ("review 1", "ann", "good"), ("review 1", "bob", "good"), ("review 1", "eve", "bad"),
        ("review 2", "ann", "bad"), ("review 2", "bob", "bad"), ("review 2", "eve", "bad"),
        ("review 3", "ann", "good"), ("review 3", "bob", "bad"), ("review 3", "eve", "bad"),
        ("review 4", "ann", "good"), ("review 4", "bob", "good"), ("review 4", "eve", "good"),
    ]
)  # fmt: skip
print(votes)

model = dissent.DawidSkene().fit(votes)
print("Dawid-Skene:", model.labels_.to_dict())
print("skills:     ", {worker: round(skill, 2) for worker, skill in model.skills_.items()})

# Four views of the same votes, and the distribution that lies closest to all of them: what `dissent labels` does.
soft = dissent.JensenShannonCentroid().fit(votes).result_
for task in soft.tasks:
    print(task, {label: round(p, 3) for label, p in soft[task].items()})

dissent.write_labels(soft, "labels.csv")
