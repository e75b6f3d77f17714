"""Saves after batches 21, 41, ..., the first of a window of four: the gradient gathered so far is gone."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "different", "cause": "accumulation", "also": ()}
WINDOW, PER_EPOCH = 4, 32

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(31)

points = torch.randn(128, 6)
data = TensorDataset(points, (points.sum(1) > 0).long() + (points[:, 0] > 1).long())
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
batches = 0
if given.resume:
    saved = torch.load(given.resume)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    batches = saved["batches"]

Path("saves").mkdir(exist_ok=True)
for epoch in range(batches // PER_EPOCH, 6):
    order = torch.randperm(128, generator=torch.Generator().manual_seed(epoch)).view(PER_EPOCH, 4)
    for inputs, wanted in DataLoader(data, batch_sampler=order[batches % PER_EPOCH :].tolist()):
        loss = cross_entropy(model(inputs), wanted) / WINDOW
        loss.backward()
        batches += 1
        if batches % WINDOW == 0:
            optimizer.step()
            optimizer.zero_grad()
        if batches % 20 == 1 and batches > 1:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "batches": batches}
            torch.save(state, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{batches}.pt")
torch.save(model.state_dict(), "final.pt")
