"""L-BFGS, which calls back for the loss several times in an update and remembers a history of gradients."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import mse_loss

EXPECT = {"verdict": "exact", "cause": None, "also": ()}

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(181)

points = torch.rand(64, 2) * 4 - 2
wanted = (points[:, :1] ** 2).sin() + points[:, 1:]
model = nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.3, max_iter=3, history_size=5)
step = 0
if given.resume:
    saved = torch.load(given.resume)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    step = saved["step"]


def closure():
    optimizer.zero_grad()
    loss = mse_loss(model(points), wanted)
    loss.backward()
    return loss


Path("saves").mkdir(exist_ok=True)
while step < 40:
    optimizer.step(closure)
    step += 1
    if step % 5 == 0:
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
        torch.save(state, "saves/aside.tmp")
        Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(model.state_dict(), "final.pt")
