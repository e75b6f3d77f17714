"""Validates within the loop with a loader of lastro's, in evaluation mode, and logs the time that it took."""
# mypy: ignore-errors

import time

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import TensorDataset

import lastro

EXPECT = {"verdict": "exact", "cause": None, "also": ()}

torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)

images = torch.rand(150, 1, 5, 5, generator=torch.Generator().manual_seed(28))
labels = (images[:, 0].diagonal(dim1=1, dim2=2).sum(1) > 2.5).long()
loader = attempt.loader(TensorDataset(images[:100], labels[:100]), batch_size=12, shuffle=True)
held_back = attempt.loader(TensorDataset(images[100:], labels[100:]), batch_size=25)
model = nn.Sequential(
    nn.Conv2d(1, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.Flatten(), nn.Dropout(0.2), nn.Linear(54, 2)
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[20, 35], gamma=0.3)
attempt.track(model=model, optimizer=optimizer, scheduler=scheduler)
for step, (batch, wanted) in attempt.steps(loader, epochs=5):
    loss = cross_entropy(model(batch), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    attempt.log(loss=loss)
    if step.ends_epoch:
        began = time.monotonic()
        model.eval()
        with torch.no_grad():
            right = sum(int((model(part).argmax(1) == truth).sum()) for part, truth in held_back)
        model.train()
        attempt.log(right=right, seconds=time.monotonic() - began)
with attempt.output("model.pt") as path:
    torch.save(model.state_dict(), path)
