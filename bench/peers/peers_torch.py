"""Training in PyTorch on the CPU, one thread: the same nets, batches and optimiser as ours, dropout on.

    peers_torch.py mlp ITEMS.npy CLASSES BATCH EPOCHS [SEEDS]
    peers_torch.py tagger TOKENS.conll CLASSES BATCH EPOCHS [anew]
    peers_torch.py stem-cnn ITEMS.csv CLASSES BATCH EPOCHS

Prints {"seconds": [...]}: processor time of each epoch behind the first, {"predict": [...]}: of seven predictions of
all items, {"start": ...}: processor time from the start of Python to the first step, {"parameters": ..., "peak":
bytes}. With SEEDS mlp is trained so often in one process, and {"wall": ...} is how long that took by the clock, without
starting Python. Labels are random: time does not depend on them. The tagger reads each sentence once, as ours does;
with "anew" once for each of its words, as the released code does. It spells each token."""

import csv
import json
import random
import resource
import sys
import time

import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)


def measure(net, batches, n):
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    loss = nn.CrossEntropyLoss()
    seconds, predict, start = [], [], None
    net.train()
    for _ in range(n):
        begun = time.process_time()
        for inputs, labels in batches():
            start = start or time.process_time()
            optimizer.zero_grad()
            loss(net(*inputs), labels).backward()
            optimizer.step()
        seconds.append(time.process_time() - begun)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    net.eval()
    with torch.no_grad():
        for _ in range(7):
            begun = time.process_time()
            for inputs, _ in batches():
                torch.softmax(net(*inputs), 1)
            predict.append(time.process_time() - begun)
    return {
        "seconds": seconds[1:] or seconds,
        "predict": predict,
        "start": start,
        "peak": peak,
        "parameters": sum(p.numel() for p in net.parameters()),
        "version": torch.__version__,
    }


def epochs(n, net, batches):
    print(json.dumps(measure(net, batches, n)))


def mlp_net(x, classes):
    return nn.Sequential(nn.Linear(x.shape[1], 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, classes))


def features(path, classes, batch):
    x = torch.from_numpy(np.load(path))
    y = torch.randint(classes, (len(x),))

    def batches():
        order = torch.randperm(len(x))
        for at in range(0, len(x), batch):
            rows = order[at : at + batch]
            yield (x[rows],), y[rows]

    return x, batches


def mlp(path, classes, batch, n, seeds="1"):
    x, batches = features(path, classes, batch)
    begun = time.perf_counter()
    for seed in range(int(seeds)):
        torch.manual_seed(seed)
        found = measure(mlp_net(x, classes), batches, n)
    print(json.dumps(dict(found, wall=time.perf_counter() - begun)))


def encoder(width, layers, heads, feed):
    return nn.TransformerEncoder(
        nn.TransformerEncoderLayer(width, heads, feed, 0.1, batch_first=True, norm_first=True),
        layers,
        enable_nested_tensor=False,
    )


class Tagger(nn.Module):
    def __init__(self, words, letters, classes, anew):
        super().__init__()
        self.anew = anew
        self.words = nn.Embedding(words, 300)
        self.context = nn.LSTM(300, 256, bidirectional=True, batch_first=True)
        self.letters = nn.Embedding(letters, 100)
        self.spelling = nn.LSTM(100, 256, bidirectional=True, batch_first=True)
        self.shared = encoder(1024, 2, 2, 2048)
        self.own = encoder(1024, 2, 2, 2048)
        self.hidden, self.out = nn.Linear(1024, 512), nn.Linear(512, classes)

    def read(self, words, lengths):
        """The state of the sentences' LSTM at each token."""
        if self.anew:  # a row for each token: its whole sentence
            row = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
            place = torch.cat([torch.arange(n) for n in lengths.tolist()])
            return self.context_of(words[row], lengths[row])[torch.arange(len(row)), place]
        mask = torch.arange(words.shape[1])[None, :] < lengths[:, None]
        return self.context_of(words, lengths)[mask]

    def context_of(self, words, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.words(words), lengths, batch_first=True, enforce_sorted=False)
        return nn.utils.rnn.pad_packed_sequence(self.context(packed)[0], batch_first=True)[0]

    def forward(self, words, lengths, letters, spelt):
        packed = nn.utils.rnn.pack_padded_sequence(self.letters(letters), spelt, batch_first=True, enforce_sorted=False)
        _, (last, _) = self.spelling(packed)
        both = torch.cat([self.read(words, lengths), last[0], last[1]], 1)
        x = self.own(self.shared(both[:, None, :]))[:, 0]
        return self.out(torch.relu(self.hidden(x)))


