"""Steps of training on one GPU: ours (bench/gpu/gpu_nets.c) beside PyTorch, the same nets, batches and optimisers.

    gpu_nets.py PROGRAM [resnet34:128 resnet34:512 tagger:1024 ...]

PyTorch runs with bfloat16 autocast: eager; compiled (torch.compile); and as a CUDA graph of the compiled step. Medians
of rounds of ten steps, by the clock, behind a synchronisation. A line per figure as soon as it is had, with the seconds
that it took to get ready (compiling a ResNet takes PyTorch most of a minute); one line of JSON per row, and a table at
the end: milliseconds of a step. Each of PyTorch's ways has 90 seconds to get ready, or as many as SECONDS says: what
takes longer is left out by name. LOCK names a file that is locked while steps are timed, so that several of these
programs can compile side by side. STEPS: of ours, 200 by default."""

import json
import os
import signal
import subprocess
import sys
import time

import torch
from torch import nn

from gpu_timing import alone, give_up, recorded, timed

torch.set_float32_matmul_precision("high")
torch.backends.cudnn.benchmark = True
ROUNDS, ROUND = int(os.environ.get("ROUNDS", 12)), 10


class Block(nn.Module):
    def __init__(self, n_in, out, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(n_in, out, 3, stride, 1, bias=False),
            nn.BatchNorm2d(out),
            nn.ReLU(inplace=True),
            nn.Conv2d(out, out, 3, 1, 1, bias=False),
            nn.BatchNorm2d(out),
        )
        self.short = (
            nn.Identity()
            if n_in == out and stride == 1
            else nn.Sequential(nn.Conv2d(n_in, out, 1, stride, bias=False), nn.BatchNorm2d(out))
        )

    def forward(self, x):
        return torch.relu(self.body(x) + self.short(x))


def resnet34(batch):
    layers, width = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True)], 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for i in range(blocks):
            layers.append(Block(width, 64 << stage, 2 if stage and i == 0 else 1))
            width = 64 << stage
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10)).cuda()
    net = net.to(memory_format=torch.channels_last)
    x = torch.randn(batch, 3, 32, 32, device="cuda").to(memory_format=torch.channels_last)
    y = torch.randint(10, (batch,), device="cuda")
    optimizer = torch.optim.SGD(net.parameters(), 1e-4, 0.9, weight_decay=1e-4, fused=True)
    return net, lambda: nn.functional.cross_entropy(net(x).float(), y), optimizer


class Tagger(nn.Module):
    """The tagger of multi-task learning: sentences once, each distinct word spelt once."""

    def __init__(self):
        super().__init__()
        self.words, self.letters = nn.Embedding(10000, 300), nn.Embedding(80, 100)
        self.context = nn.LSTM(300, 256, batch_first=True, bidirectional=True)
        self.spelling = nn.LSTM(100, 256, batch_first=True, bidirectional=True)
        self.trunk = self.encoder()
        self.heads = nn.ModuleList(
            nn.Sequential(self.encoder(), nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 12)) for _ in range(2)
        )

    @staticmethod
    def encoder():
        return nn.TransformerEncoder(
            nn.TransformerEncoderLayer(1024, 2, 2048, 0.1, batch_first=True, norm_first=True),
            2,
            enable_nested_tensor=False,
        )

    def forward(self, ids, place, letters, last, word):
        x = self.context(self.words(ids))[0].reshape(-1, 512)[place]
        spelt = self.spelling(self.letters(letters))[0]
        ends = torch.cat([spelt[torch.arange(len(last), device=last.device), last, :256], spelt[:, 0, 256:]], 1)[word]
        both = self.trunk(torch.cat([x, ends], 1).unsqueeze(1))
        return [head(both).squeeze(1) for head in self.heads]


