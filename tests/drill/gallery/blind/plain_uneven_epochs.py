"""Epochs of seven batches and a shorter eighth, saves each five updates: the two never meet until the end."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader, Sampler, TensorDataset

EXPECT = {"verdict": "exact", "cause": None, "also": ()}


class Shuffled(Sampler):
    """Yields rows in an order of (seed, epoch), and knows how many of them were trained on."""

    def __init__(self, rows):
        self.rows, self.epoch, self.trained = rows, 0, 0

    def __iter__(self):
        order = torch.randperm(self.rows, generator=torch.Generator().manual_seed(1000 + self.epoch))
        yield from order[self.trained :].tolist()

    def __len__(self):
        return self.rows - self.trained


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume")
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(153)
    inputs = torch.randn(75, 5)
    data = TensorDataset(inputs, (inputs[:, :2] * inputs[:, 2:4]).sum(1, keepdim=True))
    sampler = Shuffled(len(data))
    loader = DataLoader(data, batch_size=10, sampler=sampler)
    model = nn.Sequential(nn.Linear(5, 20), nn.Softplus(), nn.Linear(20, 1))
    optimizer = torch.optim.NAdam(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.97)
    step = 0
    if given.resume:
        saved = torch.load(given.resume)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        scheduler.load_state_dict(saved["scheduler"])
        step, sampler.epoch, sampler.trained = saved["step"], saved["epoch"], saved["trained"]
    Path("saves").mkdir(exist_ok=True)
    while sampler.epoch < 6:
        for batch, wanted in loader:
            loss = mse_loss(model(batch), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            step += 1
            sampler.trained += len(batch)
            if step % 5 == 0:
                state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
                state |= {"scheduler": scheduler.state_dict()}
                state |= {"epoch": sampler.epoch, "trained": sampler.trained}
                torch.save(state, "saves/aside.tmp")
                Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
        sampler.epoch, sampler.trained = sampler.epoch + 1, 0
    torch.save(model.state_dict(), "final.pt")


if __name__ == "__main__":
    main()
