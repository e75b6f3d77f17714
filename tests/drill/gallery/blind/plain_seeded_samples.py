"""Two workers; the augmentation of a sample is a function of (epoch, row), so nobody has to remember it."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, Dataset

EXPECT = {"verdict": "exact", "cause": None, "also": ()}
PER_EPOCH = 8


class Augmented(Dataset):
    def __init__(self, epoch):
        self.epoch = epoch
        self.images = np.random.default_rng(9).random((64, 25), dtype=np.float32)

    def __len__(self):
        return 64

    def __getitem__(self, row):
        chance = np.random.default_rng([self.epoch, row])
        image = self.images[row] + chance.normal(scale=0.2, size=25).astype(np.float32)
        return np.roll(image, chance.integers(-2, 3)), int(self.images[row, :5].argmax())


parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(173)
model = nn.Sequential(nn.Linear(25, 16), nn.ReLU(), nn.Linear(16, 5))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
step = 0
if given.resume:
    saved = torch.load(given.resume)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    step = saved["step"]

Path("saves").mkdir(exist_ok=True)
for epoch in range(step // PER_EPOCH, 5):
    order = torch.randperm(64, generator=torch.Generator().manual_seed(epoch)).view(PER_EPOCH, 8)
    rest = order[step % PER_EPOCH :].tolist()
    for images, labels in DataLoader(Augmented(epoch), batch_sampler=rest, num_workers=2):
        loss = cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 5 == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
            torch.save(state, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(model.state_dict(), "final.pt")
