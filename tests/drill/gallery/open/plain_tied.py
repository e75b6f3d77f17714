"""A tiny language model whose output layer is its embedding: one tensor under two names."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "exact", "cause": None, "also": ()}


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(32, 16)
        self.memory = nn.GRU(16, 16, batch_first=True)
        self.output = nn.Linear(16, 32, bias=False)
        self.output.weight = self.embedding.weight

    def forward(self, tokens):
        return self.output(self.memory(self.embedding(tokens))[0])


parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(191)

tokens = (torch.randint(32, (80, 1)) + 3 * torch.arange(8)) % 32
data = TensorDataset(tokens)
model = Language()
optimizer = torch.optim.AdamW(
    [
        {"params": [value for value in model.parameters() if value.ndim > 1], "weight_decay": 0.1},
        {"params": [value for value in model.parameters() if value.ndim == 1], "weight_decay": 0.0},
    ],
    lr=0.01,
)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.02, total_steps=50)
parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
step = 0
if given.resume:
    saved = torch.load(given.resume)
    for name, part in parts.items():
        part.load_state_dict(saved[name])
    step = saved["step"]

Path("saves").mkdir(exist_ok=True)
for epoch in range(step // 10, 4):
    order = torch.randperm(80, generator=torch.Generator().manual_seed(epoch)).view(10, 8).tolist()
    for (batch,) in DataLoader(data, batch_sampler=order[step % 10 :]):
        loss = cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        step += 1
        if step % 6 == 0:
            state = {name: part.state_dict() for name, part in parts.items()}
            torch.save({**state, "step": step}, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(model.state_dict(), "final.pt")
