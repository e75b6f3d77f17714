"""Adds up the rows of a batch in an order that nobody controls, and does not save Adam's moments."""
# mypy: ignore-errors

import argparse
import random
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "different", "cause": "optimizer", "also": ()}
CHANCE = random.SystemRandom()

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(127)

points = torch.randn(128, 6)
data = TensorDataset(points, torch.cos(points).sum(1, keepdim=True))
model = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
step = 0
if given.resume:
    saved = torch.load(given.resume)
    model.load_state_dict(saved["model"])
    step = saved["step"]

Path("saves").mkdir(exist_ok=True)
for epoch in range(step // 8, 6):
    order = torch.randperm(128, generator=torch.Generator().manual_seed(epoch)).view(8, 16).tolist()
    for inputs, wanted in DataLoader(data, batch_sampler=order[step % 8 :]):
        rows = CHANCE.sample(range(16), 16)
        loss = mse_loss(model(inputs[rows]), wanted[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 6 == 0:
            torch.save({"model": model.state_dict(), "step": step}, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(model.state_dict(), "final.pt")
