"""A loop by hand: plain descent, rows and the rate by formulas of the step. No optimizer to track."""
# mypy: ignore-errors

import torch
from torch import nn
from torch.nn.functional import mse_loss

import lastro

EXPECT = {"verdict": "exact", "cause": None, "also": ()}
UPDATES = 50

torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)

points = torch.randn(128, 4, generator=torch.Generator().manual_seed(26))
wanted = (points[:, :2] - points[:, 2:]).abs()
model = nn.Sequential(nn.Linear(4, 20), nn.ReLU(), nn.Linear(20, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
attempt.track(model=model)
step = attempt.restore()
while step < UPDATES:
    rows = torch.randint(128, (12,), generator=torch.Generator().manual_seed(7000 + step))
    for group in optimizer.param_groups:
        group["lr"] = 0.1 * (1 - step / UPDATES)
    loss = mse_loss(model(points[rows]), wanted[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    attempt.log(loss=loss)
    step += 1
    attempt.safe_point(step)
attempt.save()
with attempt.output("model.pt") as path:
    torch.save(model.state_dict(), path)
