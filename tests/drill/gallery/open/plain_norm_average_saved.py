"""Clips by a running mean of the gradient's norm and lowers the rate on a plateau; both are saved."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "exact", "cause": None, "also": ()}

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(239)

points = torch.randn(128, 5)
answers = points.prod(1, keepdim=True) + 0.5 * torch.randn(128, 1)
data = TensorDataset(points[:96], answers[:96])
model = nn.Sequential(nn.Linear(5, 28), nn.ReLU(), nn.Linear(28, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.7, patience=1)
step, usual_norm = 0, 1.0
if given.resume:
    saved = torch.load(given.resume)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    plateau.load_state_dict(saved["plateau"])
    step, usual_norm = saved["step"], saved["usual_norm"]

Path("saves").mkdir(exist_ok=True)
for epoch in range(step // 12, 4):
    order = torch.randperm(96, generator=torch.Generator().manual_seed(epoch)).view(12, 8).tolist()
    for inputs, wanted in DataLoader(data, batch_sampler=order[step % 12 :]):
        loss = mse_loss(model(inputs), wanted)
        optimizer.zero_grad()
        loss.backward()
        norm = float(nn.utils.clip_grad_norm_(model.parameters(), 1.2 * usual_norm))
        usual_norm = 0.9 * usual_norm + 0.1 * norm
        optimizer.step()
        step += 1
        if step % 2 == 0:
            with torch.no_grad():
                plateau.step(mse_loss(model(points[96:]), answers[96:]).item())
        if step % 6 == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            state |= {"plateau": plateau.state_dict(), "step": step, "usual_norm": usual_norm}
            torch.save(state, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(model.state_dict(), "final.pt")
