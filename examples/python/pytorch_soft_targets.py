"""Soft labels as targets of a PyTorch model. docs/guides/pytorch.md has the losses."""

import numpy as np
import torch
import torch.nn.functional as F

import dissent

rng = np.random.default_rng(0)
x = rng.normal(size=(200, 2)).astype(np.float32)
chance = 1 / (1 + np.exp(-3 * x[:, 0]))  # how likely people are to say yes
votes = [(i, w, "yes" if rng.random() < chance[i] else "no") for i in range(200) for w in range(5)]

people = dissent.Standard().fit(votes).result_
row = {task: i for i, task in enumerate(people.tasks)}
p = torch.from_dlpack(people).float()[[row[i] for i in range(200)]]  # in the order of x

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
for epoch in range(60):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(torch.from_numpy(x)), p)
    loss.backward()
    optimizer.step()

q = F.softmax(net(torch.from_numpy(x)).detach().double(), -1).numpy()
result = dissent.evaluate(dissent.SoftLabels(list(range(200)), people.classes, q), human=people)
print(f"loss {loss.item():.3f}, JSD to people {result.jsd:.4f} nats, entropy correlation {result.entropy_correlation:.2f}")
