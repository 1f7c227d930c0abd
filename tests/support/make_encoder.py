#!/usr/bin/env python3
"""Writes a small BERT encoder with random weights: make_encoder.py FOLDER WORDS

WORDS is a file of words, one per line; they become whole tokens, all other words are split into letters. The folder has the files of
a downloaded sentence encoder: config.json, model.safetensors, tokenizer.json, tokenizer_config.json, vocab.txt and
special_tokens_map.json. Tests use it where no pretrained encoder is installed. The weights depend on a fixed seed only."""

import json
import random
import string
import struct
import sys
from pathlib import Path

WIDTH, INNER, HEADS, LAYERS, POSITIONS = 32, 64, 4, 2, 64
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def shapes(n_words):
    """(name, shape) of every tensor, as transformers names them."""
    yield "embeddings.word_embeddings.weight", (n_words, WIDTH)
    yield "embeddings.position_embeddings.weight", (POSITIONS, WIDTH)
    yield "embeddings.token_type_embeddings.weight", (2, WIDTH)
    yield "embeddings.LayerNorm.weight", (WIDTH,)
    yield "embeddings.LayerNorm.bias", (WIDTH,)
    for layer in range(LAYERS):
        linear = {
            "attention.self.query": (WIDTH, WIDTH),
            "attention.self.key": (WIDTH, WIDTH),
            "attention.self.value": (WIDTH, WIDTH),
            "attention.output.dense": (WIDTH, WIDTH),
            "intermediate.dense": (INNER, WIDTH),
            "output.dense": (WIDTH, INNER),
        }
        for name, shape in linear.items():
            yield f"encoder.layer.{layer}.{name}.weight", shape
            yield f"encoder.layer.{layer}.{name}.bias", shape[:1]
        for name in ("attention.output", "output"):
            yield f"encoder.layer.{layer}.{name}.LayerNorm.weight", (WIDTH,)
            yield f"encoder.layer.{layer}.{name}.LayerNorm.bias", (WIDTH,)
    yield "pooler.dense.weight", (WIDTH, WIDTH)
    yield "pooler.dense.bias", (WIDTH,)


def values_of(name, n, draw):
    if name.endswith("LayerNorm.weight"):
        return [1.0] * n
    if name.endswith(".bias"):
        return [0.0] * n
    scale = 1.0 if "embeddings" in name else WIDTH**-0.5
    return [draw.gauss(0, scale) for _ in range(n)]


def write_weights(path, n_words):
    draw, header, data = random.Random(1), {"__metadata__": {"format": "pt"}}, bytearray()
    for name, shape in shapes(n_words):
        n = shape[0] * (shape[1] if len(shape) > 1 else 1)
        begin = len(data)
        data += struct.pack(f"<{n}f", *values_of(name, n, draw))
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def tokenizer(vocabulary):
    marks = {token: {"id": token, "ids": [vocabulary.index(token)], "tokens": [token]} for token in ("[CLS]", "[SEP]")}
    first = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}]
    second = [{"Sequence": {"id": "B", "type_id": 1}}, {"SpecialToken": {"id": "[SEP]", "type_id": 1}}]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": i, "content": token, **flags} for i, token in enumerate(SPECIAL)],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing", "single": first, "pair": first + second, "special_tokens": marks},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {token: i for i, token in enumerate(vocabulary)},
        },
    }


def main():
    folder, words = Path(sys.argv[1]), Path(sys.argv[2]).read_text().split()
    folder.mkdir(parents=True, exist_ok=True)
    letters = list(string.ascii_lowercase + string.digits + string.punctuation)
    vocabulary = list(dict.fromkeys(SPECIAL + letters + ["##" + letter for letter in letters] + words))
    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "vocab_size": len(vocabulary),
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": INNER,
        "hidden_act": "gelu",
        "max_position_embeddings": POSITIONS,
        "type_vocab_size": 2,
        "layer_norm_eps": 1e-12,
        "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1,
        "pad_token_id": 0,
    }
    marks = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
    settings = {"do_lower_case": True, "model_max_length": POSITIONS, "tokenizer_class": "BertTokenizer", **marks}
    for name, content in {"config": config, "tokenizer": tokenizer(vocabulary), "tokenizer_config": settings, "special_tokens_map": marks}.items():
        (folder / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    write_weights(folder / "model.safetensors", len(vocabulary))


if __name__ == "__main__":
    main()
