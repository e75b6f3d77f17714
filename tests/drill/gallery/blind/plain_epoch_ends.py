"""Saves only where epochs end: the global generator that shuffles and drops out is all there is to know."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "exact", "cause": None, "also": ()}

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(193)

points = torch.randn(66, 6)
data = TensorDataset(points, (points.abs().sum(1) > 5).long())
loader = DataLoader(data, batch_size=12, shuffle=True)
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Dropout(0.25), nn.Linear(24, 2))
optimizer = torch.optim.Adamax(model.parameters(), lr=0.01)
epoch = 0
if given.resume:
    saved = torch.load(given.resume)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    torch.set_rng_state(saved["random"])
    epoch = saved["epoch"]

Path("saves").mkdir(exist_ok=True)
while epoch < 8:
    for inputs, wanted in loader:
        loss = cross_entropy(model(inputs), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    epoch += 1
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
    torch.save({**state, "random": torch.get_rng_state()}, "saves/aside.tmp")
    Path("saves/aside.tmp").replace(f"saves/step-{epoch * len(loader)}.pt")
torch.save(model.state_dict(), "final.pt")
