"""Fixtures for tests/unit/test_torch_parity.c: the networks of Fornaciari et al. (2021) as released, and the later tagger
of Uma et al. (2020), written in PyTorch from the description of the released code, trained in double without dropout.

    python3 tests/parity/make_released_fixtures.py

needs PyTorch (made with 2.15 on the CPU). The files have the layout that make_torch_fixtures.py describes.

Here a sentence is padded to POSITIONS and read as a whole by a bidirectional LSTM, once for each of its tokens, as the
released code does it; dissent reads a sentence once, in two layers. The batch has the inputs of both."""

import torch
from make_torch_fixtures import CLASSES, Net, below, embed, make, soft_loss, targets
from torch import nn
from torch.nn import functional as F

POSITIONS, LETTERS, WORDS, CHARACTERS = 6, 5, 9, 7  # the last two: ids; padding has the id behind them


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x):
        return self.weight * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-6) + self.bias


class Block(nn.Module):
    """Attention of one position to itself: the share is 1, whatever queries and keys are."""

    def __init__(self, width, feed):
        super().__init__()
        self.norm1, self.norm2 = Norm(width), Norm(width)
        self.self_attn = nn.ModuleDict({"v_proj": nn.Linear(width, width), "out_proj": nn.Linear(width, width)})
        self.linear1, self.linear2 = nn.Linear(width, feed), nn.Linear(feed, width)

    def forward(self, x):
        x = x + self.self_attn["out_proj"](self.self_attn["v_proj"](self.norm1(x)))
        return x + self.linear2(F.relu(self.linear1(self.norm2(x))))


def scaled(x):
    width = x.shape[-1]
    term = torch.tensor([float(c % 2) for c in range(width)])  # sin(0), cos(0), ...
    return x * width ** 0.5 + term


class Encoder(nn.ModuleDict):
    def __init__(self, layers, width, feed):
        super().__init__({**{str(i): Block(width, feed) for i in range(layers)}, "norm": Norm(width)})

    def forward(self, x):
        x = scaled(x)
        for name, part in self.items():
            x = part(x)
        return x


class Stem(Net):
    """One convolution per width on the characters; a sigmoid for the main task, a softmax for the other."""

    def __init__(self):
        super().__init__()
        self.characters = nn.Embedding(9, 4)
        for side in ("word", "stem"):
            convs = nn.ModuleDict({str(k): nn.Conv1d(4, 3, k) for k in (2, 3)})
            encoder = Block(6, 5)
            encoder.norm = Norm(6)
            setattr(self, side, nn.ModuleDict({"conv": convs, "encoder": encoder}))
        self.out = nn.Linear(12, 1)
        self.soft = nn.ModuleDict({"out": nn.Linear(12, 2)})
        self.kind = "two"

    def trunk(self, b):
        ends = []
        for side in ("word", "stem"):
            m = getattr(self, side)
            x = self.characters(b[side].long()).transpose(1, 2)
            x = torch.cat([F.relu(conv(x)).amax(-1) for conv in m["conv"].values()], -1)
            ends.append(m["encoder"].norm(m["encoder"](scaled(x))))
        return torch.cat(ends, -1)

    def loss(self, b):
        h = self.trunk(b)
        z, label = self.out(h)[:, 0], b["label"]
        known = label >= 0
        main = F.binary_cross_entropy_with_logits(z[known], (label[known] == 0).double())
        soft = soft_loss("kl", self.soft["out"](h), b["target"], b["weight"], 2)
        return main + 0.5 * soft, torch.stack([z, torch.zeros_like(z)], -1)


class Both(nn.Module):
    """nn.LSTM in both directions, with the names of parameters that dissent has for two layers."""

    def __init__(self, width, hidden):
        super().__init__()
        self.lstm = [nn.LSTM(width, hidden, batch_first=True, bidirectional=True)]
        self.reverse = nn.Module()
        for name, p in self.lstm[0].named_parameters():
            (self.reverse if name.endswith("_reverse") else self).register_parameter(name.removesuffix("_reverse"), p)

    def forward(self, x):
        own = {name: p for name, p in self.named_parameters(recurse=False)}
        own |= {name + "_reverse": p for name, p in self.reverse.named_parameters()}
        return torch.func.functional_call(self.lstm[0], own, (x,))


