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
    asked = np.repeat(np.arange(150, 200), 6)
    workers = [f"w{w}" for _ in range(50) for w in range(6)]
    p = model.predict_workers(x[asked], workers)
    said = np.array([truth[i] ^ (int(w[1]) % 2) for i, w in zip(asked, workers)])
    assert (p.argmax(axis=1) == said).mean() > 0.9
    with pytest.raises(dissent.DataError, match="workers for"):
        model.predict_workers(x[:2], ["w0"])
    plain = dissent.SoftClassifier("kl", "mlp", n_epochs=1).fit(x, np.eye(2)[truth])
    with pytest.raises(dissent.OptionError, match="annotator"):
        plain.predict_workers(x[:1], ["w0"])
