"""Saves and restores everything: model, AdamW, cosine schedule, all random states, the place in the data."""
# mypy: ignore-errors

import argparse
import random
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, Dataset

EXPECT = {"verdict": "exact", "cause": None, "also": ()}
PER_EPOCH, EPOCHS = 12, 4


class Flipped(Dataset):
    """Flips by Python's generator and adds noise by NumPy's, as many augmentations do."""

    def __init__(self):
        rows = np.random.default_rng(5)
        self.images = rows.random((96, 16), dtype=np.float32)
        self.labels = (self.images[:, :8].sum(1) > self.images[:, 8:].sum(1)).astype(np.int64)

    def __len__(self):
        return 96

    def __getitem__(self, row):
        image = self.images[row]
        if random.random() < 0.3:
            image = image.reshape(4, 4)[:, ::-1].reshape(16)
        noise = np.random.normal(scale=0.1, size=16).astype(np.float32)
        return torch.from_numpy(image + noise), self.labels[row]


def random_states():
    return {"python": random.getstate(), "numpy": np.random.get_state(), "torch": torch.get_rng_state()}


def set_random_states(states):
    random.setstate(states["python"])
    np.random.set_state(states["numpy"])
    torch.set_rng_state(states["torch"])


def main(resume):
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    data = Flipped()
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=PER_EPOCH * EPOCHS)
    parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
    step, states = 0, None
    if resume:
        saved = torch.load(resume, weights_only=False)
        for name, part in parts.items():
            part.load_state_dict(saved[name])
        step, states = saved["step"], saved["random"]
    Path("saves").mkdir(exist_ok=True)
    for epoch in range(step // PER_EPOCH, EPOCHS):
        order = torch.randperm(96, generator=torch.Generator().manual_seed(epoch)).view(PER_EPOCH, 8)
        batches = iter(DataLoader(data, batch_sampler=order[step % PER_EPOCH :].tolist()))
        if states is not None:  # after the iterator, which draws a number when it is made
            set_random_states(states)
            states = None
        for images, labels in batches:
            loss = cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            step += 1
            if step % 5 == 0:
                state = {name: part.state_dict() for name, part in parts.items()}
                torch.save({**state, "step": step, "random": random_states()}, "saves/aside.tmp")
                Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
    torch.save(model.state_dict(), "final.pt")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume")
    torch.set_num_threads(1)
    main(parser.parse_args().resume)
