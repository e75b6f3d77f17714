"""Lowers the rate when validation stands still. The rate is saved, how long it has stood still is not."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "different", "cause": "scheduler", "also": ()}

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(142)

points = torch.randn(120, 4)
answers = points.square().sum(1, keepdim=True) + torch.randn(120, 1)
data = TensorDataset(points[:80], answers[:80])
model = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.9, patience=2)
step = 0
if given.resume:
    saved = torch.load(given.resume)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    step = saved["step"]

Path("saves").mkdir(exist_ok=True)
for epoch in range(step // 10, 5):
    order = torch.randperm(80, generator=torch.Generator().manual_seed(epoch)).view(10, 8).tolist()
    for inputs, wanted in DataLoader(data, batch_sampler=order[step % 10 :]):
        optimizer.zero_grad()
        loss = mse_loss(model(inputs), wanted)
        loss.backward()
        optimizer.step()
        step += 1
        with torch.no_grad():
            plateau.step(mse_loss(model(points[112:]), answers[112:]))
        if step % 5 == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
            torch.save(state, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(model.state_dict(), "final.pt")
