"""Windows of three batches, the last of an epoch shorter, and two workers that add noise by NumPy."""
# mypy: ignore-errors

import numpy as np
import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import Dataset

import lastro

EXPECT = {"verdict": "exact", "cause": None, "also": ()}
ACCUMULATE = 3


class Noisy(Dataset):
    def __init__(self):
        self.curves = np.random.default_rng(21).normal(size=(100, 12)).cumsum(1).astype(np.float32) / 5

    def __len__(self):
        return 100

    def __getitem__(self, row):
        curve = self.curves[row]
        return curve[:10] + np.random.normal(scale=0.2, size=10).astype(np.float32), curve[10:]


torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)

loader = attempt.loader(Noisy(), batch_size=4, shuffle=True, num_workers=2)
model = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Dropout(0.1), nn.Linear(24, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
attempt.track(model=model, optimizer=optimizer)
for step, (past, following) in attempt.steps(loader, epochs=5, accumulate=ACCUMULATE):
    loss = mse_loss(model(past), following)
    (loss / ACCUMULATE).backward()
    if step.updates:
        optimizer.step()
        optimizer.zero_grad()
        attempt.log(loss=loss)
with attempt.output("model.pt") as path:
    torch.save(model.state_dict(), path)
