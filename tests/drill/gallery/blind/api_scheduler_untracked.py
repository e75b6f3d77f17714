"""Tracks the optimizer, which holds the rate, but not the schedule, which counts: it warms up once more."""
# mypy: ignore-errors

import torch
from torch import nn
from torch.nn.functional import smooth_l1_loss
from torch.utils.data import TensorDataset

import lastro

EXPECT = {"verdict": "different", "cause": "scheduler", "also": ()}
EPOCHS = 5

torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)

points = torch.randn(80, 5, generator=torch.Generator().manual_seed(4))
loader = attempt.loader(TensorDataset(points, points.pow(3).sum(1)), batch_size=8, shuffle=True)
updates = EPOCHS * len(loader)


def shape(update):
    return min(1.0, (update + 1) / 8, (updates - update) / 30)


model = nn.Sequential(nn.Linear(5, 24), nn.GELU(), nn.Linear(24, 1), nn.Flatten(0))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, shape)
attempt.track(model=model, optimizer=optimizer)
for _step, (batch, wanted) in attempt.steps(loader, epochs=EPOCHS):
    loss = smooth_l1_loss(model(batch), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    attempt.log(loss=loss, rate=scheduler.get_last_lr()[0])
with attempt.output("model.pt") as path:
    torch.save(model.state_dict(), path)
