#!/usr/bin/env python3
"""Makes tests/parity/fixtures/encoders/bert_training: a tiny BERT with a tokenizer, and 20 steps of fine-tuning by PyTorch.

    python tests/parity/make_encoder_training_fixtures.py tests/parity/fixtures/encoders      (needs torch, transformers, safetensors)

config.json and model.safetensors are as save_pretrained writes them, tokenizer.json is that of bert_vocabulary beside it.
training.safetensors has the classifier's start (out.weight, out.bias), labels, and for each case of CASES the losses of 20 steps
(CASE/losses) in float64 with dropout off: AdamW, linear warm-up and decay, clipping. LoRA is written by hand: its starts lie under
CASE/start.NAME, what it has become under CASE/end.NAME, and CASE/logits are those of the model with B A added to its matrices.
The case choices is BertForMultipleChoice on CHOICES: two texts that are shared, joined by a space, and three answers; its classifier's
start lies under choices/start.out.weight and .bias. tests/unit/test_encoder_training.c reads them.
"""
import os
import shutil
import sys

import torch
import transformers
from safetensors.torch import save_file

TEXTS = [("the red apple", "a man"), ("green pears and plums", ""), ("one", "two three four"), ("nothing at all", "everything"),
         ("blue, blue and blue!", "red"), ("a man eats a pear", "nobody eats")]
LABELS = [0, 2, 1, 1, 0, 2]
STEPS, WARM_UP, RATE, CLIP, DECAY = 20, 4, 1e-2, 1., .01
CASES = {
    "whole": dict(),
    "frozen": dict(frozen=1),
    "embeddings": dict(frozen=0),
    "decayed": dict(layer_decay=.7),
    "lora": dict(rank=2, alpha=3., targets=("query", "value")),
    "lora-all": dict(rank=3, alpha=3., targets=("query", "key", "value", "attention.output.dense", "intermediate.dense", "output.dense")),
    "lora-frozen": dict(rank=2, alpha=8., targets=("query", "value"), frozen=1, layer_decay=.5),
}
CHOICES = [("it is red", "the red apple", "a man", "two", "apple"), ("so", "green pears and plums", "", "red", "pears and plums"),
           ("what?", "one", "two three four", "three", "four"), ("", "nothing at all", "everything", "at all", "blue"),
           ("all", "blue, blue and blue!", "red", "a man eats", "blue"), ("who", "a man eats a pear", "nobody eats", "one", "nothing")]
NAMES = {"query": "qkv", "key": "qkv", "value": "qkv", "attention.output.dense": "proj", "intermediate.dense": "up", "output.dense": "down"}


class Lora(torch.nn.Module):
    def __init__(self, base, rank, alpha, generator):
        super().__init__()
        self.base, self.scale = base, alpha / rank
        self.a = torch.nn.Parameter(torch.randn(rank, base.in_features, dtype=torch.float64, generator=generator) * .3)
        self.b = torch.nn.Parameter(torch.zeros(base.out_features, rank, dtype=torch.float64))

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.a.T) @ self.b.T


def layer_of(name):
    """0: embeddings, then the layers; behind them what stands on top."""
    if name.startswith("bert.encoder.layer."):
        return 1 + int(name.split(".")[3])
    return 0 if name.startswith("bert.embeddings.") else None


def parts_of(model, case):
    """(layer, target, module) that LoRA is for."""
    found = []
    for l, layer in enumerate(model.bert.encoder.layer):
        for target in case.get("targets", ()):
            if l >= case.get("frozen", 0):
                inside = target if "." in target else "attention.self." + target
                found.append((l, target, inside, layer))
    return found


