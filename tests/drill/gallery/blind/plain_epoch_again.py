"""Saves within epochs, and goes on at the beginning of the epoch: its first samples are seen twice."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "different", "cause": "data", "also": ()}
UPDATES = 48

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(13)

images = torch.rand(88, 1, 6, 6)
data = TensorDataset(images, (images.mean((1, 2, 3)) * 20).long() % 4)
model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
epoch = step = 0
if given.resume:
    saved = torch.load(given.resume)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    epoch, step = saved["epoch"], saved["step"]

Path("saves").mkdir(exist_ok=True)
while step < UPDATES:
    loader = DataLoader(data, batch_size=8, shuffle=True, generator=torch.Generator().manual_seed(epoch))
    for batch, wanted in loader:
        loss = cross_entropy(model(batch), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 5 == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save({**state, "epoch": epoch, "step": step}, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
        if step == UPDATES:
            break
    epoch += 1
torch.save(model.state_dict(), "final.pt")
