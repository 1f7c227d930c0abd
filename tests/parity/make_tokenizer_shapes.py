#!/usr/bin/env python3
"""Tokenizers in the shapes of well-known encoders, trained on texts at hand, for tokenizer_parity.py.

    python tests/parity/make_tokenizer_shapes.py FOLDER TEXTS...    ->  FOLDER/{gpt2,roberta,modernbert,xlm-r,deberta-v3}/tokenizer.json

Vocabularies are small; normalisers, pre-tokenisers, special tokens and templates are those of the published tokenizers. The table of
characters of XLM-R and DeBERTa-v3 is sentencepiece's nmt_nfkc. Needs the packages tokenizers and sentencepiece.
"""
import argparse
import csv
import os
import tempfile

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

BYTES = pre_tokenizers.ByteLevel.alphabet()


def fields(raw):
    """Numbers and contents of a protocol buffer's fields."""
    def number(i):
        value = shift = 0
        while True:
            c = raw[i]
            value |= (c & 127) << shift
            i, shift = i + 1, shift + 7
            if c < 128:
                return value, i
    i = 0
    while i < len(raw):
        key, i = number(i)
        kind = key & 7
        if kind == 0:
            value, i = number(i)
        else:
            n, i = (8, i) if kind == 1 else (4, i) if kind == 5 else number(i)
            value, i = raw[i:i + n], i + n
        yield key >> 3, value


def characters(lines):
    """sentencepiece's table nmt_nfkc: ModelProto.normalizer_spec.precompiled_charsmap."""
    with tempfile.TemporaryDirectory() as folder:
        text, model = os.path.join(folder, "t.txt"), os.path.join(folder, "m")
        with open(text, "w") as f:
            f.write("\n".join(lines[:2000]))
        sentencepiece.SentencePieceTrainer.train(input=text, model_prefix=model, vocab_size=300, hard_vocab_limit=False,
                                                 normalization_rule_name="nmt_nfkc", minloglevel=2)
        with open(model + ".model", "rb") as f:
            spec = next(v for n, v in fields(f.read()) if n == 3)
    return next(v for n, v in fields(spec) if n == 2)


def byte_level(lines, special, added=(), normalizer=None):
    t = Tokenizer(models.BPE())
    if normalizer:
        t.normalizer = normalizer
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=8000, special_tokens=special, initial_alphabet=BYTES, show_progress=False))
    t.add_tokens(list(added))
    return t


def gpt2(lines, _):
    t = byte_level(lines, ["<|endoftext|>"])
    t.post_processor = processors.ByteLevel(trim_offsets=False)
    return t


def roberta(lines, _):
    t = byte_level(lines, ["<s>", "<pad>", "</s>", "<unk>"])
    t.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False)
    return t


def modernbert(lines, _):
    spaces = [AddedToken(" " * n, normalized=True) for n in range(24, 1, -1)]
    t = byte_level(lines, ["[UNK]", "[CLS]", "[SEP]", "[PAD]"],
                   [AddedToken("|||IP_ADDRESS|||", normalized=True), AddedToken("<|padding|>", special=True), *spaces], normalizers.NFC())
    t.add_special_tokens([AddedToken("[MASK]", lstrip=True, special=True)])
    t.post_processor = processors.TemplateProcessing(single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:0 [SEP]:0",
                                                     special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    return t


def unigram(lines, special, unknown, normalizer, pre_tokenizer):
    t = Tokenizer(models.Unigram())
    t.normalizer, t.pre_tokenizer, t.decoder = normalizer, pre_tokenizer, decoders.Metaspace()
    t.train_from_iterator(lines, trainers.UnigramTrainer(vocab_size=8000, special_tokens=special, unk_token=unknown, show_progress=False))
    return t


def xlm_r(lines, table):
    t = unigram(lines, ["<s>", "<pad>", "</s>", "<unk>"], "<unk>", normalizers.Sequence([normalizers.Precompiled(table)]),
                pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]))
    t.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    t.post_processor = processors.TemplateProcessing(single="<s>:0 $A:0 </s>:0", pair="<s>:0 $A:0 </s>:0 </s>:0 $B:0 </s>:0",
                                                     special_tokens=[("<s>", 0), ("</s>", 2)])
    return t


def deberta_v3(lines, table):
    t = unigram(lines, ["[PAD]", "[CLS]", "[SEP]", "[UNK]"], "[UNK]",
                normalizers.Sequence([normalizers.Strip(), normalizers.Precompiled(table), normalizers.Replace(Regex(" {2,}"), " ")]),
                pre_tokenizers.Sequence([pre_tokenizers.Metaspace(prepend_scheme="always")]))
    t.add_special_tokens(["[MASK]"])
    t.post_processor = processors.TemplateProcessing(single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
                                                     special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    return t


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("texts", nargs="+", help="CSV files: every field of them")
    args = parser.parse_args()
    lines = []
    for path in args.texts:
        with open(path, newline="", encoding="utf-8") as f:
            lines += [field for row in csv.reader(f) for field in row if " " in field]
    table = characters(lines)
    for name, make in (("gpt2", gpt2), ("roberta", roberta), ("modernbert", modernbert), ("xlm-r", xlm_r), ("deberta-v3", deberta_v3)):
        os.makedirs(os.path.join(args.folder, name), exist_ok=True)
        make(lines, table).save(os.path.join(args.folder, name, "tokenizer.json"))
        print(os.path.join(args.folder, name))


if __name__ == "__main__":
    main()
