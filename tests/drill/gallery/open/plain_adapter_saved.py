"""Saves only the adapters. The frozen base is not in the save; it is the same from its seed each time."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "exact", "cause": None, "also": ()}


class Adapted(nn.Module):
    def __init__(self, base, rank=3):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, values):
        return self.base(values) + self.up(self.down(values))


def trained(model):
    return {name: value for name, value in model.named_parameters() if value.requires_grad}


parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(233)

base = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 1))
points = torch.randn(72, 8)
data = TensorDataset(points, base(points).detach() + points[:, :1])
model = nn.Sequential(*(Adapted(part) if isinstance(part, nn.Linear) else part for part in base))
optimizer = torch.optim.AdamW(trained(model).values(), lr=0.01)
step = 0
if given.resume:
    saved = torch.load(given.resume)
    unused = model.load_state_dict(saved["adapters"], strict=False).unexpected_keys
    assert not unused
    optimizer.load_state_dict(saved["optimizer"])
    step = saved["step"]

Path("saves").mkdir(exist_ok=True)
for epoch in range(step // 9, 5):
    order = torch.randperm(72, generator=torch.Generator().manual_seed(epoch)).view(9, 8).tolist()
    for inputs, wanted in DataLoader(data, batch_sampler=order[step % 9 :]):
        loss = mse_loss(model(inputs), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 5 == 0:
            state = {"adapters": trained(model), "optimizer": optimizer.state_dict(), "step": step}
            torch.save(state, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(model.state_dict(), "final.pt")
