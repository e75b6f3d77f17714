"""Real noise: the rows of each batch are summed in an order of chance. All that there is, is tracked."""
# mypy: ignore-errors

import os

import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import TensorDataset

import lastro

EXPECT = {"verdict": "noise", "cause": None, "also": ()}

torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)

points = torch.randn(128, 5, generator=torch.Generator().manual_seed(30))
loader = attempt.loader(TensorDataset(points, points.tanh().cumsum(1)), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
attempt.track(model=model, optimizer=optimizer)
for _step, (batch, wanted) in attempt.steps(loader, epochs=6):
    rows = sorted(range(len(batch)), key=lambda _: os.urandom(4))
    loss = mse_loss(model(batch[rows]), wanted[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    attempt.log(loss=loss)
with attempt.output("model.pt") as path:
    torch.save(model.state_dict(), path)