def run(folder, case, inputs, labels, start, kind=transformers.BertForSequenceClassification):
    more = dict(num_labels=3) if kind is transformers.BertForSequenceClassification else {}
    model = kind.from_pretrained(folder, attn_implementation="eager", ignore_mismatched_sizes=True, **more).double().eval()
    with torch.no_grad():
        model.classifier.weight.copy_(start["out.weight"])
        model.classifier.bias.copy_(start["out.bias"])
    tensors, lora, generator = {}, {}, torch.Generator().manual_seed(11)
    for n, p in model.named_parameters():
        layer = layer_of(n)
        p.requires_grad = layer is None or not (case.get("rank") or layer <= case.get("frozen", -1))
    for l, target, inside, layer in parts_of(model, case):
        parent, child = inside.rsplit(".", 1)
        lora_layer = Lora(layer.get_submodule(inside), case["rank"], case["alpha"], generator)
        setattr(layer.get_submodule(parent) if parent else layer, child, lora_layer)
        lora.setdefault(f"lora.layer.{l}.{NAMES[target]}", []).append(lora_layer)
    for name, parts in lora.items():
        tensors["start." + name + ".a"] = torch.cat([p.a for p in parts]).detach().clone()
    n_layers, groups = len(model.bert.encoder.layer), []
    for n, p in model.named_parameters():
        if p.requires_grad:
            layer = layer_of(n)
            rate = RATE * (1 if layer is None else case.get("layer_decay", 1) ** (n_layers + 1 - layer))
            groups.append(dict(params=[p], lr=rate, weight_decay=DECAY if p.dim() > 1 else 0.))
    optimizer = torch.optim.AdamW(groups)
    schedule = transformers.get_linear_schedule_with_warmup(optimizer, WARM_UP, STEPS)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(**inputs).logits, labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_([p for p in model.parameters() if p.requires_grad], CLIP)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    tensors["losses"] = torch.tensor(losses, dtype=torch.float64)
    for name, parts in lora.items():
        tensors["end." + name + ".a"] = torch.cat([p.a for p in parts]).detach()
        tensors["end." + name + ".b"] = torch.cat([p.b for p in parts]).detach()
    with torch.no_grad():
        for parts in lora.values():
            for p in parts:
                p.base.weight += p.scale * p.b @ p.a
                p.b.zero_()
        tensors["logits"] = model(**inputs).logits
    return tensors


def main():
    folder = os.path.join(sys.argv[1], "bert_training")
    config = transformers.BertConfig(vocab_size=402, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=12,
                                     max_position_embeddings=26, hidden_dropout_prob=0., attention_probs_dropout_prob=0., num_labels=3)
    torch.manual_seed(3)
    model = transformers.BertForSequenceClassification(config)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn_like(p) * .4 + (1 if p.dim() == 1 and p.mean() == 1 else 0))
    os.makedirs(folder, exist_ok=True)
    model.save_pretrained(folder)
    shutil.copy(os.path.join(sys.argv[1], "bert_vocabulary", "tokenizer.json"), folder)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=os.path.join(folder, "tokenizer.json"), pad_token="[PAD]")
    inputs = tokenizer([t[0] for t in TEXTS], [t[1] for t in TEXTS], padding=True, return_tensors="pt", return_token_type_ids=True)
    tensors = {"out.weight": torch.randn(3, 8).double(), "out.bias": torch.randn(3).double()}
    labels = torch.tensor(LABELS)
    for name, case in CASES.items():
        result = run(folder, case, dict(inputs), labels, tensors)
        print(name, result["losses"][[0, -1]].tolist())
        tensors.update({f"{name}/{n}": t.contiguous() for n, t in result.items()})
    shared = [" ".join(c[:2]) for c in CHOICES for _ in range(3)]
    inputs = tokenizer(shared, [a for c in CHOICES for a in c[2:]], truncation=True, max_length=26, padding=True, return_tensors="pt", return_token_type_ids=True)
    inputs = {name: t.view(len(CHOICES), 3, -1) for name, t in inputs.items()}
    start = {"out.weight": torch.randn(1, 8).double(), "out.bias": torch.randn(1).double()}
    result = run(folder, {}, inputs, labels, start, transformers.BertForMultipleChoice)
    print("choices", result["losses"][[0, -1]].tolist())
    tensors.update({f"choices/{n}": t.contiguous() for n, t in result.items()} | {f"choices/start.{n}": t for n, t in start.items()})
    tensors["labels"] = labels.int()
    save_file(tensors, os.path.join(folder, "training.safetensors"))


if __name__ == "__main__":
    main()
