#!/usr/bin/env python3
"""The same ids as Hugging Face tokenizers? On every text of a data folder and on random strings of all scripts.

    python tests/parity/tokenizer_parity.py build/libdissent.so FOLDER... [--data ../shared/data] [--strings 1000000]

Each FOLDER is an encoder's (tools/fetch_encoders.sh), or one with older files of a tokenizer. Compared are ids and types of
texts and pairs with and without special tokens, ids after truncation, ids and first sub-words of split texts, and places on
the texts of the data. Exits 1 at the first difference. Needs the package tokenizers.
"""
import argparse
import csv
import json
import os
import random
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
import tokenizer_library  # noqa: E402
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors  # noqa: E402


def bert_of(folder):
    t = Tokenizer(models.WordPiece.from_file(os.path.join(folder, "vocab.txt"), unk_token="[UNK]"))
    t.normalizer, t.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    t.post_processor = processors.BertProcessing(("[SEP]", t.token_to_id("[SEP]")), ("[CLS]", t.token_to_id("[CLS]")))
    t.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    return t


def byte_level_of(vocabulary, merges):
    t = Tokenizer(models.BPE.from_file(vocabulary, merges))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    if t.token_to_id("<s>") is not None and t.token_to_id("</s>") is not None:
        t.post_processor = processors.RobertaProcessing(("</s>", t.token_to_id("</s>")), ("<s>", t.token_to_id("<s>")),
                                                        add_prefix_space=False)
        t.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>", AddedToken("<mask>", lstrip=True, special=True)])
    else:
        t.post_processor = processors.ByteLevel(add_prefix_space=False)
    return t


def reference_of(folder):
    """What tokenizers, or transformers over it, makes of the files."""
    path = lambda name: os.path.join(folder, name)
    if os.path.exists(path("tokenizer.json")):
        t = Tokenizer.from_file(path("tokenizer.json"))
        t.no_truncation()
        t.no_padding()
        return t
    if os.path.exists(path("vocab.txt")):
        return bert_of(folder)
    if os.path.exists(path("merges.txt")):
        return byte_level_of(path("vocab.json"), path("merges.txt"))
    return byte_level_of(path("encoder.json"), path("vocab.bpe"))


