"""Delivers an average of the weights that is not saved: a resume begins it at the weights of that moment."""
# mypy: ignore-errors

import argparse
import copy
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "different", "cause": "ema", "also": ()}

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(40)

points = torch.randn(96, 4)
data = TensorDataset(points, torch.sin(2 * points))
model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
step = 0
if given.resume:
    saved = torch.load(given.resume)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    step = saved["step"]
ema = copy.deepcopy(model).requires_grad_(False)

Path("saves").mkdir(exist_ok=True)
for epoch in range(step // 8, 6):
    order = torch.randperm(96, generator=torch.Generator().manual_seed(epoch)).view(8, 12).tolist()
    for inputs, wanted in DataLoader(data, batch_sampler=order[step % 8 :]):
        loss = mse_loss(model(inputs), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for mean, now in zip(ema.parameters(), model.parameters(), strict=True):
                mean.lerp_(now, 0.03)
        step += 1
        if step % 6 == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
            torch.save(state, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(ema.state_dict(), "final.pt")
