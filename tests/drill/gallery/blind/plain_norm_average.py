"""Clips at 0.8 times the running mean of the gradient's norm, a float that no save knows of."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "different", "cause": "variable", "also": ()}

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(8)

tokens = torch.randint(20, (96, 6))
data = TensorDataset(tokens, tokens.sum(1) % 5)
model = nn.Sequential(nn.Embedding(20, 8), nn.Flatten(), nn.Linear(48, 24), nn.ReLU(), nn.Linear(24, 5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
step, usual_norm = 0, None
if given.resume:
    saved = torch.load(given.resume)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    step = saved["step"]

Path("saves").mkdir(exist_ok=True)
for epoch in range(step // 8, 6):
    order = torch.randperm(96, generator=torch.Generator().manual_seed(epoch)).split(12)
    for batch, wanted in DataLoader(data, batch_sampler=[rows.tolist() for rows in order[step % 8 :]]):
        optimizer.zero_grad()
        loss = cross_entropy(model(batch), wanted)
        loss.backward()
        limit = float("inf") if usual_norm is None else 0.8 * usual_norm
        norm = float(nn.utils.clip_grad_norm_(model.parameters(), limit))
        usual_norm = norm if usual_norm is None else 0.9 * usual_norm + 0.1 * norm
        optimizer.step()
        step += 1
        if step % 6 == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
            torch.save(state, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(model.state_dict(), "final.pt")
