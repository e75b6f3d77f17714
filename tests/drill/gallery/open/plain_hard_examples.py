"""Half of each batch comes from a list of the hardest samples seen so far, and that list is not saved."""
# mypy: ignore-errors

import argparse
from collections import deque
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "different", "cause": "variable", "also": ("data",)}
PER_EPOCH = 16

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(95)

points = torch.randn(128, 6)
labels = (points[:, 0] * points[:, 1] > points[:, 2]).long()
data = TensorDataset(torch.arange(128), points, labels)
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
hard = deque(maxlen=24)
step = 0
if given.resume:
    saved = torch.load(given.resume)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    step = saved["step"]

Path("saves").mkdir(exist_ok=True)
for epoch in range(step // PER_EPOCH, 3):
    order = torch.randperm(128, generator=torch.Generator().manual_seed(epoch)).view(PER_EPOCH, 8)
    for rows, _points, _labels in DataLoader(data, batch_sampler=order[step % PER_EPOCH :].tolist()):
        chosen = torch.cat([rows, torch.tensor(list(hard)[-8:], dtype=torch.long)])
        losses = cross_entropy(model(points[chosen]), labels[chosen], reduction="none")
        loss = losses.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        hard.extend(chosen[losses.detach().topk(3).indices].tolist())
        step += 1
        if step % 6 == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
            torch.save(state, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(model.state_dict(), "final.pt")
