"""dissent.torch: losses, crowd layer and data set. Gradients are compared with one step of `dissent train` by plain SGD,
whose change of the weights is the gradient times the rate."""

from __future__ import annotations

import json
import struct
import subprocess
import sys

import numpy as np
import pytest

import dissent
from dissent import SoftClassifier

torch = pytest.importorskip("torch", reason="PyTorch is not installed; ./run check-all python installs it")
import dissent.torch as dt  # noqa: E402

F = torch.nn.functional
N, WIDTH, K, RATE = 24, 5, 3, 0.5


def tensors(folder):
    """The float32 tensors of a model folder by name."""
    (path,) = folder.glob("*.safetensors")
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    found = {}
    for name, t in header.items():
        low, high = t["data_offsets"]
        assert t["dtype"] == "F32"
        found[name] = np.frombuffer(data[8 + size + low : 8 + size + high], dtype=np.float32).reshape(t["shape"])
    return found


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(N, WIDTH)).astype(np.float32)
    p = rng.dirichlet(np.ones(K) * 0.5, size=N)
    p[0], p[1] = [1, 0, 0], [0.5, 0.5, 0]
    gold = rng.integers(K, size=N)
    votes = [(i, f"w{w}", int(rng.integers(K))) for i in range(N) for w in rng.choice(4, 2, replace=False)]
    return x, p, gold, votes


def step(objective, world, folder, rate, **options):
    """Weights after one SGD step, and the loss before it."""
    x, p, gold, votes = world
    needs = next(o for o in dissent.objectives() if o["name"] == objective.split(":on")[0])
    model = SoftClassifier(
        objective, "mlp:hidden=4,dropout=0", n_epochs=1, batch_size=N, learning_rate=rate, optimizer="sgd", order="file",
        random_state=11, classes=[0, 1, 2], **options,
    )  # fmt: skip
    model.fit(
        x,
        p if needs["needs_labels"] else gold if needs["needs_gold"] else None,
        gold=gold if needs["needs_labels"] and needs["needs_gold"] else None,
        votes=dissent.Votes(votes, classes=[0, 1, 2]) if needs["needs_votes"] else None,
        tasks=list(range(N)),
    )
    model.save(folder)
    return tensors(folder), model.history_[0]["loss"]


def forward(weights, x):
    """Weights as tensors, and the logits of each head of an MLP with one hidden layer."""
    w = {n: torch.tensor(v, dtype=torch.float64, requires_grad=True) for n, v in weights.items()}
    h = F.relu(F.linear(torch.tensor(x, dtype=torch.float64), w["hidden.0.weight"], w["hidden.0.bias"]))
    heads = [n[: -len(".weight")] for n in w if n.startswith("out") and n.endswith(".weight")]
    return w, {head: F.linear(h, w[f"{head}.weight"], w[f"{head}.bias"]) for head in heads}


CASES = [
    ("soft-ce", dt.SoftCrossEntropyLoss(), {}),
    ("soft-ce", dt.SoftCrossEntropyLoss(log_base=2), {"log_base": 2.0}),
    ("kl", dt.KLLoss(), {}),
    ("inverse-kl", dt.InverseKLLoss(), {}),
    ("inverse-kl", dt.InverseKLLoss(floor=0.01), {"floor": 0.01}),
    ("js", dt.JensenShannonLoss(), {}),
]


def compare(before, after, loss, w, rate=RATE):
    loss.backward()
    checked = 0
    for name, tensor in w.items():
        if tensor.grad is None:
            continue
        ours = tensor.grad.numpy()
        theirs = (before[name].astype(np.float64) - after[name]) / rate
        assert np.abs(ours - theirs).max() < 2e-6, name
        checked += int(np.abs(ours).max() > 1e-4)
    assert checked >= 3


@pytest.mark.parametrize(("objective", "module", "options"), CASES, ids=lambda c: str(c))
def test_gradients_of_soft_losses_are_the_engine_s(objective, module, options, world, tmp_path):
    before, _ = step(objective, world, tmp_path / "a", 1e-30, **options)
    after, value = step(objective, world, tmp_path / "b", RATE, **options)
    w, logits = forward(before, world[0])
    loss = module(logits["out"], torch.tensor(world[1]))
    assert loss.item() == pytest.approx(value, rel=1e-5)
    compare(before, after, loss, w)


@pytest.mark.parametrize("soft", ["ce", "kl", "inverse-kl", "js"])
def test_gradients_of_two_heads_are_the_engine_s(soft, world, tmp_path):
    before, _ = step(f"gold+{soft}", world, tmp_path / "a", 1e-30, soft_weight=0.7)
    after, value = step(f"gold+{soft}", world, tmp_path / "b", RATE, soft_weight=0.7)
    w, logits = forward(before, world[0])
    loss = dt.loss(f"gold+{soft}", soft_weight=0.7)(logits["out"], logits["out.soft"], torch.tensor(world[2]), torch.tensor(world[1]))
    assert loss.item() == pytest.approx(value, rel=1e-5)
    compare(before, after, loss, w)


@pytest.mark.parametrize("kind", ["mw", "vw", "vb", "vwb", "sw"])
@pytest.mark.parametrize("on", ["logits", "probabilities"])
def test_gradients_of_the_crowd_layer_are_the_engine_s(kind, on, world, tmp_path):
    x, _, _, votes = world
    objective = f"crowd:{kind}:on={on}"
    before, _ = step(objective, world, tmp_path / "a", 1e-30)
    after, value = step(objective, world, tmp_path / "b", RATE)
    w, logits = forward(before, x)
    table = dissent.Votes(votes, classes=[0, 1, 2])
    item, worker, label = (torch.from_numpy(a) for a in table.rows())
    item = torch.tensor(table.tasks.tolist())[item]
    layer = dt.CrowdLayer(table.core.n_workers, K, kind, on).double()
    loss = layer(logits["out"], item, worker, label)
    assert loss.item() == pytest.approx(value, rel=1e-5)
    compare(before, after, loss, w)


