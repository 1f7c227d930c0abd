#!/usr/bin/env python3
"""From transformers to dissent and back: does every family come back as it was trained?

    python tests/parity/export_parity.py build/dissent [FOLDER...]     (needs torch, transformers, tokenizers)

For a tiny random encoder of each family, with a tokenizer trained here, and for each FOLDER with a real one: save_pretrained, vectors
by `dissent embed` against transformers, a few steps of `dissent train --model encoder`, `dissent predict`, `dissent model --export`,
and the probabilities that AutoModelForSequenceClassification gives from that folder, in float32; then the same as multiple choice, the
second text against that of the next item (`encoder:choices=2`, AutoModelForMultipleChoice). Exits 1 at a difference above 1e-4.
"""
import csv
import os
import subprocess
import sys
import tempfile

import numpy
import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

TEXTS = [("A man eats an apple.", "Somebody eats."), ("Two dogs run in the snow", "The dogs are asleep"), ("No!", "Yes, of course; it is."),
         ("The church choir sings to the masses.", "A choir sings"), ("She reads a book in the garden", "Nobody reads"),
         ("Children play football near the river", "Kids are playing outside")] * 4
SIZES = dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40, max_position_embeddings=80)
BERT_TOKENS, ROBERTA_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def word_piece(lines):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer, t.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    t.train_from_iterator(lines, trainers.WordPieceTrainer(vocab_size=300, special_tokens=BERT_TOKENS, show_progress=False))
    t.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return t, dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), BERT_TOKENS))


def byte_level(lines):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=400, special_tokens=ROBERTA_TOKENS, show_progress=False,
                                                     initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    return t, dict(zip(("bos_token", "pad_token", "eos_token", "unk_token", "mask_token"), ROBERTA_TOKENS), cls_token="<s>", sep_token="</s>")


def unigram(lines):
    t = Tokenizer(models.Unigram())
    t.normalizer, t.pre_tokenizer = normalizers.NFKC(), pre_tokenizers.Metaspace()
    t.train_from_iterator(lines, trainers.UnigramTrainer(vocab_size=300, special_tokens=ROBERTA_TOKENS, unk_token="<unk>", show_progress=False))
    t.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return t, dict(zip(("bos_token", "pad_token", "eos_token", "unk_token", "mask_token"), ROBERTA_TOKENS), cls_token="<s>", sep_token="</s>")


FAMILIES = {
    "bert": (transformers.BertConfig, word_piece, SIZES),
    "roberta": (transformers.RobertaConfig, byte_level, dict(SIZES, type_vocab_size=1, pad_token_id=1)),
    "xlm-roberta": (transformers.XLMRobertaConfig, unigram, dict(SIZES, type_vocab_size=1, pad_token_id=1)),
    "distilbert": (transformers.DistilBertConfig, word_piece, dict(dim=24, n_layers=2, n_heads=3, hidden_dim=40, max_position_embeddings=80)),
    "electra": (transformers.ElectraConfig, word_piece, dict(SIZES, embedding_size=16)),
    "mpnet": (transformers.MPNetConfig, byte_level, SIZES),
}


def make(name, folder):
    config_class, tokenizer_of, sizes = FAMILIES[name]
    t, words = tokenizer_of([x for pair in TEXTS for x in pair])
    torch.manual_seed(1)
    config = config_class(vocab_size=t.get_vocab_size(), **sizes)
    transformers.AutoModel.from_config(config).save_pretrained(folder)
    transformers.PreTrainedTokenizerFast(tokenizer_object=t, model_max_length=64, **words).save_pretrained(folder)


