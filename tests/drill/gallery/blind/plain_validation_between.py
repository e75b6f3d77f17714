"""Validates each four updates, in another mode and with a loader of its own, and notes the time of day."""
# mypy: ignore-errors

import argparse
import json
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "exact", "cause": None, "also": ()}


def validated(model, loader):
    model.eval()
    with torch.no_grad():
        right = sum(int((model(images).argmax(1) == labels).sum()) for images, labels in loader)
    model.train()
    return right


def main(resume):
    torch.manual_seed(179)
    images = torch.rand(144, 1, 5, 5)
    labels = (images[:, 0, :2].mean((1, 2)) > images[:, 0, 3:].mean((1, 2))).long()
    training = TensorDataset(images[:96], labels[:96])
    held_back = DataLoader(
        TensorDataset(images[96:], labels[96:]), batch_size=24, generator=torch.Generator()
    )
    model = nn.Sequential(
        nn.Conv2d(1, 5, 2), nn.BatchNorm2d(5), nn.ReLU(), nn.Flatten(), nn.Dropout(0.1), nn.Linear(80, 2)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9, weight_decay=1e-3)
    step, random_state = 0, None
    if resume:
        saved = torch.load(resume)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        step, random_state = saved["step"], saved["random"]
    Path("saves").mkdir(exist_ok=True)
    for epoch in range(step // 8, 6):
        shuffled = torch.Generator().manual_seed(epoch)
        order = torch.randperm(96, generator=shuffled).view(8, 12).tolist()
        if random_state is not None:
            torch.set_rng_state(random_state)
            random_state = None
        for batch, wanted in DataLoader(training, batch_sampler=order[step % 8 :], generator=shuffled):
            loss = cross_entropy(model(batch), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 4 == 0:
                line = {"step": step, "right": validated(model, held_back), "at": time.time()}
                with Path("metrics.jsonl").open("a") as log:
                    log.write(json.dumps(line) + "\n")
            if step % 6 == 0:
                state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
                state |= {"step": step, "random": torch.get_rng_state(), "at": time.time()}
                torch.save(state, "saves/aside.tmp")
                Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
    torch.save(model.state_dict(), "final.pt")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume")
    torch.set_num_threads(1)
    main(parser.parse_args().resume)
