"""Gathers gradients over three batches, and saves only when a window is complete."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "exact", "cause": None, "also": ()}
WINDOW, PER_EPOCH, BATCHES = 3, 16, 120

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(199)

points = torch.randn(128, 5)
data = TensorDataset(points, (points @ torch.randn(5, 3)).argmax(1))
model = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, dampening=0.1)
batches = 0
if given.resume:
    saved = torch.load(given.resume)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    batches = saved["batches"]

Path("saves").mkdir(exist_ok=True)
while batches < BATCHES:
    epoch, done = divmod(batches, PER_EPOCH)
    order = torch.randperm(128, generator=torch.Generator().manual_seed(epoch)).view(PER_EPOCH, 8)
    for inputs, wanted in DataLoader(data, batch_sampler=order[done:].tolist()):
        loss = cross_entropy(model(inputs), wanted)
        (loss / WINDOW).backward()
        batches += 1
        if batches % WINDOW == 0:
            optimizer.step()
            optimizer.zero_grad()
            update = batches // WINDOW
            if update % 5 == 0:
                state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
                torch.save({**state, "batches": batches}, "saves/aside.tmp")
                Path("saves/aside.tmp").replace(f"saves/step-{update}.pt")
        if batches == BATCHES:
            break
torch.save(model.state_dict(), "final.pt")
