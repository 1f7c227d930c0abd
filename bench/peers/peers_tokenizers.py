"""Hugging Face tokenizers: encode_batch of a file's texts on one thread, and tokenizers trained on them.

    python peers_tokenizers.py train KIND TEXTS FOLDER     FOLDER/tokenizer.json, KIND bpe, wordpiece or unigram
    python peers_tokenizers.py encode FOLDER TEXTS REPEATS ->  {"processor_seconds": [...], "tokens": n}

encode truncates at the same length as dissent would: min(model_max_length, positions), none without these files.
"""

import json
import os
import sys
import time

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "parity"))


def texts_of(path):
    with open(path, encoding="utf-8") as f:
        return f.read().split("\n")[:-1]


def train(kind, texts, folder):
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    options = {"vocab_size": 20000, "show_progress": False}
    if kind == "bpe":
        t = Tokenizer(models.BPE())
        t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = trainers.BpeTrainer(
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<s>", "</s>"], **options
        )
    elif kind == "wordpiece":
        t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        t.normalizer, t.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(special_tokens=["[UNK]", "<s>", "</s>"], **options)
    else:
        t = Tokenizer(models.Unigram())
        t.normalizer, t.pre_tokenizer = normalizers.NFKC(), pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(special_tokens=["<unk>", "<s>", "</s>"], unk_token="<unk>", **options)
    t.train_from_iterator(texts_of(texts), trainer)
    t.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> $B </s>",
        special_tokens=[(n, t.token_to_id(n)) for n in ("<s>", "</s>")],
    )
    os.makedirs(folder, exist_ok=True)
    t.save(os.path.join(folder, "tokenizer.json"))
    print(json.dumps({"ids": t.get_vocab_size()}))


def encode(folder, texts, repeats):
    import tokenizer_parity

    t, lines = tokenizer_parity.reference_of(folder), texts_of(texts)
    if os.path.exists(os.path.join(folder, "config.json")):
        t.enable_truncation(512)
    seconds = []
    for _ in range(int(repeats)):
        start = time.process_time()
        out = t.encode_batch(lines)
        seconds.append(time.process_time() - start)
        tokens = sum(len(e.ids) for e in out)
        del out
    print(json.dumps({"processor_seconds": seconds, "tokens": tokens, "texts": len(lines)}))


if __name__ == "__main__":
    {"train": train, "encode": encode}[sys.argv[1]](*sys.argv[2:])
