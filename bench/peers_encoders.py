"""transformers on the CPU, one thread, float32, batches padded to their longest: vectors, predictions, fine-tuning.

    python peers_encoders.py embed|predict|train FOLDER ITEMS   ->  {"processor_seconds": s, "memory": bytes}

The same rows and columns as the tool is given: the column premise, for predictions and training with hypothesis. Vectors are made of
texts sorted by length, as sentence-transformers does it, in batches of 32; predictions in batches of 32, training in batches of 8.
Times are those of the work, without imports and reading weights.
"""
import csv
import json
import resource
import sys

import torch
import transformers


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def batches(rows, n):
    return (rows[i : i + n] for i in range(0, len(rows), n))


def embed(tokenizer, folder, rows):
    model = transformers.AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    start = cpu()
    texts = sorted((r["premise"] for r in rows), key=len, reverse=True)
    with torch.no_grad():
        for batch in batches(texts, 32):
            e = tokenizer(batch, padding=True, truncation=True, return_tensors="pt")
            mask = e["attention_mask"][..., None]
            (model(**e).last_hidden_state * mask).sum(1) / mask.sum(1)
    return cpu() - start


def pairs(tokenizer, batch):
    return tokenizer([r["premise"] for r in batch], [r["hypothesis"] for r in batch], padding=True, truncation=True, return_tensors="pt")


def predict(tokenizer, folder, rows):
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
    start = cpu()
    with torch.no_grad():
        for batch in batches(rows, 32):
            model(**pairs(tokenizer, batch)).logits.softmax(-1)
    return cpu() - start


def train(tokenizer, folder, rows):
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-5, weight_decay=0.01)
    start = cpu()
    for batch in batches(rows, 8):
        loss = torch.nn.functional.cross_entropy(model(**pairs(tokenizer, batch)).logits, torch.tensor([int(r["gold"]) for r in batch]))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
        optimizer.zero_grad()
    return cpu() - start


def main():
    what, folder, items = sys.argv[1:4]
    torch.set_num_threads(1)
    with open(items, newline="") as f:
        rows = list(csv.DictReader(f))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    seconds = {"embed": embed, "predict": predict, "train": train}[what](tokenizer, folder, rows)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"processor_seconds": seconds, "memory": memory}))


if __name__ == "__main__":
    main()
