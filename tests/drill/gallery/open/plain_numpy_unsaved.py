"""The save holds torch's random state; the noise that is added to the samples comes from NumPy's."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader, Dataset

EXPECT = {"verdict": "different", "cause": "random", "also": ("augmentation",)}


class Noisy(Dataset):
    def __init__(self):
        self.clean = np.random.default_rng(0).normal(size=(96, 8)).astype(np.float32)

    def __len__(self):
        return 96

    def __getitem__(self, row):
        clean = self.clean[row]
        noise = np.random.normal(scale=0.3, size=8).astype(np.float32)
        return torch.from_numpy(clean + noise), torch.from_numpy(clean)


parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(4)
np.random.seed(4)

data = Noisy()
model = nn.Sequential(nn.Linear(8, 24), nn.Tanh(), nn.Dropout(0.1), nn.Linear(24, 8))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.005)
step, random_state = 0, None
if given.resume:
    saved = torch.load(given.resume)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    step, random_state = saved["step"], saved["random"]

Path("saves").mkdir(exist_ok=True)
for epoch in range(step // 12, 4):
    shuffled = torch.Generator().manual_seed(epoch)
    rows = torch.randperm(96, generator=shuffled).view(12, 8).tolist()
    if random_state is not None:
        torch.set_rng_state(random_state)
        random_state = None
    for noisy, clean in DataLoader(data, batch_sampler=rows[step % 12 :], generator=shuffled):
        loss = mse_loss(model(noisy), clean)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 6 == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save({**state, "step": step, "random": torch.get_rng_state()}, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save(model.state_dict(), "final.pt")
