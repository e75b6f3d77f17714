"""Saves the optimizer's moments as bfloat16; they come back as float32 with most of their bits gone."""
# mypy: ignore-errors

import argparse
import copy
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "different", "cause": "optimizer", "also": ()}

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(109)


def small(state):
    """Return a copy of the optimizer's state with every matrix and vector in 16 bits."""
    state = copy.deepcopy(state)
    for moments in state["state"].values():
        for name, value in moments.items():
            if value.ndim > 0:
                moments[name] = value.bfloat16()
    return state


tokens = torch.randint(16, (96, 5))
data = TensorDataset(tokens, (tokens[:, 0] + tokens[:, 4]) % 4)
model = nn.Sequential(nn.Embedding(16, 6), nn.Flatten(), nn.Linear(30, 20), nn.ReLU(), nn.Linear(20, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
step = 0
if given.resume:
    saved = torch.load(given.resume)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    step = saved["step"]

Path("saves").mkdir(exist_ok=True)
for epoch in range(step // 8, 6):
    order = torch.randperm(96, generator=torch.Generator().manual_seed(epoch)).view(8, 12).tolist()
    for batch, wanted in DataLoader(data, batch_sampler=order[step % 8 :]):
        loss = cross_entropy(model(batch), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 6 == 0:
            state = {"model": model.state_dict(), "optimizer": small(optimizer.state_dict()), "step": step}
            torch.save(state, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(model.state_dict(), "final.pt")
