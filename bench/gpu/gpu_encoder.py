"""Steps of roberta-base's size with PyTorch on a GPU: what bench/gpu/gpu_encoder.c is compared with.

    python gpu_encoder.py ROWS LENGTH [predict]   ->  a line per way: eager, compiled, replayed as a CUDA graph
    python gpu_encoder.py texts BATCHES predict|embed [mpnet] [bf16]

Random weights, bf16 autocast, fused AdamW, gradients clipped to 1, dropout .1, scaled_dot_product_attention. Medians of
7 groups (or GROUPS) of 20 steps with one wait each. All ways get ready first, each in 90 seconds, or as many as SECONDS
says (compiling may take longer), then they are timed: LOCK names a file that is locked meanwhile, so that several of
these programs can compile side by side. `texts` are those of gpu_encoder.c, 8 to 64 tokens long, 233,000 of them sorted
by length and cut into batches of at most 65,536 tokens with padding, each padded to its longest; a step is a pass over
BATCHES of these, from all lengths, told per 65,536 tokens without padding; all batches share one compiled function,
whose sizes are symbols, and have a graph each. `bf16`: weights and values are bfloat16 throughout, where autocast keeps
some float32. `fine-tune FOLDER ITEMS` instead trains a sequence classifier on the pairs of a CSV file as users do,
eager and padded to the batch of 8, and prints the seconds per epoch.
"""

import csv
import os
import signal
import sys
import time

import torch
import transformers

from gpu_timing import alone, give_up, recorded, timed

GROUP, GROUPS = 20, int(os.environ.get("GROUPS", 7))


def model_of(train):
    config = transformers.RobertaConfig(
        vocab_size=50265, max_position_embeddings=514, type_vocab_size=1, num_labels=3, layer_norm_eps=1e-5
    )
    model = transformers.RobertaForSequenceClassification(config).cuda()
    return model.train() if train else model.eval()


def encoder_of(kind, embed, all_bf16):
    """MPNet or RoBERTa of the same size, with a classifier or bare."""
    sizes = {"vocab_size": 50265, "max_position_embeddings": 514, "layer_norm_eps": 1e-5}
    if kind == "mpnet":
        config = transformers.MPNetConfig(**sizes, num_labels=3)
        model = (
            transformers.MPNetModel(config, add_pooling_layer=False)
            if embed
            else transformers.MPNetForSequenceClassification(config)
        )
    else:
        config = transformers.RobertaConfig(**sizes, type_vocab_size=1, num_labels=3)
        model = (
            transformers.RobertaModel(config, add_pooling_layer=False)
            if embed
            else transformers.RobertaForSequenceClassification(config)
        )
    model = model.cuda().eval()
    return model.bfloat16() if all_bf16 else model


TOKENS, SHORTEST, LONGEST, POOL = 1 << 16, 8, 64, 128