def strings_in(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for v in value.values():
            yield from strings_in(v)
    elif isinstance(value, list):
        for v in value:
            yield from strings_in(v)


def texts_of(data):
    """Every field of every CSV, TSV, JSON and JSONL file and every line of other text files, each once."""
    csv.field_size_limit(1 << 30)
    seen = set()
    for root, _, files in sorted(os.walk(data)):
        for name in sorted(files):
            path = os.path.join(root, name)
            if os.path.getsize(path) > 100 << 20:
                continue
            try:
                with open(path, encoding="utf-8", newline="") as f:
                    if name.endswith((".csv", ".tsv")):
                        found = (field for row in csv.reader(f, delimiter="\t" if name.endswith("tsv") else ",") for field in row)
                        seen.update(found)
                    elif name.endswith(".json"):
                        seen.update(strings_in(json.load(f)))
                    elif name.endswith(".jsonl"):
                        for line in f:
                            seen.update(strings_in(json.loads(line)))
                    else:
                        seen.update(f.read().splitlines())
            except (UnicodeDecodeError, csv.Error, json.JSONDecodeError):
                continue
    return sorted(seen)


# Blocks that scripts, signs and oddities live in; characters are drawn from one or two of them.
BLOCKS = [(0x20, 0x7e), (0x20, 0x7e), (0x20, 0x7e), (0xa0, 0x24f), (0x250, 0x36f), (0x370, 0x3ff), (0x400, 0x52f), (0x531, 0x5ff),
          (0x600, 0x7ff), (0x800, 0x8ff), (0x900, 0xdff), (0xe00, 0xfff), (0x1000, 0x109f), (0x10a0, 0x13ff), (0x1400, 0x17ff),
          (0x1800, 0x1cff), (0x1d00, 0x1fff), (0x2000, 0x206f), (0x2070, 0x23ff), (0x2400, 0x2bff), (0x2c00, 0x2fff),
          (0x3000, 0x33ff), (0x3400, 0x9fff), (0xa000, 0xabff), (0xac00, 0xd7ff), (0xe000, 0xf8ff), (0xf900, 0xffff),
          (0x10000, 0x107ff), (0x10800, 0x11fff), (0x12000, 0x16fff), (0x17000, 0x1bfff), (0x1c000, 0x1efff),
          (0x1f000, 0x1faff), (0x20000, 0x323af), (0xe0000, 0xe01ef), (0x0, 0x10ffff), (0x0, 0x1f), (0x7f, 0x9f)]
PIECES = [" ", "  ", "\n", "\r\n", "\t", "'s", "'re", "'LL", "n't", "...", "\u0301", "\u0323", "\u200d", "\ufeff", "\u3000", "\u00a0",
          "\u2028", "\u0130", "\u00df", "\ufb01", "\u1e9b\u0323", "\uac00", "\u1100\u1161\u11a8", "\u0915\u094d\u0915", "\U0001f468\u200d\U0001f469",
          "\U0001f1e9\U0001f1ea", "\u00a9\ufe0f", "[MASK]", "[CLS]", "<mask>", "<s>", "</s>", "<unk>", "[UNK]", "##ing", "\u2581", "\u2581\u2581",
          "\u0120", "\x00", "\ufffd", "a\u0301", "\u0600", "the", " and", "1,000", "3.14", "@user", "http://", "xn--", "\u0e33", "\u0958"]


def random_string(r, words):
    kind = r.random()
    out = []
    blocks = [r.choice(BLOCKS) for _ in range(r.randint(1, 2))]
    for _ in range(r.randint(0, 12)):
        x = r.random()
        if x < .25:
            out.append(r.choice(PIECES))
        elif x < .5 and words:
            out.append(r.choice(words))
        else:
            low, high = r.choice(blocks)
            n = r.randint(1, 4 if kind < .9 else 60)
            out.append("".join(chr(c) for c in (r.randint(low, high) for _ in range(n)) if not 0xd800 <= c < 0xe000))
        if x < .4:
            out.append(" ")
    return "".join(out)


def fail(folder, what, text, ours, theirs):
    print(f"{folder}: {what} differ for {text!r}\n  dissent    {ours}\n  tokenizers {theirs}")
    sys.exit(1)


def compare(folder, what, ours, theirs, texts, **how):
    got = ours.encode(texts, **how)
    want = theirs.encode_batch(texts, add_special_tokens=how.get("special", True))
    for i, w in enumerate(want):
        if got[0][i] != w.ids:
            fail(folder, "ids of " + what, texts[i], got[0][i], w.ids)
        if got[1][i] != w.type_ids:
            fail(folder, "types of " + what, texts[i], got[1][i], w.type_ids)
    return got, want


def char_places(text, places):
    chars, raw = {}, text.encode()
    at = 0
    for i, ch in enumerate(text):
        for _ in ch.encode():
            chars[at] = i
            at += 1
    chars[len(raw)] = len(text)
    return [(chars[a], chars[b]) for a, b in places]


def compare_places(folder, ours, theirs, texts):
    got, want = compare(folder, "texts with places", ours, theirs, texts, places=True)
    differ = [(t, p, w.offsets) for t, p, w in zip(texts, (char_places(t, p) for t, p in zip(texts, got[2])), want) if p != w.offsets]
    return differ


def batches(texts, n=2000):
    for i in range(0, len(texts), n):
        yield texts[i:i + n]


def check(folder, library, data, n_strings, seed):
    ours, theirs = library.open(folder), reference_of(folder)
    r = random.Random(seed)
    begin = time.time()
    misplaced = 0
    for part in batches(data):
        compare(folder, "texts", ours, theirs, part)
    for part in batches(data if len(data) <= 20000 else r.sample(data, 20000)):
        misplaced += len(compare_places(folder, ours, theirs, part))
    if misplaced:
        print(f"{folder}: places of {misplaced} of 20000 texts differ")
    print(f"{folder}: {len(data)} texts of the data: the same ids ({time.time() - begin:.0f} s)", flush=True)
    words = [w for t in r.sample(data, min(2000, len(data))) for w in t.split()[:20]]
    differ = []
    misplaced = done = 0
    while done < n_strings:
        strings = [random_string(r, words) for _ in range(2000)]
        compare(folder, "random strings", ours, theirs, strings)
        if done % 20000 == 0:
            pairs = list(zip(strings, reversed(strings)))
            compare(folder, "pairs", ours, theirs, pairs)
            compare(folder, "strings without special tokens", ours, theirs, strings, special=False)
            compare(folder, "pairs without special tokens", ours, theirs, pairs, special=False)
            for most in (7, 12, 33): # few: what is cut off takes tokenizers quadratic time
                theirs.enable_truncation(most)
                compare(folder, f"strings cut to {most}", ours, theirs, strings[:200], max_length=most)
                compare(folder, f"pairs cut to {most}", ours, theirs, pairs[:100], max_length=most)
                theirs.no_truncation()
            compare_words(folder, ours, theirs, [s.split() for s in strings if s.split()])
            differ = compare_places(folder, ours, theirs, strings) or differ
            misplaced += len(differ)
        done += len(strings)
    if misplaced:
        print("  for example", *differ[0], sep="\n    ")
        print(f"{folder}: places of {misplaced} of {(done + 19999) // 20000 * 2000} random strings differ")
    print(f"{folder}: {done} random strings: the same ids ({time.time() - begin:.0f} s)", flush=True)


def compare_words(folder, ours, theirs, sentences):
    """Split texts; byte-level ones as with add_prefix_space."""
    spec = json.loads(theirs.to_str())
    if (spec["pre_tokenizer"] or {}).get("type") == "ByteLevel":
        spec["pre_tokenizer"]["add_prefix_space"] = True
        theirs = Tokenizer.from_str(json.dumps(spec))
    ids, first = ours.encode_words(sentences)
    want = theirs.encode_batch(sentences, is_pretokenized=True)
    for s, got, f, w in zip(sentences, ids, first, want):
        if got != w.ids:
            fail(folder, "ids of words", s, got, w.ids)
        expected = [None] * len(s)
        for i, word in reversed(list(enumerate(w.word_ids))):
            if word is not None:
                expected[word] = i
        if f != expected:
            fail(folder, "first sub-words", s, f, expected)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--data", default=os.path.join(os.path.dirname(__file__), "..", "..", "..", "shared", "data"))
    parser.add_argument("--strings", type=int, default=100000)
    parser.add_argument("--texts", type=int, default=0, help="at most so many texts of the data, 0: all")
    parser.add_argument("--seed", type=int, default=1)
    o = parser.parse_args()
    data = texts_of(o.data)
    if o.texts and len(data) > o.texts:
        data = random.Random(o.seed).sample(data, o.texts)
    print(f"{len(data)} different texts in {o.data}", flush=True)
    library = tokenizer_library.Library(os.path.abspath(o.library))
    for folder in o.folders:
        check(folder, library, data, o.strings, o.seed)


if __name__ == "__main__":
    main()
