"""The sampler is told its epoch at the end of each one, and not on a resume: epoch 0's order comes again."""
# mypy: ignore-errors

import argparse
from itertools import islice
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

EXPECT = {"verdict": "different", "cause": "data", "also": ()}

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(17)

points = torch.randn(48, 5)
data = TensorDataset(points, (points**2).sum(1, keepdim=True))
sampler = DistributedSampler(data, num_replicas=1, rank=0, seed=17)
loader = DataLoader(data, batch_size=12, sampler=sampler)
model = nn.Sequential(nn.Linear(5, 30), nn.ReLU(), nn.Linear(30, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
epoch = batches_done = step = 0
if given.resume:
    saved = torch.load(given.resume)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    step = saved["step"]
    epoch, batches_done = divmod(step, len(loader))

Path("saves").mkdir(exist_ok=True)
while epoch < 12:
    for inputs, wanted in islice(loader, batches_done, None):
        loss = mse_loss(model(inputs), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 6 == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
            torch.save(state, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
    batches_done = 0
    epoch += 1
    sampler.set_epoch(epoch)
torch.save(model.state_dict(), "final.pt")
