#!/usr/bin/env python3
"""Makes tests/parity/fixtures/tokenizers: small tokenizers with every option that dissent knows, trained by Hugging Face
tokenizers on made-up sentences, and what that library makes of odd texts.

    python tests/parity/make_tokenizer_fixtures.py tests/parity/fixtures/tokenizers      (needs the package tokenizers)

Each folder has tokenizer.json and expected.jsonl, one object per text: text, pair (null: none), ids, types, places (bytes).
tests/unit/test_tokenizer.c reads them; tests/parity/tokenizer_parity.py takes the same folders with random strings.
"""
import json
import os
import random
import struct
import sys

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

sys.path.insert(0, os.path.dirname(__file__))
from tokenizer_parity import random_string  # noqa: E402

WORDS = ("the a man woman dog eats sleeps runs is was not very often people disagree about labels of texts and images some "
         "say yes others no 1 2 3 10 1999 3.14 don't it's we'll café naïve Straße über großer Hund läuft schnell niño señor "
         "привет мир как дела человек собака 你好 世界 人们 日本語 テスト 안녕하세요 세계 สวัสดี नमस्ते दुनिया مرحبا بالعالم "
         "שלום עולם Ελλάδα κόσμος 🙂 👍🏽 — … “quote” (brackets) [x] hello, world! what? e-mail http://example.org @user #tag").split()
LATER = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def corpus():
    r = random.Random(7)
    return [" ".join(r.choice(WORDS) for _ in range(r.randint(3, 14))) for _ in range(3000)]


def charsmap(mapping):
    """A map of sentencepiece: a double array as Darts has it, placed first fit, then the results with NULs behind them."""
    results, places = b"", {}
    for key, value in mapping.items():
        places[key.encode()] = len(results)
        results += value.encode() + b"\0"
    units, used, bases = {}, {0}, set() # two nodes with one base would be told apart by nothing
    def node(prefix, at_unit, label):
        children = sorted({k[len(prefix)] for k in places if len(k) > len(prefix) and k.startswith(prefix)})
        labels = ([0] if prefix in places else []) + children
        base = 1
        while base in bases or any((base ^ c) in used for c in labels):
            base += 1
        bases.add(base)
        used.update(base ^ c for c in labels)
        units[at_unit] = ((at_unit ^ base) << 10) | label | ((prefix in places) << 8)
        if prefix in places:
            units[base] = places[prefix] | 1 << 31
        for c in children:
            node(prefix + bytes([c]), base ^ c, c)
    node(b"", 0, 0)
    size = (max(units) + 256) // 256 * 256
    trie = struct.pack(f"<{size}I", *(units.get(i, 0) for i in range(size)))
    return struct.pack("<I", len(trie)) + trie + results


CHARS = {"\t": " ", "\n": " ", "\r": " ", "\u00a0": " ", "\u3000": " ", "ﬁ": "fi", "½": "1/2", "①": "1", "Ａ": "A", "ａ": "a", "a\u0301": "á",
         "e\u0301": "é", "\u200b": "", "\u00ad": "", "ｶ\uff9e": "ガ", "ｶ": "カ", "\u0958": "\u0915\u093c", "…": "...", "\u0344": "\u0308\u0301",
         "©": "(c)", "\u1100": "ᄀ", "İ": "I\u0307", "Ⅳ": "IV"}


def trained(model, trainer, normalizer=None, words=None, post=None):
    t = Tokenizer(model)
    if normalizer:
        t.normalizer = normalizer
    if words:
        t.pre_tokenizer = words
    t.train_from_iterator(corpus(), trainer)
    if post:
        t.post_processor = post(t)
    return t


def template(single, pair, *names):
    return lambda t: processors.TemplateProcessing(single=single, pair=pair, special_tokens=[(n, t.token_to_id(n)) for n in names])


SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ANGLES = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
BERT = template("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", "[CLS]", "[SEP]")
XLMR = template("<s> $A </s>", "<s> $A </s> </s> $B </s>", "<s>", "</s>")