def tagger(tokens):
    net = Tagger().cuda()
    g = torch.Generator().manual_seed(1)
    lengths = []
    while sum(lengths) < tokens:
        n = 4 + int(torch.randint(20, (1,), generator=g)) + 16 * int(torch.randint(8, (1,), generator=g) == 0)
        lengths.append(min(n, tokens - sum(lengths)))
    longest, distinct = max(lengths), tokens * 6 // 10
    place = torch.tensor([i * longest + j for i, n in enumerate(lengths) for j in range(n)]).cuda()
    ids = torch.randint(10000, (len(lengths), longest), generator=g).cuda()
    letters = torch.randint(80, (distinct, 15), generator=g).cuda()
    last = torch.randint(1, 15, (distinct,), generator=g).cuda()
    word = torch.randint(distinct, (tokens,), generator=g).cuda()
    y = torch.randint(12, (2, tokens), generator=g).cuda()

    def loss():
        gold, soft = net(ids, place, letters, last, word)
        return nn.functional.cross_entropy(gold.float(), y[0]) + nn.functional.cross_entropy(soft.float(), y[1])

    return net, loss, torch.optim.Adam(net.parameters(), 1e-3, fused=True, capturable=True)


MODELS = {"resnet34": resnet34, "tagger": tagger}


def stepper(loss, optimizer):
    def step():
        optimizer.zero_grad(set_to_none=False)
        with torch.autocast("cuda", torch.bfloat16):
            value = loss()
        value.backward()
        optimizer.step()

    return step


def prepared(name, size):
    """Each way's step, or why there is none, and the seconds that it took to get ready."""
    steps = {}
    signal.signal(signal.SIGALRM, give_up)
    torch.manual_seed(0)
    _, loss, optimizer = MODELS[name](size)
    compiled = stepper(torch.compile(loss), optimizer)  # once for both
    for way in ("eager", "compiled", "graph"):
        signal.alarm(int(os.environ.get("SECONDS", 90)))
        begun = time.perf_counter()
        try:
            step = stepper(loss, optimizer) if way == "eager" else compiled
            step()
            if way == "graph":
                step = recorded(step)
            torch.cuda.synchronize()
        except Exception as error:  # one way that fails leaves the others
            step = (str(error) or type(error).__name__).splitlines()[0][:120]
        finally:
            signal.alarm(0)
        steps[way] = step, time.perf_counter() - begun
    return steps


def torch_times(name, size, steps):
    times = {}
    for way, (step, ready) in steps.items():
        if isinstance(step, str):
            times[way + "_failed"] = step
            print(f"{name}:{size} PyTorch {way}: {step}", flush=True)
        else:
            times[way] = timed(step, ROUNDS, ROUND)
            print(f"{name}:{size} PyTorch {way}: {times[way]:.3f} ms, ready after {ready:.1f} s", flush=True)
    return times


def main(program, rows):
    table = []
    for row in rows:
        name, size = row.split(":")
        command = [program, "cuda:0", name, size, os.environ.get("STEPS", "200")]
        steps = prepared(name, int(size))
        with alone():
            ours = [
                json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(2)
            ]
            print(f"{row} ours: {min(o['same'] for o in ours):.3f} ms", flush=True)
            theirs = torch_times(name, int(size), steps)
        line = {
            "row": row,
            "same": min(o["same"] for o in ours),
            "fed": min(o["fed"] for o in ours),
            "taken": min(o["taken"] for o in ours),
            "fresh": min(o["fresh"] for o in ours),
            "repeats": ours[0]["checksum"] == ours[1]["checksum"],
            **theirs,
        }
        print(json.dumps(line), flush=True)
        table.append(line)
    print("%-14s %8s %8s %8s %8s %8s" % ("row", "ours", "fed", "eager", "compiled", "graph"))
    for line in table:
        print(
            "%-14s %8.3f %8.3f" % (line["row"], line["same"], line["fed"]),
            *("%8.3f" % line[w] if w in line else "       -" for w in ("eager", "compiled", "graph")),
        )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:] or ["resnet34:128", "resnet34:512", "tagger:1024"])