class Tagger(Net):
    HIDDEN = 2

    def __init__(self):
        super().__init__()
        h = self.HIDDEN
        self.words, self.characters = nn.Embedding(WORDS + 1, 3), nn.Embedding(CHARACTERS + 1, 3)
        self.context, self.spelling = Both(3, h), Both(3, h)
        self.encoder = Encoder(2, 4 * h, 6)
        self.gold = nn.ModuleDict({**Encoder(2, 4 * h, 6), "hidden": nn.Linear(4 * h, 2 * h), "out": nn.Linear(2 * h, CLASSES)})

    def forward(self, b):
        read, _ = self.context(self.words(b["padded"].long()[b["sentence"].long()]))
        x = read[torch.arange(len(read)), b["position"].long()]
        letters = b["characters"].long()[b["word"].long()]
        y = self.spelling(self.characters(letters))[0][:, -1]
        z = scaled(self.encoder(torch.cat([x, y], -1)))
        for name in ("0", "1", "norm"):
            z = self.gold[name](z)
        return self.gold["out"](self.gold["hidden"](z))


class Linear(Net):
    """Frozen vectors; both states through linear layers."""

    HIDDEN = 2

    def __init__(self):
        super().__init__()
        h = self.HIDDEN
        self.words, self.characters = nn.Embedding(WORDS, 3), nn.Embedding(CHARACTERS, 3)
        self.words.weight.requires_grad_(False)
        self.characters.weight.requires_grad_(False)
        self.context = nn.LSTM(3, h, batch_first=True, bidirectional=True)
        self.spelling = nn.LSTM(3, h, batch_first=True, bidirectional=True)
        self.hidden = nn.ModuleDict({"0": nn.Linear(4 * h, 7), "1": nn.Linear(7, 5)})
        self.gold = nn.ModuleDict({"out": nn.Linear(5, CLASSES)})

    def forward(self, b):
        rows = []
        for s, p, w in zip(b["sentence"].tolist(), b["position"].tolist(), b["word"].tolist()):
            sentence = b["words"][s, :b["lengths"][s]].long()
            letters = b["characters"][w, :b["spelt"][w]].long()
            read, _ = self.context(embed(self.words, sentence)[None])
            _, (last, _) = self.spelling(embed(self.characters, letters)[None])
            rows.append(torch.cat([read[0, p], last[0, 0], last[1, 0]]))
        x = torch.stack(rows)
        for layer in self.hidden.values():
            x = F.relu(layer(x))
        return self.gold["out"](x)


def stem_batch(rows):
    return {"word": below(9, rows, 7), "stem": below(9, rows, 7), **targets(rows, 2)}


def tagger_batch(lengths, padded):
    n, distinct, longest = len(lengths), 5, max(lengths)
    length = torch.tensor(lengths, dtype=torch.int32)
    full = below(WORDS, n, POSITIONS)
    full[torch.arange(POSITIONS)[None] >= length[:, None]] = WORDS
    spelt = below(LETTERS, distinct) + 1
    characters = below(CHARACTERS, distinct, LETTERS)
    characters[torch.arange(LETTERS)[None] >= spelt[:, None]] = CHARACTERS if padded else -1
    tokens = [(s, p) for s in range(n) for p in range(lengths[s])]
    sentence, position = (torch.tensor(t, dtype=torch.int32) for t in zip(*tokens))
    words = torch.where(torch.arange(longest)[None] < length[:, None], full[:, :longest], -1)
    batch = {"words": words, "lengths": length, "characters": characters, "spelt": spelt, "sentence": sentence,
             "position": position, "place": sentence * longest + position, "word": below(distinct, len(tokens)),
             **targets(len(tokens))}
    if padded:
        batch |= {"spelt": torch.full_like(spelt, LETTERS), "padded": full, "reversed": full.flip(1),
                  "from_end": sentence * POSITIONS + POSITIONS - 1 - position, "last": characters[:, -1:].contiguous()}
    return batch


def main():
    torch.manual_seed(11)
    make("stem_released", Stem(), [stem_batch(6), stem_batch(4)])
    torch.manual_seed(12)
    make("tagger_released", Tagger().aim("inverse_kl"), [tagger_batch([4, 6, 1], True), tagger_batch([2, 5], True)])
    torch.manual_seed(22)  # no input of a ReLU is within .02 of 0, so rounding to bfloat16 does not switch one on or off
    make("tagger_linear", Linear().aim("ce"), [tagger_batch([4, 6, 1], False), tagger_batch([2, 5], False)])


if __name__ == "__main__":
    main()