def test_numerical_gradients(world):
    torch.manual_seed(0)
    z = torch.randn(6, K, dtype=torch.float64, requires_grad=True)
    p = torch.tensor(world[1][:6])
    for module in (dt.SoftCrossEntropyLoss(), dt.KLLoss(), dt.InverseKLLoss(), dt.JensenShannonLoss()):
        assert torch.autograd.gradcheck(lambda z, m=module: m(z, p), (z,))


def test_rows_without_a_target_and_weights(world):
    z, p = torch.randn(4, K, dtype=torch.float64), torch.tensor(world[1][:4])
    hole = p.clone()
    hole[3] = 0
    for module in (dt.KLLoss(), dt.JensenShannonLoss(), dt.SoftCrossEntropyLoss(), dt.InverseKLLoss()):
        assert module(z, hole).item() == pytest.approx(module(z[:3], p[:3]).item())
        twice = module(torch.cat([z, z[:1]]), torch.cat([p, p[:1]]))
        assert module(z, p, torch.tensor([2.0, 1, 1, 1])).item() == pytest.approx(twice.item())
        assert module(z, hole * 0).item() == 0
    assert dt.KLLoss()(p.log().clamp(min=-700), p).item() == pytest.approx(0, abs=1e-12)
    with pytest.raises(dissent.DataError, match="shape"):
        dt.KLLoss()(z, p[:, :2])
    with pytest.raises(dissent.OptionError, match="no loss for"):
        dt.loss("annotator")


def test_a_data_set_for_a_loader(world):
    x, p, gold, votes = world
    tasks = [f"t{i}" for i in range(N)]
    people = dissent.SoftLabels(tasks[::-1], ["a", "b", "c"], p[::-1])
    known = {f"t{i}": "abc"[c] for i, c in enumerate(gold) if i % 2}
    table = dissent.Votes([(f"t{i}", w, "abc"[c]) for i, w, c in votes], classes=["a", "b", "c"])
    data = dt.SoftLabelDataset(x, people, tasks=tasks, gold=known, votes=table, dtype=torch.float64)
    assert len(data) == N and torch.equal(data.target, torch.tensor(p)) and data.classes == ["a", "b", "c"]
    loader = torch.utils.data.DataLoader(data, batch_size=7, shuffle=True, collate_fn=data.collate)
    seen = []
    for batch in loader:
        n = len(batch["x"])
        assert batch["target"].shape == (n, K) and len(batch["vote_item"]) == 2 * n and int(batch["vote_item"].max()) == n - 1
        for row in range(n):
            i = int(np.argmin(np.abs(x - batch["x"][row].numpy()).sum(axis=1)))
            assert np.allclose(batch["target"][row], p[i]) and int(batch["gold"][row]) == (gold[i] if i % 2 else -1)
            at = batch["vote_item"] == row
            got = {(table.workers[w], c) for w, c in zip(batch["vote_worker"][at].tolist(), batch["vote_label"][at].tolist())}
            assert got == {(w, c) for j, w, c in votes if j == i}
            seen.append(i)
    assert sorted(seen) == list(range(N))
    texts = dt.SoftLabelDataset({"t3": "some text", "t1": "other"}, people)
    assert texts[0]["x"] == "some text" and np.allclose(texts[1]["target"], p[1])
    with pytest.raises(dissent.DataError, match="t99"):
        dt.SoftLabelDataset({"t99": 1.0}, people)


def test_a_crowd_layer_learns_what_annotators_do():
    """One of five annotators swaps two classes: the matrix shows it, those of the others do not. The network starts at zero:
    from a random start, it and the matrices can end in another optimum."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    x = torch.tensor(np.eye(3)[y] * 3 + rng.normal(0, 0.5, (300, 3)), dtype=torch.float32)
    swap = np.array([1, 0, 2])
    votes = [(i, f"w{w}", int(swap[c] if w < 1 else c)) for i, c in enumerate(y) for w in range(5)]
    data = dt.SoftLabelDataset(x, votes=votes, tasks=range(300))
    net, layer = torch.nn.Linear(3, 3), dt.CrowdLayer(data.n_workers, 3)
    torch.nn.init.zeros_(net.weight)
    torch.nn.init.zeros_(net.bias)
    optimizer = torch.optim.Adam([*net.parameters(), *layer.parameters()], lr=0.05)
    for _ in range(30):
        for batch in torch.utils.data.DataLoader(data, batch_size=64, collate_fn=data.collate):
            optimizer.zero_grad()
            layer(net(batch["x"]), batch["vote_item"], batch["vote_worker"], batch["vote_label"]).backward()
            optimizer.step()
    assert (net(x).argmax(1).numpy() == y).mean() > 0.9
    for worker, matrix in zip(data.votes.workers.tolist(), layer.matrix.detach().numpy()):
        swaps = matrix[0, 1] > matrix[0, 0] and matrix[1, 0] > matrix[1, 1]
        assert swaps == (worker == "w0")


def test_import_dissent_does_not_load_torch():
    code = "import sys, dissent; assert 'torch' not in sys.modules; import dissent.torch; assert 'torch' in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
