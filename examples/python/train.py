"""Trains a text classifier on what people said, disagreement included, and saves it for `dissent predict`."""

import numpy as np

import dissent

rng = np.random.default_rng(0)
good, bad = ["fine", "lovely", "great", "warm"], ["dull", "poor", "awful", "cold"]
texts, votes = {}, []
for i in range(400):
    share = rng.beta(0.7, 0.7)  # how good the film is, and so how many think so
    words = [rng.choice(good if rng.random() < share else bad) for _ in range(6)]
    texts[f"film {i}"] = " ".join(words)
    votes += [(f"film {i}", f"critic {c}", "good" if rng.random() < share else "bad") for c in rng.choice(12, 5, replace=False)]

tasks = list(texts)
train, test = tasks[:320], tasks[320:]
people = dissent.Standard().fit(votes).result_

model = dissent.SoftClassifier("soft-ce", "text:width=32,buckets=4096", n_epochs=15, learning_rate=0.01, random_state=1)
model.fit([texts[t] for t in train], people, tasks=train)  # or .fit(..., votes=votes, tasks=train)
print(model, "loss", round(model.history_[0]["loss"], 3), "->", round(model.history_[-1]["loss"], 3))

predicted = dissent.SoftLabels(test, model.classes_, model.predict_proba([texts[t] for t in test]))
seen = dissent.SoftLabels(test, people.classes, np.array([list(people[t].values()) for t in test]))
result = dissent.evaluate(predicted, human=seen)
print(f"cross-entropy {result.cross_entropy:.3f} (its floor, the entropy of what people say: {result.human_entropy:.3f} nats)")
print(f"unsure where people are: correlation {result.entropy_correlation:.2f}")

model.save("model")  # dissent predict model --items new.csv
again = dissent.SoftClassifier.load("model")
print(again.predict(["great lovely fine film", "awful dull cold film"]))
