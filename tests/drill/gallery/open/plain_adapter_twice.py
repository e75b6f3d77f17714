"""Loads the adapters rightly; then the part that prepares every model wraps it in a second set of them."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "different", "cause": "model", "also": ()}
PER_EPOCH = 6


class LowRank(nn.Module):
    def __init__(self, inner, inputs, outputs):
        super().__init__()
        self.inner = inner.requires_grad_(False)
        self.down = nn.Linear(inputs, 2, bias=False)
        self.up = nn.Linear(2, outputs, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, values):
        return self.inner(values) + self.up(self.down(values))


def prepared(model):
    """Freeze the model and give it adapters, ready for training."""
    model.hidden = LowRank(model.hidden, 6, 16)
    model.head = LowRank(model.head, 16, 2)
    adapters = [value for value in model.parameters() if value.requires_grad]
    return model, torch.optim.Adam(adapters, lr=0.02)


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.head = nn.Linear(6, 16), nn.Linear(16, 2)

    def forward(self, values):
        return self.head(torch.relu(self.hidden(values)))


def main(resume):
    torch.manual_seed(75)
    values = torch.randn(60, 6)
    data = TensorDataset(values, torch.stack([values[:, :3].sum(1), values[:, 3:].prod(1)], 1))
    model, step = Base(), 0
    if resume:
        saved = torch.load(resume)
        model, _ = prepared(model)
        model.load_state_dict(saved["model"], strict=False)
        step = saved["step"]
    model, optimizer = prepared(model)
    if resume:
        optimizer.load_state_dict(saved["optimizer"])
    Path("saves").mkdir(exist_ok=True)
    for epoch in range(step // PER_EPOCH, 8):
        order = torch.randperm(60, generator=torch.Generator().manual_seed(epoch)).split(10)
        rest = [rows.tolist() for rows in order[step % PER_EPOCH :]]
        for batch, wanted in DataLoader(data, batch_sampler=rest):
            loss = mse_loss(model(batch), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 5 == 0:
                state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
                torch.save(state, "saves/aside.tmp")
                Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
    with torch.no_grad():
        answers = model(values)
    torch.save({"answers": answers}, "final.pt")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume")
    torch.set_num_threads(1)
    main(parser.parse_args().resume)
