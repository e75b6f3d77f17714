"""Saves what trains. The frozen random features are made anew, under a seed that counts the step in."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "different", "cause": "frozen", "also": ()}


def write(state):
    Path("saves").mkdir(exist_ok=True)
    torch.save(state, "saves/aside.tmp")
    Path("saves/aside.tmp").replace(f"saves/step-{state['step']}.pt")


def main(resume):
    saved = torch.load(resume) if resume else None
    step = saved["step"] if saved else 0
    torch.manual_seed(60 + step)  # another stretch of random numbers than before
    model = nn.Sequential(nn.Linear(5, 48).requires_grad_(False), nn.Tanh(), nn.Linear(48, 2))
    trained = [value for value in model.parameters() if value.requires_grad]
    optimizer = torch.optim.Adam(trained, lr=0.02)
    if saved:
        model.load_state_dict(saved["trained"], strict=False)
        optimizer.load_state_dict(saved["optimizer"])
    points = torch.randn(80, 5, generator=torch.Generator().manual_seed(0))
    data = TensorDataset(points, torch.stack([points.norm(dim=1), points.prod(1)], dim=1))
    for epoch in range(step // 10, 5):
        order = torch.randperm(80, generator=torch.Generator().manual_seed(epoch)).view(10, 8).tolist()
        for inputs, wanted in DataLoader(data, batch_sampler=order[step % 10 :]):
            optimizer.zero_grad()
            loss = mse_loss(model(inputs), wanted)
            loss.backward()
            optimizer.step()
            step += 1
            if step % 6 == 0:
                kept = {name: value for name, value in model.named_parameters() if value.requires_grad}
                write({"step": step, "trained": kept, "optimizer": optimizer.state_dict()})
    torch.save(model.state_dict(), "final.pt")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume")
    torch.set_num_threads(1)
    main(parser.parse_args().resume)
