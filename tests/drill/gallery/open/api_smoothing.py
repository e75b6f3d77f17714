"""Smooths the labels less and less; how far it has come stands in a local variable."""
# mypy: ignore-errors

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import TensorDataset

import lastro

EXPECT = {"verdict": "different", "cause": "variable", "also": ()}

torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)

images = torch.rand(96, 1, 5, 5, generator=torch.Generator().manual_seed(6))
data = TensorDataset(images, images[:, 0, 0, :4].argmax(1))
loader = attempt.loader(data, batch_size=12, shuffle=True)
model = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Flatten(), nn.Linear(54, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=48)
attempt.track(model=model, optimizer=optimizer, scheduler=scheduler)
smoothing = 0.5
for _step, (batch, wanted) in attempt.steps(loader, epochs=6):
    loss = cross_entropy(model(batch), wanted, label_smoothing=smoothing)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    smoothing *= 0.93
    attempt.log(loss=loss)
with attempt.output("model.pt") as path:
    torch.save(model.state_dict(), path)
