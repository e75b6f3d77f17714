"""Puts the random state back, and then makes an iterator that draws from it: the masks of dropout shift."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "different", "cause": "random", "also": ()}
PER_EPOCH = 11

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(131)

points = torch.randn(88, 6)
data = TensorDataset(points, points.roll(1, dims=1) * points)
model = nn.Sequential(nn.Linear(6, 40), nn.ReLU(), nn.Dropout(0.2), nn.Linear(40, 6))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
step = 0
if given.resume:
    saved = torch.load(given.resume)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    torch.set_rng_state(saved["random"])
    step = saved["step"]

Path("saves").mkdir(exist_ok=True)
for epoch in range(step // PER_EPOCH, 4):
    order = torch.randperm(88, generator=torch.Generator().manual_seed(epoch)).view(PER_EPOCH, 8)
    for inputs, wanted in DataLoader(data, batch_sampler=order[step % PER_EPOCH :].tolist()):
        loss = mse_loss(model(inputs), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 5 == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save({**state, "step": step, "random": torch.get_rng_state()}, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(model.state_dict(), "final.pt")
