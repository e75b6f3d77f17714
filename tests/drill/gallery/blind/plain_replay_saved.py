"""Learns values from a buffer of what an agent has lived through; buffer and its generator are saved."""
# mypy: ignore-errors

import argparse
import random
from collections import deque
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import smooth_l1_loss

EXPECT = {"verdict": "exact", "cause": None, "also": ()}
CELLS = 8

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(197)

values = nn.Sequential(nn.Linear(CELLS, 24), nn.ReLU(), nn.Linear(24, 2))
target = nn.Sequential(nn.Linear(CELLS, 24), nn.ReLU(), nn.Linear(24, 2))
target.load_state_dict(values.state_dict())
optimizer = torch.optim.Adam(values.parameters(), lr=0.01)
chance = random.Random(197)
lived = deque(maxlen=128)
cell = step = 0
if given.resume:
    saved = torch.load(given.resume, weights_only=False)
    values.load_state_dict(saved["values"])
    target.load_state_dict(saved["target"])
    optimizer.load_state_dict(saved["optimizer"])
    chance.setstate(saved["chance"])
    lived.extend(saved["lived"])
    cell, step = saved["cell"], saved["step"]

seen = torch.eye(CELLS)
Path("saves").mkdir(exist_ok=True)
while step < 48:
    for _ in range(8):
        greedy = int(values(seen[cell]).argmax())
        action = greedy if chance.random() > 0.3 else chance.randrange(2)
        after = min(CELLS - 1, cell + 1) if action else max(0, cell - 1)
        lived.append((cell, action, float(after == CELLS - 1), after))
        cell = 0 if after == CELLS - 1 else after
    before, did, reward, after = map(torch.tensor, zip(*chance.sample(lived, 8), strict=True))
    with torch.no_grad():
        goal = reward + 0.9 * target(seen[after]).max(1).values
    loss = smooth_l1_loss(values(seen[before]).gather(1, did[:, None])[:, 0], goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    if step % 10 == 0:
        target.load_state_dict(values.state_dict())
    if step % 6 == 0:
        state = {"values": values.state_dict(), "target": target.state_dict(), "step": step}
        state |= {"optimizer": optimizer.state_dict(), "chance": chance.getstate()}
        state |= {"lived": list(lived), "cell": cell}
        torch.save(state, "saves/aside.tmp")
        Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(values.state_dict(), "final.pt")
