#!/usr/bin/env python3
"""Makes tests/parity/fixtures/encoders: tiny random encoders of every family, and what transformers computes with them.

    python tests/parity/make_encoder_fixtures.py tests/parity/fixtures/encoders      (needs torch, transformers, safetensors)

Each folder has config.json and model.safetensors as save_pretrained writes them for a classifier of three classes, and
expected.safetensors: rows of tokens one behind the other (start, length, ids, types), labels, and in float64 with dropout off
the last hidden states (hidden; of one more row: odd_ids, odd_hidden), logits, loss (mean cross-entropy), the gradient of every array (grad.NAME), and the losses of 20
steps of AdamW with linear warm-up and decay and clipping (losses). tests/unit/test_encoder.c reads them.

With a second folder, that of tools/fetch_encoders.sh, real_items.csv and real_NAME.safetensors are made too: what the real encoders
make of some pairs of texts.
"""
import csv
import os
import sys

import torch
import transformers
from safetensors.torch import save_file

SIZES = dict(vocab_size=23, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=12,
             max_position_embeddings=26, hidden_dropout_prob=0., attention_probs_dropout_prob=0.)
FAMILIES = {
    "bert": (transformers.BertConfig, dict(SIZES, layer_norm_eps=1e-4)),
    "bert_relu": (transformers.BertConfig, dict(SIZES, hidden_act="relu", num_hidden_layers=1)),
    "bert_vocabulary": (transformers.BertConfig, dict(SIZES, vocab_size=402, num_hidden_layers=1)),  # of a fixture of tokenizers
    "roberta": (transformers.RobertaConfig, dict(SIZES, type_vocab_size=1, pad_token_id=1)),
    "xlm-roberta": (transformers.XLMRobertaConfig, dict(SIZES, type_vocab_size=1, pad_token_id=1)),
    "distilbert": (transformers.DistilBertConfig, dict(vocab_size=23, dim=8, n_layers=2, n_heads=2, hidden_dim=12, dropout=0.,
                                                       max_position_embeddings=26, attention_dropout=0., seq_classif_dropout=0.)),
    "electra": (transformers.ElectraConfig, dict(SIZES, embedding_size=6)),
    "electra_wide": (transformers.ElectraConfig, dict(SIZES, embedding_size=8, num_hidden_layers=1)),
    "mpnet": (transformers.MPNetConfig, dict(SIZES)),
}
LENGTHS = [5, 1, 22, 3, 9]
STEPS, WARM_UP, RATE, CLIP, DECAY = 20, 4, 1e-2, 1., .01


def batch_of(name, config):
    g = torch.Generator().manual_seed(5)
    ids = [torch.randint(2, 23, (n,), generator=g) for n in LENGTHS]
    types = [torch.arange(n) * 2 // n if name.startswith(("bert", "electra")) else torch.zeros(n, dtype=torch.long) for n in LENGTHS]
    return ids, types


def padded(rows, with_what):
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=with_what)


def make(name, folder):
    kind, options = FAMILIES[name]
    config = kind(**options, num_labels=3)
    config._attn_implementation = "eager"
    torch.manual_seed(len(name))
    model = transformers.AutoModelForSequenceClassification.from_config(config)
    with torch.no_grad():
        for p in model.parameters():  # larger than their starts, so that every part of the computation shows
            p.copy_(torch.randn_like(p) * .4 + (1 if p.dim() == 1 and p.mean() == 1 else 0))
    os.makedirs(folder, exist_ok=True)
    model.save_pretrained(folder)
    model = model.double().eval()
    ids, types = batch_of(name, config)
    labels = torch.tensor([0, 2, 1, 1, 0])
    inputs = dict(input_ids=padded(ids, config.pad_token_id or 0), attention_mask=padded([torch.ones_like(i) for i in ids], 0))
    if name.startswith(("bert", "electra")):
        inputs["token_type_ids"] = padded(types, 0)
    hidden = getattr(model, model.base_model_prefix)(**inputs).last_hidden_state
    out = model(**inputs)
    loss = torch.nn.functional.cross_entropy(out.logits, labels)
    loss.backward()
    tensors = {
        "ids": torch.cat(ids).int(), "types": torch.cat(types).int(), "length": torch.tensor(LENGTHS).int(), "labels": labels.int(),
        "start": (torch.tensor(LENGTHS).cumsum(0) - torch.tensor(LENGTHS)).int(),
        "hidden": torch.cat([hidden[i, :n] for i, n in enumerate(LENGTHS)]).detach(), "logits": out.logits.detach(), "loss": loss.detach(),
    }
    odd = ids[4].clone()
    odd[3] = config.pad_token_id or 0  # padding that a text spells out; it learns nothing there, so no gradients are compared
    tensors["odd_ids"] = odd.int()
    tensors["odd_hidden"] = getattr(model, model.base_model_prefix)(input_ids=odd[None], attention_mask=torch.ones(1, 9)).last_hidden_state[0].detach()
    tensors.update({"grad." + n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None})
    tensors["losses"] = torch.tensor(steps(model, inputs, labels), dtype=torch.float64)
    save_file({n: t.contiguous() for n, t in tensors.items()}, os.path.join(folder, "expected.safetensors"))
    return out.logits


def steps(model, inputs, labels):
    plain = [p for n, p in model.named_parameters() if p.dim() == 1]
    others = [p for n, p in model.named_parameters() if p.dim() > 1]
    optimizer = torch.optim.AdamW([dict(params=others, weight_decay=DECAY), dict(params=plain, weight_decay=0.)], lr=RATE)
    schedule = transformers.get_linear_schedule_with_warmup(optimizer, WARM_UP, STEPS)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(**inputs).logits, labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses


PAIRS = [("A man eats.", "Nobody eats."), ("x", ""), ("", "An empty first text."),
         ("The quick brown fox jumps over the lazy dog, and then it does it again.", "Straße, café and naïve people disagree 🙂"),
         ("word " * 300, "another " * 400)]


def make_real(out, encoders):
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "real_items.csv"), "w", newline="") as f:
        csv.writer(f, lineterminator="\n").writerows([("task", "first", "second"), *((i, *pair) for i, pair in enumerate(PAIRS))])
    for name in ("minilm", "mpnet"):
        tokenizer = transformers.AutoTokenizer.from_pretrained(os.path.join(encoders, name))
        model = transformers.AutoModel.from_pretrained(os.path.join(encoders, name), dtype=torch.float32).eval()
        hidden = []
        for pair in PAIRS:
            with torch.no_grad():
                hidden.append(model(**tokenizer([pair[0]], [pair[1]], return_tensors="pt", truncation=True, max_length=512)).last_hidden_state[0])
        tensors = {"mean": torch.stack([h.mean(0) for h in hidden]), "first": torch.stack([h[0] for h in hidden])}
        save_file(tensors, os.path.join(out, f"real_{name}.safetensors"))


def main():
    if len(sys.argv) > 2:
        make_real(*sys.argv[1:3])
    for name in FAMILIES:
        print(name, make(name, os.path.join(sys.argv[1], name))[0].tolist())


if __name__ == "__main__":
    main()
