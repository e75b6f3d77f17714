"""Real noise: each gradient gets a little of a generator that nobody seeds. All that can be is saved."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "noise", "cause": None, "also": ()}
NOISE = np.random.default_rng()

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(223)

points = torch.randn(96, 6)
data = TensorDataset(points, torch.tanh(points).sum(1, keepdim=True))
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.005)
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=48)
parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
step = 0
if given.resume:
    saved = torch.load(given.resume)
    for name, part in parts.items():
        part.load_state_dict(saved[name])
    step = saved["step"]

Path("saves").mkdir(exist_ok=True)
for epoch in range(step // 8, 6):
    order = torch.randperm(96, generator=torch.Generator().manual_seed(epoch)).view(8, 12).tolist()
    for inputs, wanted in DataLoader(data, batch_sampler=order[step % 8 :]):
        loss = mse_loss(model(inputs), wanted)
        optimizer.zero_grad()
        loss.backward()
        for value in model.parameters():
            value.grad *= torch.from_numpy(NOISE.normal(1, 1e-6, tuple(value.shape)).astype(np.float32))
        optimizer.step()
        scheduler.step()
        step += 1
        if step % 6 == 0:
            state = {name: part.state_dict() for name, part in parts.items()}
            torch.save({**state, "step": step}, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(model.state_dict(), "final.pt")
