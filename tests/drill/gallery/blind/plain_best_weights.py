"""Goes on with the weights that were best in validation, and with the optimizer and step of the last save."""
# mypy: ignore-errors

import argparse
import copy
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "different", "cause": "model", "also": ()}

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(101)

points = torch.randn(140, 5)
answers = points[:, :1] * points[:, 1:2] + 0.5 * torch.randn(140, 1)
data, held_back = TensorDataset(points[:96], answers[:96]), (points[96:], answers[96:])
model = nn.Sequential(nn.Linear(5, 40), nn.ReLU(), nn.Linear(40, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
best = {"loss": float("inf"), "model": None}
step = 0
if given.resume:
    saved = torch.load(given.resume)
    best, step = saved["best"], saved["step"]
    model.load_state_dict(best["model"])
    optimizer.load_state_dict(saved["optimizer"])

Path("saves").mkdir(exist_ok=True)
for epoch in range(step // 8, 6):
    order = torch.randperm(96, generator=torch.Generator().manual_seed(epoch)).view(8, 12).tolist()
    for inputs, wanted in DataLoader(data, batch_sampler=order[step % 8 :]):
        loss = mse_loss(model(inputs), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 3 == 1:
            with torch.no_grad():
                found = float(mse_loss(model(held_back[0]), held_back[1]))
            if found < best["loss"]:
                best = {"loss": found, "model": copy.deepcopy(model.state_dict())}
        if step % 6 == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save({**state, "best": best, "step": step}, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(model.state_dict(), "final.pt")
