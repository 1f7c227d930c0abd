"""SoftClassifier on pretrained encoders: a tiny BERT of the fixtures."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dissent
from dissent import SoftClassifier

ENCODER = Path(__file__).resolve().parents[2] / "tests" / "parity" / "fixtures" / "encoders" / "bert_training"
PAIRS = [("red apple", "a man"), ("green pear", "two"), ("red plum", ""), ("green leaf", "one")] * 5
SOFT = np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.1, 0.9]] * 5)


@pytest.mark.parametrize("spec", ["encoder", "encoder:lora=2,lora-targets=all", "encoder:frozen=1,layer-decay=0.9,max-length=9"])
def test_encoder(tmp_path, spec):
    """Pairs of texts: the same again, in a pickle, from a folder without the encoder's, and after a stop; for
    transformers."""
    how = dict(encoder=ENCODER, n_epochs=12, batch_size=4, learning_rate=0.02)
    model = SoftClassifier("kl", spec, **how).fit(PAIRS, SOFT)
    p = model.predict_proba(PAIRS)
    assert p.shape == (20, 2) and np.allclose(p.sum(1), 1)
    assert model.history_[-1]["loss"] < 0.8 * model.history_[0]["loss"]
    assert np.array_equal(model.clone().set_params(n_jobs=2).fit(PAIRS, SOFT).predict_proba(PAIRS), p)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict_proba(PAIRS), p)
    model.save(tmp_path / "model")
    assert np.array_equal(SoftClassifier.load(tmp_path / "model").predict_proba(PAIRS), p)
    half = SoftClassifier("kl", spec, checkpoints=tmp_path / "run", **how)
    half.set_params(progress=lambda *_: (_ for _ in ()).throw(KeyboardInterrupt) if os.path.exists(tmp_path / "run" / "checkpoint.safetensors") else None)
    try:
        half.fit(PAIRS, SOFT)
    except KeyboardInterrupt:
        pass
    half.set_params(progress=None, resume=True)
    assert np.array_equal(half.fit(PAIRS, SOFT).predict_proba(PAIRS), p)
    model.export(tmp_path / "out")
    assert {f.name for f in (tmp_path / "out").iterdir()} == {"README.md", "config.json", "model.safetensors", "tokenizer.json"}
    assert "Classes: `0`, `1`" in (tmp_path / "out" / "README.md").read_text()
    x = dissent.embed([a for a, _ in PAIRS[:4]], encoder=tmp_path / "out")
    before = dissent.embed([a for a, _ in PAIRS[:4]], encoder=ENCODER)
    assert x.shape == (4, 8) and not np.allclose(x, before)


def test_encoder_objectives():
    """Two heads, crowd layers, accumulation, folds and sentences of words."""
    votes = pd.DataFrame({"task": [i for i in range(20) for _ in range(2)], "worker": ["u", "v"] * 20, "label": [i % 2 for i in range(20) for _ in range(2)]})
    how = dict(encoder=ENCODER, n_epochs=6, batch_size=4, learning_rate=0.02)
    for objective, given in (("gold+kl", dict(y=SOFT, gold=[0, 1] * 10)), ("crowd:vwb", dict(votes=votes))):
        model = SoftClassifier(objective, "encoder:lora=2", accumulate=2, classes=[0, 1], **how).fit(PAIRS, tasks=range(20), **given)
        assert (model.predict(PAIRS) == np.array([0, 1] * 10)).mean() > 0.8
    folds = SoftClassifier("kl", "encoder", **how).out_of_fold(PAIRS, SOFT, folds=2)
    assert folds.shape == (20, 2)
    sentences = [["a", "b", "c", "d", "e"], ["b", "a"]] * 4
    tags = [["x", "y", "x", "y", "x"], ["y", "x"]] * 4
    tagger = SoftClassifier("gold", "encoder-tagger:max-length=4", **how | dict(n_epochs=30)).fit(sentences, tags)
    assert [list(t) for t in tagger.predict(sentences[:2])] == tags[:2]
    with pytest.raises(dissent.OptionError, match="encoder"):
        SoftClassifier("kl", "encoder").fit(PAIRS, SOFT)
    with pytest.raises(dissent.OptionError, match="lora-targets"):
        SoftClassifier("kl", "encoder:lora-targets=some", encoder=ENCODER).fit(PAIRS, SOFT)
    with pytest.raises(dissent.DissentError, match="other software"):
        SoftClassifier("kl", "text", n_epochs=1).fit(["a", "b"], SOFT[:2]).export("nowhere")


def test_choices():
    """The texts of the classes stand behind one that they share."""
    stories = [("red", "red apple", "green pear"), ("green", "red plum", "green leaf"), ("red", "green leaf", "red apple"), ("green", "green pear", "red plum")]
    right = ["1", "2", "2", "1"]
    m = SoftClassifier("gold", "encoder:choices=2", encoder=ENCODER, n_epochs=30, batch_size=4, learning_rate=0.02).fit(stories, right)
    assert list(m.predict(stories)) == right
    q = m.predict_proba(stories)
    swapped = m.predict_proba([(a, c, b) for a, b, c in stories])
    np.testing.assert_allclose(q, swapped[:, ::-1], atol=1e-6)  # a score is of its text, wherever that stands
    with pytest.raises(dissent.OptionError, match="choices=3 and 2 classes"):
        SoftClassifier("gold", "encoder:choices=3", encoder=ENCODER).fit([(a, b, c, a) for a, b, c in stories], right)


def test_device_and_precision():
    """Vectors and predictions in bfloat16 are near those in float32, or refused with what the processor lacks."""
    texts, seen = [a for a, _ in PAIRS], []
    x = dissent.embed(texts, encoder=ENCODER, device="cpu", precision="float32", progress=lambda what, share: seen.append(share))
    assert np.array_equal(dissent.embed(texts, encoder=ENCODER, n_jobs=-1), x) and seen[-1] == 1
    with pytest.raises(ValueError, match="precision must be"):
        dissent.embed(texts, encoder=ENCODER, precision="double")
    with pytest.raises(dissent.OptionError, match="device"):
        dissent.embed(texts, encoder=ENCODER, device="tpu")
    with pytest.raises(dissent.OptionError, match="float32"):
        SoftClassifier("kl", "encoder", encoder=ENCODER, precision="bf16").fit(PAIRS, SOFT)
    model = SoftClassifier("kl", "encoder", encoder=ENCODER, n_epochs=2, batch_size=4).fit(PAIRS, SOFT)
    p = model.predict_proba(PAIRS)
    try:
        near = dissent.embed(texts, encoder=ENCODER, precision="bf16")
    except dissent.OptionError as error:
        assert "AVX512_BF16" in str(error) or "AVX-512" in str(error)
        return
    assert np.abs(near - x).max() < 0.1 and not np.array_equal(near, x)
    q = model.set_params(precision="bf16").predict_proba(PAIRS)
    assert np.abs(q - p).max() < 0.05
