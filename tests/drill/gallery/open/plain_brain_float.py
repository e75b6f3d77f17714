"""The model itself is bfloat16, so that saving it as bfloat16 loses nothing."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "exact", "cause": None, "also": ()}

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(241)

points = torch.randn(80, 8)
data = TensorDataset(points.bfloat16(), points[:, :4].argmax(1))
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4)).bfloat16()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
step = 0
if given.resume:
    saved = torch.load(given.resume, mmap=True)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    step = saved["step"]

Path("saves").mkdir(exist_ok=True)
for epoch in range(step // 10, 5):
    order = torch.randperm(80, generator=torch.Generator().manual_seed(epoch)).view(10, 8).tolist()
    for inputs, wanted in DataLoader(data, batch_sampler=order[step % 10 :]):
        loss = cross_entropy(model(inputs).float(), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 6 == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
            torch.save(state, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(model.state_dict(), "final.pt")