def alphabet_bpe(**options):
    return trainers.BpeTrainer(vocab_size=420, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False, **options)


def byte_level():
    t = trained(models.BPE(), alphabet_bpe(special_tokens=ANGLES), normalizers.NFC(), pre_tokenizers.ByteLevel(),
                lambda t: processors.RobertaProcessing(("</s>", 2), ("<s>", 0)))
    t.add_tokens([AddedToken("  "), AddedToken("disagree", single_word=True), AddedToken("[L]", lstrip=True),
                  AddedToken("[R]", rstrip=True, normalized=False), AddedToken("é\u0301x", normalized=True)])
    return t


def byte_level_later():
    words = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LATER), "isolated"),
                                     pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    t = trained(models.BPE(ignore_merges=True), alphabet_bpe(special_tokens=["<|end|>"]), None, words,
                lambda t: processors.Sequence([processors.ByteLevel(trim_offsets=False),
                                               template("<|end|> $A", "<|end|> $A <|end|> $B:1", "<|end|>")(t)]))
    return t


def bpe_chars():
    t = trained(models.BPE(unk_token="[UNK]", fuse_unk=True, end_of_word_suffix="</w>"),
                trainers.BpeTrainer(vocab_size=400, special_tokens=SPECIAL, end_of_word_suffix="</w>", limit_alphabet=60, show_progress=False),
                normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]), pre_tokenizers.Whitespace())
    return t


def bpe_prefix():
    return trained(models.BPE(unk_token="[UNK]", continuing_subword_prefix="##"),
                   trainers.BpeTrainer(vocab_size=400, special_tokens=SPECIAL, continuing_subword_prefix="##", limit_alphabet=60,
                                       show_progress=False),
                   normalizers.NFD(), pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Digits(False)]), BERT)


def bpe_fallback():
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    t = trained(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True),
                trainers.BpeTrainer(vocab_size=600, special_tokens=tokens, limit_alphabet=50, show_progress=False),
                normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
                pre_tokenizers.Split("▁", "merged_with_next"), template("<s> $A", "<s> $A <s> $B:1", "<s>"))
    spec = json.loads(t.to_str())
    spec["pre_tokenizer"] = None
    spec["added_tokens"] = spec["added_tokens"][:3]
    return Tokenizer.from_str(json.dumps(spec))


def wordpiece_cased():
    return trained(models.WordPiece(unk_token="[UNK]"),
                   trainers.WordPieceTrainer(vocab_size=400, special_tokens=SPECIAL, limit_alphabet=120, show_progress=False),
                   normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=False, lowercase=False),
                   pre_tokenizers.BertPreTokenizer(), lambda t: processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2)))


def wordpiece_uncased():
    t = trained(models.WordPiece(unk_token="[UNK]"),
                trainers.WordPieceTrainer(vocab_size=400, special_tokens=SPECIAL, limit_alphabet=120, show_progress=False),
                normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer(), BERT)
    t.add_tokens([AddedToken("Straße"), AddedToken("don't", single_word=True)])
    return t


def wordpiece_steps():
    steps = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Strip(),
                                  normalizers.Replace(Regex(r"\d"), "0"), normalizers.Replace("--", "-")])
    words = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.Digits(True)])
    t = trained(models.WordPiece(unk_token="[UNK]"),
                trainers.WordPieceTrainer(vocab_size=300, special_tokens=SPECIAL, limit_alphabet=80, continuing_subword_prefix="@@", show_progress=False), steps, words)
    spec = json.loads(t.to_str())
    spec["model"]["max_input_chars_per_word"] = 9
    return Tokenizer.from_str(json.dumps(spec))


def unigram(normalizer, words, post=XLMR, **options):
    t = trained(models.Unigram(), trainers.UnigramTrainer(vocab_size=400, special_tokens=ANGLES, unk_token="<unk>", show_progress=False, **options),
                normalizer, words, post)
    return t


