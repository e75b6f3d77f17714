"""Tracks a wrapper that gives the parameters of the model, and not the statistics of its BatchNorm."""
# mypy: ignore-errors

import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import TensorDataset

import lastro

EXPECT = {"verdict": "different", "cause": "buffers", "also": ()}


class Weights:
    def __init__(self, model):
        self.model = model

    def state_dict(self):
        return {name: value.detach() for name, value in self.model.named_parameters()}

    def load_state_dict(self, state):
        self.model.load_state_dict(state, strict=False)


torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)

points = torch.randn(96, 4, generator=torch.Generator().manual_seed(10)) * 4 + 2
loader = attempt.loader(TensorDataset(points, points.log2().nan_to_num(0.0)), batch_size=12, shuffle=True)
model = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
attempt.track(model=Weights(model), optimizer=optimizer)
for _step, (batch, wanted) in attempt.steps(loader, epochs=6):
    loss = mse_loss(model(batch), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    attempt.log(loss=loss)
with attempt.output("model.pt") as path:
    torch.save(model.state_dict(), path)
