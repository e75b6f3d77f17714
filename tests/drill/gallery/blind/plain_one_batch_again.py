"""Saves the index of the batch that it has just done as the place to go on: that batch is done twice."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, Subset, TensorDataset

EXPECT = {"verdict": "different", "cause": "data", "also": ()}
BATCH, UPDATES = 8, 44


def remaining(data, epoch, batch):
    order = torch.randperm(len(data), generator=torch.Generator().manual_seed(epoch)).tolist()
    return DataLoader(Subset(data, order[batch * BATCH :]), batch_size=BATCH)


def main(resume):
    torch.manual_seed(6)
    texts = torch.randint(30, (72, 8))
    data = TensorDataset(texts, texts.max(1).values % 3)
    model = nn.Sequential(nn.EmbeddingBag(30, 12), nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    epoch = start = step = 0
    if resume:
        saved = torch.load(resume)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        epoch, start, step = saved["epoch"], saved["batch"], saved["step"]
    Path("saves").mkdir(exist_ok=True)
    while step < UPDATES:
        for batch, (text, label) in enumerate(remaining(data, epoch, start), start):
            loss = cross_entropy(model(text), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 5 == 0:
                state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
                torch.save({**state, "epoch": epoch, "batch": batch, "step": step}, "saves/aside")
                Path("saves/aside").replace(f"saves/step-{step}.pt")
            if step == UPDATES:
                break
        epoch, start = epoch + 1, 0
    torch.save(model.state_dict(), "final.pt")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume")
    torch.set_num_threads(1)
    main(parser.parse_args().resume)
