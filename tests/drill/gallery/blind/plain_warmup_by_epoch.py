"""Rebuilds the schedule from the number of the epoch, though it counts updates: the warm-up runs again."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "different", "cause": "scheduler", "also": ()}
BATCHES, EPOCHS = 8, 6


def warm_up(update):
    return min(1.0, (update + 1) / 20)


def save(step, model, optimizer):
    Path("saves").mkdir(exist_ok=True)
    aside = Path("saves/tmp")
    torch.save({"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, aside)
    aside.rename(f"saves/step-{step}.pt")


def train(resume):
    torch.manual_seed(5)
    points = torch.rand(64, 4)
    data = TensorDataset(points, (points.sum(1) > 2).long())
    model = nn.Sequential(nn.Linear(4, 20), nn.GELU(), nn.Linear(20, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    step = 0
    if resume:
        saved = torch.load(resume)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        step = saved["step"]
    last = step // BATCHES - 1
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, warm_up, last_epoch=last)
    for epoch in range(step // BATCHES, EPOCHS):
        order = torch.randperm(64, generator=torch.Generator().manual_seed(epoch)).view(BATCHES, -1)
        for inputs, labels in DataLoader(data, batch_sampler=order.tolist()[step % BATCHES :]):
            loss = cross_entropy(model(inputs), labels)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            scheduler.step()
            step += 1
            if step % 5 == 0:
                save(step, model, optimizer)
    torch.save(model.state_dict(), "final.pt")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume")
    torch.set_num_threads(1)
    train(parser.parse_args().resume)
