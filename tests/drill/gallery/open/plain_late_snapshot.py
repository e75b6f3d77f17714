"""Writes the copy of the state that it took five updates ago, under the step of now."""
# mypy: ignore-errors

import argparse
import copy
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "different", "cause": "model", "also": ("optimizer", "data")}
PER_EPOCH = 9


class Saver:
    """Copies at each save, and writes the copy at the next one, when there is time for it."""

    def __init__(self, **parts):
        self.parts = parts
        self.waiting = self.copied()
        Path("saves").mkdir(exist_ok=True)

    def copied(self):
        return copy.deepcopy({name: part.state_dict() for name, part in self.parts.items()})

    def save(self, step):
        torch.save({**self.waiting, "step": step}, "saves/aside.tmp")
        Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
        self.waiting = self.copied()


def main(resume):
    torch.manual_seed(103)
    points = torch.randn(108, 7)
    data = TensorDataset(points, (points > 0).sum(1).clamp(2, 5) - 2)
    model = nn.Sequential(nn.Linear(7, 20), nn.Tanh(), nn.Linear(20, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.8)
    step = 0
    if resume:
        saved = torch.load(resume)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        step = saved["step"]
    saver = Saver(model=model, optimizer=optimizer)
    for epoch in range(step // PER_EPOCH, 5):
        order = torch.randperm(108, generator=torch.Generator().manual_seed(epoch)).view(PER_EPOCH, 12)
        for inputs, labels in DataLoader(data, batch_sampler=order[step % PER_EPOCH :].tolist()):
            loss = cross_entropy(model(inputs), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 5 == 0:
                saver.save(step)
    torch.save(model.state_dict(), "final.pt")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume")
    torch.set_num_threads(1)
    main(parser.parse_args().resume)
