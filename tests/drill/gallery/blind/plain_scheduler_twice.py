"""Steps the restored schedule once more, "so that the rate is that of the coming update"."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import smooth_l1_loss
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "different", "cause": "scheduler", "also": ()}

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(21)

inputs = torch.randn(120, 5)
data = TensorDataset(inputs, inputs.abs().sum(1, keepdim=True))
net = nn.Sequential(nn.Linear(5, 16), nn.SiLU(), nn.Linear(16, 16), nn.SiLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=60)
parts = {"net": net, "optimizer": optimizer, "scheduler": scheduler}
update = 0
if given.resume:
    saved = torch.load(given.resume)
    for name, part in parts.items():
        part.load_state_dict(saved[name])
    update = saved["update"]
    scheduler.step()

Path("saves").mkdir(exist_ok=True)
for epoch in range(update // 12, 5):
    rows = torch.randperm(120, generator=torch.Generator().manual_seed(epoch)).split(10)
    for x, y in DataLoader(data, batch_sampler=[part.tolist() for part in rows[update % 12 :]]):
        loss = smooth_l1_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        update += 1
        if update % 6 == 0:
            state = {name: part.state_dict() for name, part in parts.items()}
            torch.save({**state, "update": update}, "saves/unfinished")
            Path("saves/unfinished").replace(f"saves/step-{update}.pt")
torch.save(net.state_dict(), "final.pt")