def tagger(path, classes, batch, n, anew=None):
    with open(path, encoding="utf-8") as f:
        sentences = [s.split("\n") for s in f.read().strip().split("\n\n")]
    words, letters = {}, {}
    for s in sentences:
        for w in s:
            words.setdefault(w.lower(), len(words) + 1)
            for c in w:
                letters.setdefault(c, len(letters) + 1)

    def tensor(chunk):
        longest = max(map(len, chunk))
        ids = torch.zeros(len(chunk), longest, dtype=torch.long)
        for i, s in enumerate(chunk):
            ids[i, : len(s)] = torch.tensor([words[w.lower()] for w in s])
        tokens = [w[:15] for s in chunk for w in s]
        spelt = torch.tensor([len(w) for w in tokens])
        spelling = torch.zeros(len(tokens), int(spelt.max()), dtype=torch.long)
        for i, w in enumerate(tokens):
            spelling[i, : len(w)] = torch.tensor([letters[c] for c in w])
        return (ids, torch.tensor([len(s) for s in chunk]), spelling, spelt), torch.randint(classes, (len(tokens),))

    tensors = []
    order = sorted(sentences, key=len)
    chunk, size = [], 0
    for s in order:
        if chunk and size + len(s) > batch:
            tensors.append(tensor(chunk))
            chunk, size = [], 0
        chunk.append(s)
        size += len(s)
    tensors.append(tensor(chunk))

    def batches():
        random.shuffle(tensors)
        return tensors

    epochs(n, Tagger(len(words) + 1, len(letters) + 1, classes, anew is not None), batches)


class StemCnn(nn.Module):
    def __init__(self, letters, classes):
        super().__init__()
        self.letters = nn.Embedding(letters, 300)
        self.first = nn.ModuleList(
            [nn.ModuleList([nn.Conv1d(300, 64, k, padding="same") for k in (3, 4, 5)]) for _ in range(2)]
        )
        self.second = nn.ModuleList(
            [nn.ModuleList([nn.Conv1d(192, 128, k, padding="same") for k in (3, 4, 5)]) for _ in range(2)]
        )
        self.encoder = nn.ModuleList([encoder(384, 1, 1, 2048) for _ in range(2)])
        self.out = nn.Linear(768, classes)

    def forward(self, *texts):
        ends = []
        for text, first, second, end in zip(texts, self.first, self.second, self.encoder):
            x = self.letters(text).transpose(1, 2)
            x = nn.functional.max_pool1d(torch.cat([torch.relu(c(x)) for c in first], 1), 2)
            x = torch.cat([torch.relu(c(x)) for c in second], 1).amax(2)
            ends.append(end(x[:, None, :])[:, 0])
        return self.out(torch.cat(ends, 1))


def stem_cnn(path, classes, batch, n):
    with open(path, newline="", encoding="utf-8") as f:
        pairs = [(r["word"], r["stem"]) for r in csv.DictReader(f)]
    letters = {}
    ids = torch.zeros(2, len(pairs), 20, dtype=torch.long)
    for i, pair in enumerate(pairs):
        for t, text in enumerate(pair):
            for p, c in enumerate(text[:20]):
                ids[t, i, p] = letters.setdefault(c, len(letters) + 1)
    y = torch.randint(classes, (len(pairs),))

    def batches():
        order = torch.randperm(len(pairs))
        for at in range(0, len(pairs), batch):
            rows = order[at : at + batch]
            yield (ids[0, rows], ids[1, rows]), y[rows]

    epochs(n, StemCnn(len(letters) + 1, classes), batches)


if __name__ == "__main__":
    kinds = {"mlp": mlp, "tagger": tagger, "stem-cnn": stem_cnn}
    kinds[sys.argv[1]](sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), *sys.argv[6:])
