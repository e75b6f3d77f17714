"""Delivers an average of the weights, buffers included, and saves it with its count of updates."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "exact", "cause": None, "also": ()}

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(167)

points = torch.randn(80, 6) * 2 + 1
data = TensorDataset(points, (points[:, 0] > points[:, 1]).long())
model = nn.Sequential(nn.Linear(6, 20), nn.BatchNorm1d(20), nn.ReLU(), nn.Linear(20, 2))
average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.95), use_buffers=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
parts = {"model": model, "average": average, "optimizer": optimizer}
step = 0
if given.resume:
    saved = torch.load(given.resume)
    for name, part in parts.items():
        part.load_state_dict(saved[name])
    step = saved["step"]

Path("saves").mkdir(exist_ok=True)
for epoch in range(step // 10, 5):
    order = torch.randperm(80, generator=torch.Generator().manual_seed(epoch)).view(10, 8).tolist()
    for inputs, wanted in DataLoader(data, batch_sampler=order[step % 10 :]):
        loss = cross_entropy(model(inputs), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update_parameters(model)
        step += 1
        if step % 6 == 0:
            state = {name: part.state_dict() for name, part in parts.items()}
            torch.save({**state, "step": step}, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(average.state_dict(), "final.pt")
