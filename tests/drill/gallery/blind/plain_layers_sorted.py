"""Rebuilds the optimizer from the sorted names in the save: blocks.10 comes before blocks.2.

The moments of one layer go to another one of the same shape, and nothing complains.
"""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "different", "cause": "optimizer", "also": ()}
PER_EPOCH, UPDATES = 10, 50


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(12, 12, bias=False) for _ in range(12))
        self.enter = nn.Linear(6, 12, bias=False)
        self.leave = nn.Linear(12, 2, bias=False)

    def forward(self, inputs):
        hidden = self.enter(inputs)
        for block in self.blocks:
            hidden = hidden + 0.3 * torch.tanh(block(hidden))
        return self.leave(hidden)


def write_save(step, model, optimizer):
    Path("saves").mkdir(exist_ok=True)
    state = {"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(state, "saves/writing")
    Path("saves/writing").rename(f"saves/step-{step}.pt")


def main(resume):
    torch.manual_seed(3)
    inputs = torch.randn(80, 6)
    data = TensorDataset(inputs, torch.stack([inputs.sin().sum(1), inputs.prod(1)], dim=1))
    model = Residual()
    step = 0
    if resume is None:
        optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    else:
        saved = torch.load(resume)
        step = saved["step"]
        model.load_state_dict(saved["model"])
        parameters = dict(model.named_parameters())
        optimizer = torch.optim.Adam([parameters[name] for name in sorted(saved["model"])], lr=0.003)
        optimizer.load_state_dict(saved["optimizer"])
    while step < UPDATES:
        order = torch.randperm(80, generator=torch.Generator().manual_seed(100 + step // PER_EPOCH))
        rows = [part.tolist() for part in order.split(8)]
        for batch, target in DataLoader(data, batch_sampler=rows[step % PER_EPOCH :]):
            optimizer.zero_grad()
            loss = mse_loss(model(batch), target)
            loss.backward()
            optimizer.step()
            step += 1
            if step % 5 == 0:
                write_save(step, model, optimizer)
    torch.save(model.state_dict(), "final.pt")


if __name__ == "__main__":
    torch.set_num_threads(1)
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--resume")
    main(arguments.parse_args().resume)