def tool(path, *command):
    done = subprocess.run([path, *command, "-q", "--threads", "1"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"dissent {' '.join(command)}: {done.stderr.strip()}")


def inputs(tokenizer, model, pairs):
    e = tokenizer([a for a, _ in pairs], [b for _, b in pairs], padding=True, truncation=True, return_token_type_ids=True, return_tensors="pt")
    if getattr(model.config, "type_vocab_size", 1) < 2:
        e.pop("token_type_ids", None)
    return e


def worst_of(name, what, ours, theirs):
    worst = float(numpy.abs(ours - theirs).max())
    print(f"{name}: {what} differ by at most {worst:.2g}", flush=True)
    if not worst < 1e-4:
        sys.exit(1)


def probabilities(file):
    with open(file, newline="") as f:
        rows = list(csv.DictReader(f))
    classes = [k[2:] for k in rows[0] if k.startswith("p:")]
    return classes, numpy.array([[float(r["p:" + c]) for c in classes] for r in rows])


def check_choices(path, name, folder, work):
    at = lambda file: os.path.join(work, file)
    others = TEXTS[1:] + TEXTS[:1]
    rows = [(i, a, *((b, c) if i % 2 else (c, b))) for i, ((a, b), (_, c)) in enumerate(zip(TEXTS, others))]
    with open(at("stories.csv"), "w", newline="") as f:
        csv.writer(f).writerows([("task", "story", "one", "two"), *rows])
    with open(at("right.csv"), "w", newline="") as f:
        csv.writer(f).writerows([("task", "label"), *((i, 1 if i % 2 else 2) for i in range(len(TEXTS)))])
    items = ("--items", at("stories.csv"), "--text", "story", "--text", "one", "--text", "two")
    tool(path, "train", "--model", "encoder:choices=2", "--encoder", folder, *items, "--gold", at("right.csv"), "--objective", "gold",
         "--epochs", "1", "--batch", "8", "--rate", "1e-3", "-o", at("chooser"))
    tool(path, "predict", at("chooser"), *items, "-o", at("q.csv"))
    tool(path, "model", at("chooser"), "--export", at("choices"))
    _, ours = probabilities(at("q.csv"))
    tokenizer = transformers.AutoTokenizer.from_pretrained(at("choices"))
    model = transformers.AutoModelForMultipleChoice.from_pretrained(at("choices"), dtype=torch.float32).eval()
    pairs = [(r[1], x) for r in rows for x in r[2:]]
    with torch.no_grad():
        e = {k: v.view(len(rows), 2, -1) for k, v in inputs(tokenizer, model, pairs).items()}
        worst_of(name, "probabilities of choices after training and export", ours, model(**e).logits.softmax(-1).numpy())


def check(path, name, folder, work):
    at = lambda file: os.path.join(work, file)
    with open(at("items.csv"), "w", newline="") as f:
        csv.writer(f).writerows([("task", "premise", "hypothesis"), *((i, a, b) for i, (a, b) in enumerate(TEXTS))])
    with open(at("gold.csv"), "w", newline="") as f:
        csv.writer(f).writerows([("task", "label"), *((i, "nec"[i % 3]) for i in range(len(TEXTS)))])
    items = ("--items", at("items.csv"), "--text", "premise", "--text", "hypothesis")
    tokenizer, model = transformers.AutoTokenizer.from_pretrained(folder), transformers.AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.no_grad():
        e = inputs(tokenizer, model, TEXTS)
        mask = e["attention_mask"][..., None]
        theirs = ((model(**e).last_hidden_state * mask).sum(1) / mask.sum(1)).numpy()
    tool(path, "embed", "--encoder", folder, *items, "-o", at("x.npy"))
    worst_of(name, "vectors", numpy.load(at("x.npy")), theirs)
    tool(path, "train", "--model", "encoder", "--encoder", folder, *items, "--gold", at("gold.csv"), "--objective", "gold", "--epochs", "1",
         "--batch", "8", "--rate", "1e-3", "-o", at("model"))
    tool(path, "predict", at("model"), *items, "-o", at("p.csv"))
    tool(path, "model", at("model"), "--export", at("exported"))
    classes, ours = probabilities(at("p.csv"))
    tokenizer = transformers.AutoTokenizer.from_pretrained(at("exported"))
    model = transformers.AutoModelForSequenceClassification.from_pretrained(at("exported"), dtype=torch.float32).eval()
    with torch.no_grad():
        theirs = model(**inputs(tokenizer, model, TEXTS)).logits.softmax(-1).numpy()
    order = [model.config.label2id[c] for c in classes]
    worst_of(name, "probabilities after training and export", ours, theirs[:, order])
    check_choices(path, name, folder, work)


def main():
    torch.set_num_threads(1)
    path = os.path.abspath(sys.argv[1])
    for name in FAMILIES:
        with tempfile.TemporaryDirectory() as work:
            make(name, os.path.join(work, "encoder"))
            check(path, name, os.path.join(work, "encoder"), work)
    for folder in sys.argv[2:]:
        with tempfile.TemporaryDirectory() as work:
            check(path, os.path.basename(folder.rstrip("/")), folder, work)


if __name__ == "__main__":
    main()
