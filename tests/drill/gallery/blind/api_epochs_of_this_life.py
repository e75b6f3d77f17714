"""A loop by hand whose order is seeded by the epochs counted in this attempt, not in the run."""
# mypy: ignore-errors

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

import lastro

EXPECT = {"verdict": "different", "cause": "data", "also": ()}
PER_EPOCH, EPOCHS = 4, 12

torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)

points = torch.randn(48, 6, generator=torch.Generator().manual_seed(11))
data = TensorDataset(points, (points.sum(1) > 0).long())
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.005)
attempt.track(model=model, optimizer=optimizer)
step = attempt.restore()
for epoch, _left in enumerate(range(step // PER_EPOCH, EPOCHS)):
    order = torch.randperm(48, generator=torch.Generator().manual_seed(epoch)).view(PER_EPOCH, 12)
    for inputs, wanted in DataLoader(data, batch_sampler=order[step % PER_EPOCH :].tolist()):
        loss = cross_entropy(model(inputs), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        attempt.log(loss=loss)
        step += 1
        attempt.safe_point(step)
attempt.save()
with attempt.output("model.pt") as path:
    torch.save(model.state_dict(), path)
