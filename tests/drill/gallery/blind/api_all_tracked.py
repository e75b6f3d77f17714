"""The common case: dropout, AdamW, a cosine schedule, and samples that are flipped by chance."""
# mypy: ignore-errors

import random

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import Dataset

import lastro

EXPECT = {"verdict": "exact", "cause": None, "also": ()}


class Flipped(Dataset):
    def __init__(self):
        self.images = torch.rand(100, 16, generator=torch.Generator().manual_seed(20))

    def __len__(self):
        return 100

    def __getitem__(self, row):
        image = self.images[row]
        label = int(image[:8].sum() > image[8:].sum())
        return (image.flip(0), 1 - label) if random.random() < 0.5 else (image, label)


torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)

loader = attempt.loader(Flipped(), batch_size=12, shuffle=True)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=5 * len(loader))
attempt.track(model=model, optimizer=optimizer, scheduler=scheduler)
for _step, (batch, wanted) in attempt.steps(loader, epochs=5):
    loss = cross_entropy(model(batch), wanted)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    optimizer.zero_grad()
    attempt.log(loss=loss)
with attempt.output("model.pt") as path:
    torch.save(model.state_dict(), path)
