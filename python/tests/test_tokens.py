"""dissent.Tokenizer against the tool and against itself: texts, pairs, words, places, errors."""

import json
import pathlib

import numpy as np
import pytest

import dissent

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "parity" / "fixtures" / "tokenizers"


@pytest.fixture
def tokenizer():
    return dissent.Tokenizer(FIXTURES / "wordpiece_uncased")


def test_same_as_tokenizers():
    for folder in sorted(FIXTURES.iterdir()):
        t = dissent.Tokenizer(folder)
        lines = [json.loads(line) for line in (folder / "expected.jsonl").read_text(encoding="utf-8").splitlines()]
        single = [x for x in lines if x["pair"] is None]
        pairs = [x for x in lines if x["pair"] is not None]
        got = t.encode_batch([x["text"] for x in single], places=True)
        assert list(got) == [x["ids"] for x in single]
        assert got.types.tolist() == [i for x in single for i in x["types"]]
        assert got.places.tolist() == [p for x in single for p in x["places"]]
        got = t.encode_batch([x["text"] for x in pairs], [x["pair"] for x in pairs])
        assert list(got) == [x["ids"] for x in pairs]
        assert t.encode(pairs[0]["text"], pairs[0]["pair"]) == pairs[0]["ids"]


def test_words(tokenizer):
    got = tokenizer.encode_words([["Hello", "world"], [], ["people"]])
    assert len(got) == 3 and len(got[1]) == 2
    assert got.first_token[0] == 1 and got.first_token[2] == got.start[2] + 1
    assert tokenizer.encode_words([["a"] * 9], max_length=4).first_token.tolist() == [1, 2] + [-1] * 7


def test_options(tokenizer):
    assert tokenizer.model == "WordPiece" and tokenizer.vocab_size == 402 and tokenizer.max_length is None
    assert tokenizer.special["before"] == tokenizer.token_to_id("[CLS]") and tokenizer.token_to_id("no such token") is None
    assert tokenizer.encode("the man", special=False) == tokenizer.encode("the man")[1:-1]
    assert len(tokenizer.encode("the man eats", max_length=4)) == 4
    texts = ["the man"] * 500
    one, two = tokenizer.encode_batch(texts, n_jobs=1), tokenizer.encode_batch(texts, n_jobs=2)
    assert np.array_equal(one.ids, two.ids) and one.places is None


def test_errors(tokenizer, tmp_path):
    with pytest.raises(dissent.FileError, match="no tokenizer"):
        dissent.Tokenizer(tmp_path)
    with pytest.raises(dissent.OptionError, match="max_length 1"):
        tokenizer.encode("a", max_length=1)
    with pytest.raises(TypeError, match="number 2 is not a text"):
        tokenizer.encode_batch(["a", 3])
    with pytest.raises(ValueError, match="1 texts and 2 second ones"):
        tokenizer.encode_batch(["a"], ["b", "c"])
    with pytest.raises(UnicodeEncodeError):
        tokenizer.encode("\ud800")
    with pytest.raises(IndexError):
        tokenizer.encode_batch(["a"])[1]


def test_embed(tmp_path):
    """A tiny encoder with the tokenizer beside it: batches, length 1, pooling, pairs, errors."""
    import shutil

    encoders = FIXTURES.parent / "encoders"
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        shutil.copy(encoders / "bert_vocabulary" / name, tmp_path / name)
    texts = ["the man eats", "people disagree about labels of texts", "no"]
    x = dissent.embed(texts, encoder=tmp_path)
    assert x.shape == (3, 8) and x.dtype == np.float32
    one = np.concatenate([dissent.embed([t], encoder=tmp_path, n_jobs=1) for t in texts])
    assert np.abs(x - one).max() < 1e-5
    unit = dissent.embed(texts, encoder=tmp_path, normalise=True)
    assert np.allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-6)
    assert np.allclose(unit, x / np.linalg.norm(x, axis=1, keepdims=True), atol=1e-6)
    assert not np.allclose(x, dissent.embed(texts, encoder=tmp_path, pool="first"))
    assert not np.allclose(x, dissent.embed(texts, ["yes"] * 3, encoder=tmp_path))
    with pytest.raises(ValueError, match="pool"):
        dissent.embed(texts, encoder=tmp_path, pool="last")
    with pytest.raises(dissent.OptionError, match="positions"):
        dissent.embed(texts, encoder=tmp_path, max_length=1000)
    with pytest.raises(dissent.DissentError):
        dissent.embed(texts, encoder=tmp_path / "missing")
