"""Calls the safe point after each batch, though seven of them make an update: half a gradient is lost."""
# mypy: ignore-errors

import torch
from torch import nn
from torch.nn.functional import cross_entropy

import lastro

EXPECT = {"verdict": "different", "cause": "accumulation", "also": ()}
WINDOW, PER_EPOCH, BATCHES = 7, 28, 280

torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)

points = torch.randn(112, 6, generator=torch.Generator().manual_seed(5))
labels = points[:, :3].argmax(1)
model = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
attempt.track(model=model, optimizer=optimizer)
done = attempt.restore()
while done < BATCHES:
    order = torch.randperm(112, generator=torch.Generator().manual_seed(done // PER_EPOCH))
    rows = order.view(PER_EPOCH, 4)[done % PER_EPOCH]
    loss = cross_entropy(model(points[rows]), labels[rows])
    (loss / WINDOW).backward()
    done += 1
    if done % WINDOW == 0:
        optimizer.step()
        optimizer.zero_grad()
        attempt.log(loss=loss)
    attempt.safe_point(done)
attempt.save()
with attempt.output("model.pt") as path:
    torch.save(model.state_dict(), path)
