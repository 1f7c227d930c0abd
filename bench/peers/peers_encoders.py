"""sentence-transformers and transformers on the CPU, one thread, float32, batches padded to their longest.

    python peers_encoders.py embed|predict|train|peak FOLDER ITEMS
        ->  {"processor_seconds": s, "memory": bytes, "operations": n}

The same rows and columns as the tool is given: the column premise, for predictions and training with hypothesis. embed
is sentence-transformers, which sorts texts by length, in batches of 32; predictions in batches of 32, training in
batches of 8. Times are those of the work, without imports and reading weights. operations: what the layers' products
need for the tokens, without padding. later_seconds: of training, without the first batch. peak: the operations per
second of torch.mm, square, float32 and bfloat16, best of several.
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


def operations(model, lengths):
    """Multiplications and additions of a forward pass over texts of these lengths."""
    config = model.config
    matrices = sum(p.numel() for n, p in model.named_parameters() if p.dim() == 2 and ".layer." in n)
    return sum(2 * matrices * n + 4 * config.num_hidden_layers * config.hidden_size * n * n for n in lengths)


def embed(folder, rows):
    import sentence_transformers

    model = sentence_transformers.SentenceTransformer(folder, device="cpu")
    texts = [r["premise"] for r in rows]
    start = cpu()
    model.encode(texts, batch_size=32, show_progress_bar=False)
    seconds = cpu() - start
    inner = model[0].auto_model
    return seconds, operations(inner, [len(x) for x in model.tokenizer(texts)["input_ids"]])


def pairs(tokenizer, batch):
    return tokenizer(
        [r["premise"] for r in batch],
        [r["hypothesis"] for r in batch],
        padding=True,
        truncation=True,
        return_tensors="pt",
    )


def classifier(folder, rows):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32)
    return (
        tokenizer,
        model,
        operations(
            model,
            [len(x) for x in tokenizer([r["premise"] for r in rows], [r["hypothesis"] for r in rows])["input_ids"]],
        ),
    )


def predict(folder, rows):
    tokenizer, model, n = classifier(folder, rows)
    model.eval()
    start = cpu()
    with torch.no_grad():
        for batch in batches(rows, 32):
            model(**pairs(tokenizer, batch)).logits.softmax(-1)
    return cpu() - start, n


def train(folder, rows):
    tokenizer, model, n = classifier(folder, rows)
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-5, weight_decay=0.01)
    start = first = cpu()
    for batch in batches(rows, 8):
        loss = torch.nn.functional.cross_entropy(
            model(**pairs(tokenizer, batch)).logits, torch.tensor([int(r["gold"]) for r in batch])
        )
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
        optimizer.zero_grad()
        first = cpu() if first == start else first
    return cpu() - start, 3 * n, cpu() - first


def peak():
    out, n = {}, 1536
    for name, dtype in (("float32", torch.float32), ("bf16", torch.bfloat16)):
        a, b, best = torch.randn(n, n).to(dtype), torch.randn(n, n).to(dtype), 0
        for _ in range(7):
            start = cpu()
            torch.mm(a, b)
            best = max(best, 2 * n**3 / max(cpu() - start, 1e-9))
        out[name] = best
    return out


def main():
    what, folder, items = sys.argv[1:4]
    torch.set_num_threads(1)
    if what == "peak":
        print(json.dumps(peak()))
        return
    with open(items, newline="") as f:
        rows = list(csv.DictReader(f))
    seconds, n, *later = {"embed": embed, "predict": predict, "train": train}[what](folder, rows)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(
        json.dumps(
            {
                "processor_seconds": seconds,
                "memory": memory,
                "operations": n,
                "later_seconds": later[0] if later else None,
            }
        )
    )


if __name__ == "__main__":
    main()
