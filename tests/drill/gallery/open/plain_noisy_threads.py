"""Real noise: four threads add their gradients up in the order in which they happen to be ready."""
# mypy: ignore-errors

import argparse
import random
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "noise", "cause": None, "also": ()}
JITTER = random.SystemRandom()

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(229)

points = torch.randn(128, 6)
data = TensorDataset(points, (points[:, :3].sum(1) > points[:, 3:].sum(1)).long())
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
step = 0
if given.resume:
    saved = torch.load(given.resume)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    step = saved["step"]


def gradients(inputs, wanted):
    time.sleep(JITTER.uniform(0, 0.002))
    loss = cross_entropy(model(inputs), wanted)
    return torch.autograd.grad(loss, list(model.parameters()))


Path("saves").mkdir(exist_ok=True)
with ThreadPoolExecutor(4) as threads:
    for epoch in range(step // 8, 6):
        order = torch.randperm(128, generator=torch.Generator().manual_seed(epoch)).view(8, 16).tolist()
        for inputs, wanted in DataLoader(data, batch_sampler=order[step % 8 :]):
            optimizer.zero_grad()
            shards = zip(inputs.chunk(4), wanted.chunk(4), strict=True)
            for ready in as_completed([threads.submit(gradients, *shard) for shard in shards]):
                for value, gradient in zip(model.parameters(), ready.result(), strict=True):
                    value.grad = gradient / 4 if value.grad is None else value.grad + gradient / 4
            optimizer.step()
            step += 1
            if step % 6 == 0:
                state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
                torch.save(state, "saves/aside.tmp")
                Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(model.state_dict(), "final.pt")
