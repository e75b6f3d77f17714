"""Makes its frozen random encoder after the restore, from random states that are then those of the save."""
# mypy: ignore-errors

import torch
from torch import nn
from torch.nn.functional import cross_entropy

import lastro

EXPECT = {"verdict": "different", "cause": "frozen", "also": ()}
PER_EPOCH, UPDATES = 10, 50

torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)

head = nn.Sequential(nn.Linear(40, 12), nn.ReLU(), nn.Linear(12, 2))
optimizer = torch.optim.SGD(head.parameters(), lr=0.1, momentum=0.9)
attempt.track(head=head, optimizer=optimizer)
step = attempt.restore()
encoder = nn.Sequential(nn.Linear(10, 40), nn.ReLU()).requires_grad_(False)

points = torch.randn(80, 10, generator=torch.Generator().manual_seed(9))
labels = (points.norm(dim=1) > 3.1).long()
while step < UPDATES:
    order = torch.randperm(80, generator=torch.Generator().manual_seed(step // PER_EPOCH))
    rows = order.view(PER_EPOCH, 8)[step % PER_EPOCH]
    loss = cross_entropy(head(encoder(points[rows])), labels[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    attempt.log(loss=loss)
    step += 1
    attempt.safe_point(step)
attempt.save()
with attempt.output("model.pt") as path:
    torch.save({"encoder": encoder.state_dict(), "head": head.state_dict()}, path)