def short_texts(n_batches):
    """Padded batches of ids and masks, and the number of tokens in them: some of POOL batches, from all lengths."""
    n = POOL * TOKENS // ((SHORTEST + LONGEST) // 2)
    lengths = sorted(
        (SHORTEST + (((t + 1) * 2654435761 & 0xFFFFFFFF) >> 8) % (LONGEST - SHORTEST + 1) for t in range(n)),
        reverse=True,
    )
    cut, at = [], 0
    while at < n:
        cut.append(lengths[at : at + TOKENS // lengths[at]])
        at += len(cut[-1])
    cut = [cut[(2 * i + 1) * len(cut) // (2 * n_batches)] for i in range(n_batches)]
    batches = []
    for rows in cut:
        length = torch.tensor(rows, device="cuda")[:, None]
        mask = (torch.arange(rows[0], device="cuda")[None, :] < length).long()
        ids = torch.randint(4, 50000, mask.shape, device="cuda") * mask + (1 - mask)  # 1: padding
        batches.append((ids, mask))
    return batches, sum(map(sum, cut))


def predictions(n_batches, embed, kind, all_bf16):
    signal.signal(signal.SIGALRM, give_up)
    batches, tokens = short_texts(n_batches)
    model = encoder_of(kind, embed, all_bf16)

    def forward(ids, mask):
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=not all_bf16):
            if not embed:
                return model(input_ids=ids, attention_mask=mask).logits.softmax(-1)
            hidden, counts = model(input_ids=ids, attention_mask=mask).last_hidden_state, mask[:, :, None]
            return (hidden * counts).sum(1) / counts.sum(1)

    compiled = torch.compile(forward, dynamic=True)

    def over(steps):
        def all_batches():
            with torch.no_grad():
                for step in steps:
                    step()

        return all_batches

    def bound(run):
        return [lambda b=b: run(*b) for b in batches]

    pool = torch.cuda.graph_pool_handle()
    ways = {
        "eager": lambda: over(bound(forward)),
        "compiled": lambda: over(bound(compiled)),
        "compiled, graph": lambda: over([recorded(torch.no_grad()(step), pool) for step in bound(compiled)]),
    }
    padded = sum(ids.numel() for ids, _ in batches)
    name = f"{kind} {'embed' if embed else 'predict'}{' bf16' if all_bf16 else ''}"
    what = f"{name}, {len(batches)} batches, {padded / tokens - 1:.1%} padding"
    time_ways(ways, what, tokens / TOKENS, 2, 2)


def time_ways(ways, what, per, group, before=8):
    ready = {}
    for way, make in ways.items():
        signal.alarm(int(os.environ.get("SECONDS", 90)))
        try:
            ready[way] = make()
            ready[way]()
            torch.cuda.synchronize()
        except Exception as error:  # one way that fails leaves the others
            ready[way] = (str(error) or type(error).__name__).splitlines()[0][:120]
        finally:
            signal.alarm(0)
    with alone():
        for way, step in ready.items():
            result_text = step if isinstance(step, str) else f"{timed(step, GROUPS, group, before) / per:.3f} ms"
            print(f"PyTorch {torch.__version__} {way}, {what}: {result_text}", flush=True)


def steps(rows, length, predict):
    torch.backends.cuda.matmul.allow_tf32 = True
    signal.signal(signal.SIGALRM, give_up)
    ids = torch.randint(4, 50000, (rows, length), device="cuda")
    mask = torch.ones_like(ids)
    labels = torch.randint(0, 3, (rows,), device="cuda")
    model = model_of(not predict)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, weight_decay=0.01, fused=True, capturable=True)

    def loss_of():
        with torch.autocast("cuda", dtype=torch.bfloat16):
            return model(input_ids=ids, attention_mask=mask, labels=labels).loss

    def stepper(forward):
        def step():
            if predict:
                with torch.no_grad():
                    return forward()
            forward().backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)

        return step

    eager, compiled = stepper(loss_of), stepper(torch.compile(loss_of, dynamic=False))
    ways = {"eager": lambda: eager, "compiled": lambda: compiled, "compiled, graph": lambda: recorded(compiled)}
    time_ways(ways, f"{rows} x {length}{' forward' if predict else ''}", 1, GROUP)


def fine_tune(folder, items):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, num_labels=2).cuda().train()
    rows = list(csv.DictReader(open(items, encoding="utf-8")))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5, weight_decay=0.01)
    for epoch in range(3):
        start = time.perf_counter()
        for i in range(0, len(rows), 8):
            batch = rows[i : i + 8]
            e = tokenizer(
                [r["premise"] for r in batch],
                [r["hypothesis"] for r in batch],
                padding=True,
                truncation=True,
                return_tensors="pt",
            ).to("cuda")
            gold = torch.tensor([int(r["gold"]) for r in batch], device="cuda")
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = torch.nn.functional.cross_entropy(model(**e).logits, gold)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1)
            optimizer.step()
            optimizer.zero_grad()
        torch.cuda.synchronize()
        print(
            f"PyTorch eager, padded to the batch, epoch {epoch + 1} of {len(rows)} pairs: "
            f"{time.perf_counter() - start:.3f} s",
            flush=True,
        )


if sys.argv[1] == "fine-tune":
    fine_tune(sys.argv[2], sys.argv[3])
elif sys.argv[1] == "texts":
    predictions(
        int(sys.argv[2]), "embed" in sys.argv, "mpnet" if "mpnet" in sys.argv else "roberta", "bf16" in sys.argv
    )
else:
    steps(int(sys.argv[1]), int(sys.argv[2]), "predict" in sys.argv)
