"""Sets the learning rate by a formula of the step before each update; there is no schedule to save."""
# mypy: ignore-errors

import argparse
import math
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy

EXPECT = {"verdict": "exact", "cause": None, "also": ()}
UPDATES, WARM_UP = 48, 6


def rate(step):
    if step < WARM_UP:
        return 0.02 * (step + 1) / WARM_UP
    return 0.01 * (1 + math.cos(math.pi * (step - WARM_UP) / (UPDATES - WARM_UP)))


parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(151)

text = torch.randint(24, (1200,))
text[1::2] = (text[::2] * 5 + 3) % 24
model = nn.Sequential(nn.Embedding(24, 12), nn.Flatten(), nn.Linear(36, 32), nn.ReLU(), nn.Linear(32, 24))
optimizer = torch.optim.AdamW(model.parameters(), lr=rate(0), weight_decay=0.1)
step = 0
if given.resume:
    saved = torch.load(given.resume)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    step = saved["step"]

Path("saves").mkdir(exist_ok=True)
with Path("log.txt").open("a") as log:
    while step < UPDATES:
        starts = torch.randint(1196, (16,), generator=torch.Generator().manual_seed(step))
        windows = torch.stack([text[at : at + 4] for at in starts.tolist()])
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        loss = cross_entropy(model(windows[:, :3]), windows[:, 3])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        log.write(f"{time.time():.3f} step {step} loss {loss.item():.4f}\n")
        if step % 6 == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
            torch.save(state, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(model.state_dict(), "final.pt")
