"""Tracks the model and forgets the optimizer."""
# mypy: ignore-errors

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import TensorDataset

import lastro

EXPECT = {"verdict": "different", "cause": "optimizer", "also": ()}

torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)

points = torch.randn(96, 6, generator=torch.Generator().manual_seed(1))
data = TensorDataset(points, (points[:, 0] * points[:, 1] > 0).long())
loader = attempt.loader(data, batch_size=12, shuffle=True)
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Dropout(0.1), nn.Linear(24, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
attempt.track(model=model)
for _step, (inputs, labels) in attempt.steps(loader, epochs=6):
    loss = cross_entropy(model(inputs), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    attempt.log(loss=loss)
with attempt.output("model.pt") as path:
    torch.save(model.state_dict(), path)
