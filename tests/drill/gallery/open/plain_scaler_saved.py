"""Half precision: GradScaler saved beside model and optimizer, gradients unscaled and clipped."""
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
torch.manual_seed(163)

inputs = torch.randn(96, 6)
data = TensorDataset(inputs, 3 * inputs.cumsum(1))
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 6))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**15, growth_interval=7)
parts = {"model": model, "optimizer": optimizer, "scaler": scaler}
step = 0
if given.resume:
    saved = torch.load(given.resume)
    for name, part in parts.items():
        part.load_state_dict(saved[name])
    step = saved["step"]

Path("saves").mkdir(exist_ok=True)
for epoch in range(step // 8, 7):
    order = torch.randperm(96, generator=torch.Generator().manual_seed(epoch)).view(8, 12).tolist()
    for batch, wanted in DataLoader(data, batch_sampler=order[step % 8 :]):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            loss = mse_loss(model(batch).float(), wanted)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        step += 1
        if step % 6 == 0:
            state = {name: part.state_dict() for name, part in parts.items()}
            torch.save({**state, "step": step}, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(model.state_dict(), "final.pt")
