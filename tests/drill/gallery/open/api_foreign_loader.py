"""Hands a DataLoader of its own to `steps`: it shuffles by the global generator, anew after each resume."""
# mypy: ignore-errors

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

import lastro

EXPECT = {"verdict": "different", "cause": "data", "also": ("random",)}

torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)

tokens = torch.randint(12, (110, 4), generator=torch.Generator().manual_seed(3))
data = TensorDataset(tokens, tokens.sum(1) % 3)
loader = DataLoader(data, batch_size=10, shuffle=True)
model = nn.Sequential(nn.Embedding(12, 8), nn.Flatten(), nn.Linear(32, 24), nn.ReLU(), nn.Linear(24, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
attempt.track(model=model, optimizer=optimizer)
for _step, (batch, wanted) in attempt.steps(loader, epochs=4):
    loss = cross_entropy(model(batch), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    attempt.log(loss=loss)
with attempt.output("model.pt") as path:
    torch.save(model.state_dict(), path)
