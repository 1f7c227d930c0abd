"""Fixtures for tests/unit/test_torch_parity.c: small nets written anew in PyTorch, trained in double without dropout.

    python3 tests/parity/make_torch_fixtures.py

needs PyTorch (made with 2.x on the CPU, aart and annot_mix with 1.13) and writes tests/parity/fixtures/torch_NAME.safetensors. Each file holds

    start/PARAM            parameters before training, named and laid out as dissent has them
    batch.B/INPUT          two batches of different sizes, taken in turn
    q, loss, grad/PARAM    forward and backward of batch 0 at the start
    OPT/losses             of every step of training with optimiser OPT
    OPT/q, OPT/final/PARAM afterwards, with the running statistics of normalisations

Nothing here uses dissent: nets are written with torch.nn's own LSTM, GRU, TransformerEncoderLayer, Conv and BatchNorm."""

import copy
import json
import math
import pathlib
import struct

import torch
from torch import nn
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
FOLDER = pathlib.Path(__file__).parent / "fixtures"
CLASSES, WORKERS, STEPS, RATE = 3, 4, 20, 0.01


# ---- files ----

def write(name, tensors):
    header, data = {}, b""
    for key, t in tensors.items():
        t = t.detach().contiguous()
        code = "I32" if t.dtype == torch.int32 else "F64"
        raw = struct.pack(f"<{t.numel()}{'i' if code == 'I32' else 'd'}", *t.flatten().tolist())
        header[key] = {"dtype": code, "shape": list(t.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path = FOLDER / f"torch_{name}.safetensors"
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    print(f"{path.name}: {path.stat().st_size} bytes")


def ours(name, t):
    """A parameter of PyTorch, or its gradient, under dissent's name and in its layout; None: dissent has no such."""
    if name.endswith("num_batches_tracked"):
        return None
    if "in_proj_" in name:  # attention that sees one position has values only
        return name.replace("in_proj_", "v_proj."), t[2 * (t.shape[0] // 3):]
    if t.dim() == 4:
        return name, t.permute(0, 2, 3, 1)
    if t.dim() == 3 and not name.startswith("crowd."):
        return name, t.permute(0, 2, 1).unsqueeze(1)
    return name, t


def put_all(out, prefix, named):
    for name, t in named:
        pair = ours(name, t)
        if pair:
            out[prefix + pair[0]] = pair[1].clone()


# ---- losses ----

def soft_loss(kind, z, p, weight, base=None):
    log_q = F.log_softmax(z, -1)
    if kind == "ce":
        loss = -(p * log_q).sum(-1)
    elif kind == "kl":
        loss = F.kl_div(log_q, p, reduction="none").sum(-1)
    elif kind == "inverse_kl":
        floored = p.clamp(min=1e-6)
        floored = floored / floored.sum(-1, keepdim=True)
        loss = F.kl_div(floored.log(), log_q, reduction="none", log_target=True).sum(-1)
    else:
        q = log_q.exp()
        log_m = ((p + q) / 2).log()
        loss = (F.kl_div(log_m, p, reduction="none") + F.kl_div(log_m, q, reduction="none")).sum(-1) / 2
    if base:
        loss = loss / torch.log(torch.tensor(float(base)))
    return (loss * weight).sum() / weight.sum()


class Crowd(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        k = CLASSES
        if kind == "mw":
            self.matrix = nn.Parameter(torch.eye(k).repeat(WORKERS, 1, 1) + 0.1 * torch.randn(WORKERS, k, k))
        elif kind != "vb":
            self.scale = nn.Parameter(1 + 0.1 * torch.randn(WORKERS, 1 if kind == "sw" else k))
        if kind in ("vb", "vwb"):
            self.bias = nn.Parameter(0.1 * torch.randn(WORKERS, k))

    def forward(self, z, batch):
        q = F.softmax(z, -1)[batch["vote_row"].long()]
        w = batch["vote_worker"].long()
        if self.kind == "mw":
            v = torch.einsum("vkj,vj->vk", self.matrix[w], q)
        else:
            v = q * self.scale[w] if self.kind != "vb" else q
            if self.kind in ("vb", "vwb"):
                v = v + self.bias[w]
        return F.cross_entropy(v, batch["vote_label"].long())


class Net(nn.Module):
    """forward gives logits; `aim` says what the loss is and adds the parameters that it needs."""

    def aim(self, kind):
        self.kind = kind
        if kind.startswith("crowd_"):
            self.crowd = Crowd(kind[6:])
        if kind == "two":
            self.soft = nn.ModuleDict({"out": nn.Linear(4, CLASSES)})
        return self

    def loss(self, batch):
        z = self(batch)
        if self.kind.startswith("crowd_"):
            return self.crowd(z, batch), z
        if self.kind == "two":  # gold, and KL in bits at weight .5
            y = self.soft["out"](self.trunk(batch))
            hard = F.cross_entropy(z, batch["label"].long(), ignore_index=-1)
            return hard + 0.5 * soft_loss("kl", y, batch["target"], batch["weight"], 2), z
        return soft_loss(self.kind, z, batch["target"], batch["weight"]), z


# ---- nets ----

class Mlp(Net):
    def __init__(self):
        super().__init__()
        self.hidden = nn.ModuleDict({"0": nn.Linear(5, 6), "1": nn.Linear(6, 4)})
        self.out = nn.Linear(4, CLASSES)

    def trunk(self, b):
        return F.relu(self.hidden["1"](F.relu(self.hidden["0"](b["x"]))))

    def forward(self, b):
        return self.out(self.trunk(b))


class AnnotMix(Net):
    """annot-mix: a class per item and what a worker makes of it, rows mixed two by two; terms of the workers' vectors."""

    def __init__(self, classes_and_matrix=True):
        super().__init__()
        self.matrix = classes_and_matrix
        self.hidden = nn.ModuleDict({"0": nn.Linear(5, 6), "1": nn.Linear(6, 4)})
        self.workers = nn.ModuleDict({"norm": nn.LayerNorm(4), "features": nn.Linear(2, 4)})
        self.workers.register_parameter("weight", nn.Parameter(torch.randn(WORKERS, 4)))
        self.out = nn.Linear(4, CLASSES)
        if self.matrix:
            del self.workers["norm"]
            self.workers["confusion"] = nn.Linear(8, CLASSES * CLASSES)

    def forward(self, b):
        h = F.relu(self.hidden["1"](F.relu(self.hidden["0"](b["x"]))))
        share = F.softmax(b["share"][..., 0], -1)[..., None]
        h = (h[b["rows"].long()] * share).sum(1)
        e = (embed(lambda i: self.workers.weight[i], b["workers"]) * share).sum(1) + self.workers["features"](b["known"])
        if not self.matrix:
            return self.out(self.workers["norm"](h + e))
        q = F.log_softmax(self.out(h), -1)
        c = self.workers["confusion"](torch.cat([h.detach(), e], -1)).view(-1, CLASSES, CLASSES)
        return torch.logsumexp(q[:, :, None] + F.log_softmax(c, -1), 1)

    def loss(self, b):
        z = self(b)
        e, pair, weight = self.workers.weight, b["pair"].long(), b["pair_weight"]
        cos = F.cosine_similarity(e[pair[:, 0]], e[pair[:, 1]], dim=-1)
        terms = torch.stack([1 - cos, cos.clamp(min=0), e[pair[:, 0]].norm(dim=-1)])
        return soft_loss("ce", z, b["target"], b["weight"]) + (weight * terms[pair[:, 2], torch.arange(len(pair))]).sum(), z


class Text(Net):
    """Means of the known words of four lists of a text pair, side by side."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(11, 4)
        self.hidden = nn.Linear(16, 5)
        self.out = nn.Linear(5, CLASSES)

    def forward(self, b):
        ids = b["ids"].long()
        used = (ids >= 0) & (torch.arange(ids.shape[1])[None] < b["lengths"][:, None])
        total = (self.words(ids.clamp(min=0)) * used[..., None]).sum(1)
        bags = total / used.sum(1).clamp(min=1)[:, None]
        return self.out(F.relu(self.hidden(bags.view(-1, 16))))


def embed(table, ids):
    return table(ids.long().clamp(min=0)) * (ids >= 0)[..., None]


def encoder(width, heads, feed):
    return nn.TransformerEncoderLayer(width, heads, feed, dropout=0.0, batch_first=True, norm_first=True)


def lone(layer, x):
    return layer(x.unsqueeze(1)).squeeze(1)


def read(layer, x, lengths):
    """Every state of an LSTM or GRU over sequences, and the last one of each direction of its last layer."""
    packed = nn.utils.rnn.pack_padded_sequence(x, lengths.long(), batch_first=True, enforce_sorted=False)
    y, last = layer(packed)
    y, _ = nn.utils.rnn.pad_packed_sequence(y, batch_first=True, total_length=x.shape[1])
    h = last[0] if isinstance(last, tuple) else last
    return y, torch.cat([h[-2], h[-1]], -1)


class Stacked(Net):
    """Two layers of both directions, one on the other, taken at their ends."""

    def __init__(self, cell):
        super().__init__()
        self.words = nn.Embedding(9, 3)
        self.reader = cell(3, 2, num_layers=2, batch_first=True, bidirectional=True)
        self.out = nn.Linear(4, CLASSES)

    def forward(self, b):
        return self.out(read(self.reader, embed(self.words, b["words"]), b["lengths"])[1])


class Tagger(Net):
    HIDDEN = 2

    def __init__(self, additive, cell=nn.LSTM):
        super().__init__()
        self.additive, h = additive, self.HIDDEN
        self.words, self.characters = nn.Embedding(9, 3), nn.Embedding(7, 3)
        self.context = cell(3, h, batch_first=True, bidirectional=True)
        self.spelling = cell(3, h, batch_first=True, bidirectional=True)
        if additive:
            self.attention = nn.ModuleDict({"hidden": nn.Linear(2 * h, 2 * h), "score": nn.Linear(2 * h, 1)})
            self.gold = nn.ModuleDict({"out": nn.Linear(2 * h, CLASSES)})
        else:
            self.encoder = nn.ModuleDict({"0": encoder(4 * h, 2, 6)})
            self.gold = nn.ModuleDict({"0": encoder(4 * h, 2, 6), "hidden": nn.Linear(4 * h, 2 * h),
                                       "out": nn.Linear(2 * h, CLASSES)})

    def forward(self, b):
        y, _ = read(self.context, embed(self.words, b["words"]), b["lengths"])
        x = y.reshape(-1, y.shape[-1])[b["place"].long()]
        _, ends = read(self.spelling, embed(self.characters, b["characters"]), b["spelt"])
        s = ends[b["word"].long()]
        if self.additive:
            both = torch.stack([x, s], 1)
            score = self.attention["score"](torch.tanh(self.attention["hidden"](both)))
            return self.gold["out"]((both * F.softmax(score, 1)).sum(1))
        z = lone(self.gold["0"], lone(self.encoder["0"], torch.cat([x, s], -1)))
        return self.gold["out"](F.relu(self.gold["hidden"](z)))


class StemCnn(Net):
    def __init__(self):
        super().__init__()
        self.characters = nn.Embedding(8, 4)
        for side in ("word", "stem"):
            convs = lambda n, out: nn.ModuleDict({str(k): nn.Conv1d(n, out, k, padding="same") for k in (2, 3)})
            setattr(self, side, nn.ModuleDict({"first": convs(4, 2), "second": convs(4, 3), "encoder": encoder(6, 1, 5)}))
        self.out = nn.Linear(12, CLASSES)

    def forward(self, b):
        ends = []
        for side in ("word", "stem"):
            m = getattr(self, side)
            convolve = lambda layer, v: torch.cat([F.relu(c(v)) for c in layer.values()], 1)
            x = embed(self.characters, b[side]).transpose(1, 2)
            x = F.max_pool1d(convolve(m["first"], x), 2, 2)
            ends.append(lone(m["encoder"], convolve(m["second"], x).amax(-1)))
        return self.out(torch.cat(ends, -1))


class Block(nn.Module):
    def __init__(self, n, out, stride, project):
        super().__init__()
        self.stride, self.pad, self.project = stride, (out - n) // 2, project and (n != out or stride != 1)
        if self.project:
            self.conv0, self.norm0 = nn.Conv2d(n, out, 1, stride, bias=False), nn.BatchNorm2d(out)
        self.conv1, self.norm1 = nn.Conv2d(n, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out)
        self.conv2, self.norm2 = nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out)

    def forward(self, x):
        short = self.norm0(self.conv0(x)) if self.project else F.pad(x[:, :, ::self.stride, ::self.stride],
                                                                     (0, 0, 0, 0, self.pad, self.pad))
        return F.relu(self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x))))) + short)


class ResNet(Net):
    def __init__(self, widths, project):
        super().__init__()
        self.first = nn.ModuleDict({"conv": nn.Conv2d(3, widths[0], 3, 1, 1, bias=False), "norm": nn.BatchNorm2d(widths[0])})
        self.n_stages, n = len(widths), widths[0]
        for s, out in enumerate(widths):
            setattr(self, f"stage{s + 1}", nn.ModuleDict({"0": Block(n, out, 2 if s else 1, project)}))
            n = out
        self.out = nn.Linear(n, CLASSES)

    def forward(self, b):
        x = b["images"].permute(0, 3, 1, 2)
        x = F.relu(self.first["norm"](self.first["conv"](x)))
        for s in range(self.n_stages):
            x = getattr(self, f"stage{s + 1}")["0"](x)
        return self.out(x.mean((2, 3)))


def bucket(distance, buckets, farthest):
    """Of the distance from query to key, as MPNet's and T5's code has it, its logarithm in float32."""
    n = -distance
    half = buckets // 2
    out = (n < 0).long() * half
    n = n.abs()
    exact = half // 2
    far = exact + (torch.log(n.float() / exact) / math.log(farthest / exact) * (half - exact)).long()
    return out + torch.where(n < exact, n, far.clamp(max=half - 1))


class EncoderBlock(nn.Module):
    def __init__(self, width, feed, epsilon):
        super().__init__()
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width, epsilon), nn.LayerNorm(width, epsilon)
        self.up, self.down = nn.Linear(width, feed), nn.Linear(feed, width, bias=False)

    def forward(self, x, bias, heads):
        q, k, v = (t.view(len(x), heads, -1).transpose(0, 1) for t in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        x = self.norm1(x + self.proj(y.transpose(0, 1).reshape(len(x), -1)))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


class Encoder(Net):
    """An encoder as BERT's, with biases by distance as MPNet's, over one text after the other: no text is padded."""

    WIDTH, HEADS, BUCKETS, FARTHEST = 8, 2, 8, 7

    def __init__(self):
        super().__init__()
        w = self.WIDTH
        self.words, self.places, self.norm = nn.Embedding(9, w), nn.Embedding(12, w), nn.LayerNorm(w, 1e-3)
        self.relative = nn.Embedding(self.BUCKETS, self.HEADS)
        self.layer = nn.ModuleDict({str(i): EncoderBlock(w, 11, 1e-3) for i in range(2)})
        self.pooler, self.out = nn.Linear(w, w), nn.Linear(w, CLASSES)

    def forward(self, b):
        ends = []
        for start, length in zip(b["start"].tolist(), b["length"].tolist()):
            here = slice(start, start + length)
            x = self.norm(self.words(b["ids"][here].long()) + self.places(b["places"][here].long()))
            at = torch.arange(length)
            bias = self.relative(bucket(at[None] - at[:, None], self.BUCKETS, self.FARTHEST)).permute(2, 0, 1)
            for block in self.layer.values():
                x = block(x, bias, self.HEADS)
            ends.append(torch.tanh(self.pooler(x[0])))
        return self.out(torch.stack(ends))


# ---- batches ----

def below(n, *shape):
    return torch.randint(0, n, shape, dtype=torch.int32)


def targets(rows, classes=CLASSES):
    p = F.softmax(1.5 * torch.randn(rows, classes), -1)
    p[0] = torch.eye(classes)[1]
    weight = torch.tensor([(1.0, 0.5, 1.0, 0.0, 2.0)[i % 5] for i in range(rows)])
    label = below(classes, rows)
    label[1] = -1
    votes = [(i, w) for i in range(rows) for w in range(WORKERS) if (i + 2 * w) % 3]
    return {"target": p, "weight": weight, "label": label,
            "vote_row": torch.tensor([v[0] for v in votes], dtype=torch.int32),
            "vote_worker": torch.tensor([v[1] for v in votes], dtype=torch.int32),
            "vote_label": below(classes, len(votes))}


def mlp_batch(rows):
    return {"x": torch.randn(rows, 5), **targets(rows)}


def workers_batch(rows):
    share = torch.rand(rows, 1).clamp(0.01, 0.99)
    pairs = [(a, (a + 1 + i) % WORKERS, i) for i in range(3) for a in range(WORKERS)]
    return {**mlp_batch(rows), "rows": below(rows, rows, 2), "workers": below(WORKERS + 1, rows, 2) - 1,
            "share": torch.cat([share, 1 - share], 1).log()[..., None], "known": torch.randn(rows, 2),
            "pair": torch.tensor(pairs, dtype=torch.int32), "pair_weight": (1 + torch.arange(len(pairs)) % 3).double() / 64}


def text_batch(rows):
    ids = below(12, rows * 4, 5) - 1
    lengths = below(6, rows * 4)
    return {"ids": ids, "lengths": lengths, **targets(rows)}


def sentence_batch(sentences, positions):
    lengths = below(positions, sentences) + 1
    lengths[0] = positions
    return {"words": below(10, sentences, positions) - 1, "lengths": lengths}


def stacked_batch(sentences):
    return {**sentence_batch(sentences, 5), **targets(sentences)}


def tagger_batch(sentences):
    positions, distinct, characters = 4, 5, 3
    text = sentence_batch(sentences, positions)
    lengths = text["lengths"]
    place = torch.tensor([s * positions + i for s in range(sentences) for i in range(lengths[s])], dtype=torch.int32)
    spelt = below(characters, distinct) + 1
    return {**text, "characters": below(8, distinct, characters) - 1, "spelt": spelt,
            "place": place, "word": below(distinct, len(place)), **targets(len(place))}


def stem_batch(rows):
    return {"word": below(9, rows, 7) - 1, "stem": below(9, rows, 7) - 1, **targets(rows)}


def encoder_batch(lengths):
    length = torch.tensor(lengths, dtype=torch.int32)
    places = torch.cat([torch.arange(n, dtype=torch.int32) for n in lengths])
    return {"ids": below(9, sum(lengths)), "places": places, "start": (length.cumsum(0) - length).int(),
            "length": length, **targets(len(lengths))}


def image_batch(rows):
    return {"images": torch.randn(rows, 7, 6, 3), **targets(rows)}


# ---- training ----

def optimizer(name, model):
    matrices = [p for n, p in model.named_parameters() if p.dim() > 1 and not n.startswith("crowd.")]
    others = [p for n, p in model.named_parameters() if p.dim() <= 1 or n.startswith("crowd.")]
    if name == "momentum":
        return torch.optim.SGD(model.parameters(), RATE, momentum=0.9, weight_decay=0.01)
    if name == "nesterov":
        return torch.optim.SGD(model.parameters(), RATE, momentum=0.9, nesterov=True)
    if name == "adam":
        return torch.optim.Adam(model.parameters(), RATE, weight_decay=0.01)
    return torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}], RATE)


def used(model, batch):
    skip = {"target", "weight"} if model.kind.startswith("crowd_") else {"vote_row", "vote_worker", "vote_label"}
    if model.kind != "two":
        skip = skip | {"label"}
    return {k: v for k, v in batch.items() if k not in skip}


def make(name, model, batches, kinds=("nesterov", "adam", "adamw"), steps=STEPS):
    out = {}
    for i, batch in enumerate(batches):
        for key, t in used(model, batch).items():
            out[f"batch.{i}/{key}"] = t
    with torch.no_grad():
        for p in model.parameters():  # away from zeros and ones
            p.add_(0.1 * torch.randn_like(p))
    put_all(out, "start/", model.state_dict().items())
    first = copy.deepcopy(model)
    loss, z = first.loss(batches[0])
    loss.backward()
    out["q"], out["loss"] = F.softmax(z, -1), loss.reshape(1)
    put_all(out, "grad/", [(n, p.grad) for n, p in first.named_parameters() if p.requires_grad])
    for kind in kinds:
        m = copy.deepcopy(model)
        o = optimizer(kind, m)
        losses = []
        for s in range(steps):
            o.zero_grad()
            loss, _ = m.loss(batches[s % 2])
            loss.backward()
            o.step()
            losses.append(loss.item())
        out[f"{kind}/losses"] = torch.tensor(losses)
        m.eval()
        out[f"{kind}/q"] = F.softmax(m.loss(batches[0])[1], -1)
        put_all(out, f"{kind}/final/", m.state_dict().items())
    write(name, out)


def main():
    kinds = ["ce", "kl", "inverse_kl", "js", "two"] + ["crowd_" + k for k in ("mw", "vw", "vb", "vwb", "sw")]
    for i, kind in enumerate(kinds):
        torch.manual_seed(100 + i)
        make(f"mlp_{kind}", Mlp().aim(kind), [mlp_batch(7), mlp_batch(4)],
             ("momentum", "nesterov", "adam", "adamw"))
    torch.manual_seed(1)
    make("text", Text().aim("kl"), [text_batch(6), text_batch(4)])
    torch.manual_seed(2)
    make("tagger_encoder", Tagger(False).aim("ce"), [tagger_batch(3), tagger_batch(2)])
    torch.manual_seed(3)
    make("tagger_additive", Tagger(True).aim("ce"), [tagger_batch(3), tagger_batch(2)])
    torch.manual_seed(7)  # one of those that leave no unit at the kink of ReLU, where floats and doubles part ways
    make("stem_cnn", StemCnn().aim("inverse_kl"), [stem_batch(6), stem_batch(4)])
    torch.manual_seed(5)
    make("resnet_cifar", ResNet([2, 4, 8], False).aim("ce"), [image_batch(5), image_batch(4)], steps=5)
    torch.manual_seed(6)
    make("resnet_imagenet", ResNet([2, 4], True).aim("js"), [image_batch(5), image_batch(4)], steps=5)
    for i, (name, cell) in enumerate((("lstm", nn.LSTM), ("gru", nn.GRU))):
        torch.manual_seed(200 + i)
        make(f"stacked_{name}", Stacked(cell).aim("ce"), [stacked_batch(5), stacked_batch(4)])
    torch.manual_seed(9)
    make("encoder", Encoder().aim("kl"), [encoder_batch([3, 12, 1, 7, 5]), encoder_batch([9, 2, 4, 10])])
    torch.manual_seed(8)
    make("tagger_gru", Tagger(True, nn.GRU).aim("ce"), [tagger_batch(3), tagger_batch(2)])
    for i, (name, matrix) in enumerate((("aart", False), ("annot_mix", True))):
        torch.manual_seed(300 + i)
        make(name, AnnotMix(matrix).aim("ce"), [workers_batch(7), workers_batch(4)])


if __name__ == "__main__":
    main()
