"""Dropout, and no random states in the save: the masks of the first updates come again after a resume."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "different", "cause": "random", "also": ()}

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(1)

points = torch.randn(100, 6)
data = TensorDataset(points, (points[:, 0] > points[:, 1]).long())
model = nn.Sequential(nn.Linear(6, 40), nn.ReLU(), nn.Dropout(0.3), nn.Linear(40, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10, gamma=0.8)
step = 0
if given.resume:
    saved = torch.load(given.resume)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    scheduler.load_state_dict(saved["scheduler"])
    step = saved["step"]

Path("saves").mkdir(exist_ok=True)
for epoch in range(step // 10, 5):
    shuffled = torch.Generator().manual_seed(epoch)
    order = torch.randperm(100, generator=shuffled).view(10, 10)[step % 10 :]
    for batch, wanted in DataLoader(data, batch_sampler=order.tolist(), generator=shuffled):
        loss = cross_entropy(model(batch), wanted)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        scheduler.step()
        step += 1
        if step % 5 == 0:
            torch.save(
                {
                    "model": model.state_dict(),
                    "optimizer": optimizer.state_dict(),
                    "scheduler": scheduler.state_dict(),
                    "step": step,
                },
                "saves/aside.tmp",
            )
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(model.state_dict(), "final.pt")
