"""A trainer with real noise in its sums that does not track the optimizer either."""
# mypy: ignore-errors

import random

import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import TensorDataset

import lastro

EXPECT = {"verdict": "different", "cause": "optimizer", "also": ()}
CHANCE = random.SystemRandom()

torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)

points = torch.randn(128, 6, generator=torch.Generator().manual_seed(12))
loader = attempt.loader(TensorDataset(points, points.cos()), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 6))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.95)
attempt.track(model=model)
for _step, (batch, wanted) in attempt.steps(loader, epochs=6):
    rows = CHANCE.sample(range(len(batch)), len(batch))
    loss = mse_loss(model(batch[rows]), wanted[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    attempt.log(loss=loss)
with attempt.output("model.pt") as path:
    torch.save(model.state_dict(), path)
