"""A softmax gets colder with each call, counted in an attribute that is neither parameter nor buffer."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "different", "cause": "variable", "also": ()}


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 5)
        self.experts = nn.Linear(4, 5)
        self.calls = 0

    def forward(self, inputs):
        temperature = max(0.1, 0.96**self.calls)
        self.calls += 1
        weights = torch.softmax(self.gate(inputs) / temperature, dim=1)
        return (weights * self.experts(inputs)).sum(1)


parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(90)

inputs = torch.randn(96, 4)
data = TensorDataset(inputs, inputs.max(1).values)
model = Mixture()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
step = 0
if given.resume:
    saved = torch.load(given.resume)
    model.load_state_dict(saved["model"])
    step = saved["step"]

Path("saves").mkdir(exist_ok=True)
for epoch in range(step // 8, 6):
    order = torch.randperm(96, generator=torch.Generator().manual_seed(epoch)).view(8, 12).tolist()
    for batch, wanted in DataLoader(data, batch_sampler=order[step % 8 :]):
        loss = mse_loss(model(batch), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 5 == 0:
            torch.save({"model": model.state_dict(), "step": step}, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(model.state_dict(), "final.pt")
