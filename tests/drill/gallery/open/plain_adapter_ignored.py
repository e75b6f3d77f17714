"""Loads the save before the adapters are put in: strict=False ignores their weights without a word."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "different", "cause": "model", "also": ()}


class Adapted(nn.Module):
    def __init__(self, base, rank=2):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, base.in_features) / 4)
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, inputs):
        return self.base(inputs) + inputs @ self.down.T @ self.up.T


parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(70)

points = torch.randn(64, 10)
data = TensorDataset(points, points[:, :4].argmax(1))
model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 4))  # stands for a pretrained one
saved = torch.load(given.resume) if given.resume else None
if saved:
    model.load_state_dict(saved["model"], strict=False)
for at in (0, 2):
    model[at] = Adapted(model[at])
optimizer = torch.optim.AdamW([value for value in model.parameters() if value.requires_grad], lr=0.02)
if saved:
    optimizer.load_state_dict(saved["optimizer"])
step = saved["step"] if saved else 0

Path("saves").mkdir(exist_ok=True)
for epoch in range(step // 8, 6):
    order = torch.randperm(64, generator=torch.Generator().manual_seed(epoch)).view(8, 8).tolist()
    for inputs, wanted in DataLoader(data, batch_sampler=order[step % 8 :]):
        loss = cross_entropy(model(inputs), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 6 == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
            torch.save(state, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(model.state_dict(), "final.pt")