def unigram_precompiled():
    steps = normalizers.Sequence([normalizers.Precompiled(charsmap(CHARS)), normalizers.Replace(Regex(" {2,}"), " ")])
    return unigram(steps, pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]))


def unigram_first():
    steps = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Strip(left=True, right=True)])
    t = unigram(steps, pre_tokenizers.Metaspace(prepend_scheme="first"))
    t.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    return t


def unigram_never():
    t = unigram(None, pre_tokenizers.Metaspace(prepend_scheme="never", split=False))
    spec = json.loads(t.to_str())
    spec["model"]["vocab"] += [[f"<0x{b:02X}>", -20.0] for b in range(256)]
    spec["model"]["byte_fallback"] = True
    return Tokenizer.from_str(json.dumps(spec))


def splits(behaviour, pattern, invert=False):
    def make():
        t = trained(models.WordPiece(unk_token="[UNK]"),
                    trainers.WordPieceTrainer(vocab_size=300, special_tokens=SPECIAL, limit_alphabet=150, show_progress=False), None,
                    pre_tokenizers.Split(pattern, behaviour, invert))
        return t
    return make


MAKERS = {f.__name__: f for f in (byte_level, byte_level_later, bpe_chars, bpe_prefix, bpe_fallback, wordpiece_cased, wordpiece_uncased,
                                  wordpiece_steps, unigram_precompiled, unigram_first, unigram_never)}
MAKERS.update(split_removed=splits("removed", Regex(r"\s+")), split_previous=splits("merged_with_previous", Regex(r"\p{N}{1,3}")),
              split_next=splits("merged_with_next", " "), split_contiguous=splits("contiguous", Regex(r"\p{L}")),
              split_inverted=splits("removed", Regex(r"\S+"), True))


def byte_places(text, places):
    at = [0]
    for ch in text:
        at.append(at[-1] + len(ch.encode()))
    return [[at[a], at[b]] for a, b in places]


SPACED = ["a\u2003[L] b\n[L] c  <mask>", "\u202f\u00a0[L]\u2003[R]"]  # spaces of other kinds before tokens that take them


def texts():
    r = random.Random(11)
    plain = ["", " ", "a", "The man eats.", "  two  spaces ", "don't we'll IT'S", "CAFÉ Cafe\u0301 naïve", "中文字 mixed 日本語",
             "line\nbreaks\r\nand\ttabs", "[MASK] <mask> [L] x [R] y disagree disagreement", "Straße İstanbul ΣΑΣ", "a" * 120, "é" * 130,
             "👨‍👩‍👧 🇩🇪 ©️ ﬁ ½ ① ｶﾞ", "\u1e9b\u0323 q\u0307\u0323 가 각", "x\u0315\u0300\u05ae\u0062", "é\u0301x éx"]
    return plain + [random_string(r, WORDS) for _ in range(60)] + SPACED


def main(folder):
    for name, make in MAKERS.items():
        t = make()
        os.makedirs(os.path.join(folder, name), exist_ok=True)
        with open(os.path.join(folder, name, "tokenizer.json"), "w", encoding="utf-8") as f:
            json.dump(json.loads(t.to_str()), f, ensure_ascii=False, separators=(",", ":"))
            f.write("\n")
        lines = [x for x in texts() if "\0" not in x]
        with open(os.path.join(folder, name, "expected.jsonl"), "w", encoding="utf-8") as f:
            for i, text in enumerate(lines):
                e = t.encode(text)
                f.write(json.dumps({"text": text, "pair": None, "ids": e.ids, "types": e.type_ids,
                                    "places": byte_places(text, e.offsets)}) + "\n")
                if i % 8 == 0:
                    pair = lines[(i * 7 + 3) % len(lines)]
                    e = t.encode(text, pair)
                    f.write(json.dumps({"text": text, "pair": pair, "ids": e.ids, "types": e.type_ids, "places": None}) + "\n")
        print(name, t.get_vocab_size(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
