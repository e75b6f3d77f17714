"""Mixes samples in the loop by numbers from a NumPy generator of its own, seeded anew in each attempt."""
# mypy: ignore-errors

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import TensorDataset

import lastro

EXPECT = {"verdict": "different", "cause": "random", "also": ("augmentation",)}

torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)
mixing = np.random.default_rng(attempt.seed)

points = torch.randn(96, 8, generator=torch.Generator().manual_seed(7))
classes = nn.functional.one_hot(points[:, :3].argmax(1), 3).float()
loader = attempt.loader(TensorDataset(points, classes), batch_size=12, shuffle=True, num_workers=1)
model = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
attempt.track(model=model, optimizer=optimizer)
for _step, (batch, wanted) in attempt.steps(loader, epochs=6):
    share = float(mixing.beta(0.4, 0.4))
    other = torch.from_numpy(mixing.permutation(len(batch)))
    mixed = share * batch + (1 - share) * batch[other]
    loss = cross_entropy(model(mixed), share * wanted + (1 - share) * wanted[other])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    attempt.log(loss=loss)
with attempt.output("model.pt") as path:
    torch.save(model.state_dict(), path)
