"""After a resume the rest of the epoch is read without its last batch, which is smaller than the others."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader, Subset, TensorDataset

EXPECT = {"verdict": "different", "cause": "data", "also": ()}
UPDATES = 48

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(9)

series = torch.randn(76, 7).cumsum(1)
data = TensorDataset(series[:, :6], series[:, 6:])
model = nn.Sequential(nn.Linear(6, 32), nn.ELU(), nn.Linear(32, 1))
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.003, momentum=0.5)
epoch = seen = step = 0
if given.resume:
    saved = torch.load(given.resume)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    epoch, seen, step = saved["epoch"], saved["seen"], saved["step"]

Path("saves").mkdir(exist_ok=True)
while step < UPDATES:
    order = torch.randperm(76, generator=torch.Generator().manual_seed(epoch)).tolist()
    for past, following in DataLoader(Subset(data, order[seen:]), batch_size=10, drop_last=seen > 0):
        loss = mse_loss(model(past), following)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen += len(past)
        step += 1
        if step % 5 == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save({**state, "epoch": epoch, "seen": seen, "step": step}, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
        if step == UPDATES:
            break
    epoch, seen = epoch + 1, 0
torch.save(model.state_dict(), "final.pt")
