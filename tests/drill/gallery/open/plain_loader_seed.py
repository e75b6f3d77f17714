"""Shuffles by the global generator, which is put back before the loader draws its seed from it.

Within an epoch that gives another order than the one whose first batches are then skipped.
"""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "different", "cause": "data", "also": ("random",)}

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(113)

points = torch.randn(110, 4)
data = TensorDataset(points, (points.prod(1) > 0).long())
loader = DataLoader(data, batch_size=10, shuffle=True)
model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
step = 0
if given.resume:
    saved = torch.load(given.resume)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    torch.set_rng_state(saved["random"])
    step = saved["step"]

Path("saves").mkdir(exist_ok=True)
skipped = step % len(loader)
for _epoch in range(step // len(loader), 4):
    for at, (inputs, wanted) in enumerate(loader):
        if at < skipped:
            continue
        loss = cross_entropy(model(inputs), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 6 == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save({**state, "step": step, "random": torch.get_rng_state()}, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
    skipped = 0
torch.save(model.state_dict(), "final.pt")
