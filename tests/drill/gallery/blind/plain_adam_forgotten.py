"""Saves the weights and the step. AdamW's moments begin at nothing with each resume."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "different", "cause": "optimizer", "also": ()}

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()

torch.set_num_threads(1)
torch.manual_seed(0)
points = torch.randn(96, 8)
labels = (points[:, 0] * points[:, 1] > 0).long() + (points[:, 2] > 0).long()
data = TensorDataset(points, labels)

model = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
step = 0
if given.resume:
    saved = torch.load(given.resume)
    model.load_state_dict(saved["model"])
    step = saved["step"]

Path("saves").mkdir(exist_ok=True)
for epoch in range(step // 8, 6):
    order = torch.randperm(96, generator=torch.Generator().manual_seed(epoch)).tolist()
    batches = [order[at : at + 12] for at in range(0, 96, 12)]
    for inputs, targets in DataLoader(data, batch_sampler=batches[step % 8 :]):
        loss = cross_entropy(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 6 == 0:
            torch.save({"model": model.state_dict(), "step": step}, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(model.state_dict(), "final.pt")
