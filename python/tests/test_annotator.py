"""Models that know who is asked."""

from __future__ import annotations

import numpy as np
import pytest

import dissent


def test_two_opinions():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(200, 5)).astype(np.float32)
    truth = (x[:, 0] > 0).astype(int)
    votes = [(i, f"w{w}", int(truth[i] ^ (w % 2))) for i in range(200) for w in range(6)]
    model = dissent.SoftClassifier("annotator:hidden=16", "mlp:hidden=32,dropout=0", n_epochs=30, learning_rate=5e-3)
    model.fit(x[:150], votes=[v for v in votes if v[0] < 150], tasks=list(range(150)))
    predicted_items = np.repeat(np.arange(150, 200), 6)
    workers = [f"w{w}" for _ in range(50) for w in range(6)]
    p = model.predict_workers(x[predicted_items], workers)
    predicted = np.array([truth[i] ^ (int(w[1]) % 2) for i, w in zip(predicted_items, workers)])
    assert (p.argmax(axis=1) == predicted).mean() > 0.9
    with pytest.raises(dissent.DataError, match="workers for"):
        model.predict_workers(x[:2], ["w0"])
    plain = dissent.SoftClassifier("kl", "mlp", n_epochs=1).fit(x, np.eye(2)[truth])
    with pytest.raises(dissent.OptionError, match="annotator"):
        plain.predict_workers(x[:1], ["w0"])


def test_features_of_workers():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(200, 5)).astype(np.float32)
    truth = (x[:, 0] > 0).astype(int)
    votes = [(i, f"w{w}", int(truth[i] ^ (w % 2))) for i in range(150) for w in range(6)]
    people = {"worker": [f"w{w}" for w in range(8)], "age": [20 + w for w in range(7)] + [None], "side": ["left", "right"] * 4}
    model = dissent.SoftClassifier("annot-mix:hidden=16,alpha=.2", "mlp:hidden=32,dropout=0", n_epochs=30, learning_rate=5e-3)
    model.fit(x[:150], votes=votes, tasks=list(range(150)), worker_table=people, worker_features=["age", "side"])
    assert model.heads_ == ["vote", "class"]
    later = np.arange(150, 200)
    for worker in ("w6", "w7"):  # nobody has voted as these
        p = model.predict_workers(x[later], [worker] * 50, worker_table=people)
        assert (p.argmax(axis=1) == truth[later] ^ (int(worker[1]) % 2)).mean() > 0.8
    with pytest.raises(dissent.OptionError, match="go together"):
        model.fit(x[:150], votes=votes, tasks=list(range(150)), worker_table=people)
    with pytest.raises(dissent.OptionError, match="no column"):
        model.fit(x[:150], votes=votes, tasks=list(range(150)), worker_table=people, worker_features=["height"])


def test_perspectives():
    votes = [("a", "w", 1), ("a", "x", 1), ("a", "y", 3), ("b", "w", 2), ("b", "x", 4), ("c", "w", 4)]
    predicted = [("a", "w", 1), ("a", "x", 2), ("a", "y", 3), ("b", "w", 4), ("b", "x", 4), ("c", "w", 1)]
    found = dissent.perspectives(votes, predicted, ordered=True)
    assert found.error_rate["model"]["votes"].value == pytest.approx(3 / 6)
    assert found.error_rate["model"]["items"].value == pytest.approx((1 / 3 + 1 / 2 + 1) / 3)
    assert found.absolute_distance["model"]["workers"].value == pytest.approx((5 / 3 + 1 / 2 + 0) / 3)
    assert found.error_rate["majority_of_others"]["votes"].value == pytest.approx(3 / 5)
    assert found.n_votes == 6 and found.n_items == 3 and found.n_left_out == 0
    assert list(found.workers["votes"]) == [3, 2, 1]
    assert found.to_dict()["error_rate"]["model"]["votes"]["n"] == 6
    assert dissent.perspectives(votes, predicted, resamples=0).absolute_distance is None
    with pytest.raises(dissent.DataError, match="no prediction"):
        dissent.perspectives(votes, predicted[:-1])
    assert dissent.perspectives(votes, predicted[:-1], lenient=True).n_left_out == 1
