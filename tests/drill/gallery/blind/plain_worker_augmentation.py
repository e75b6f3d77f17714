"""Two workers draw the augmentation from their own generators, which begin anew when the rest is read."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, Dataset

EXPECT = {"verdict": "different", "cause": "augmentation", "also": ()}
PER_EPOCH = 8


class Shaken(Dataset):
    def __init__(self):
        self.images = torch.rand(64, 36, generator=torch.Generator().manual_seed(1))
        self.labels = self.images[:, :4].argmax(1)

    def __len__(self):
        return 64

    def __getitem__(self, row):
        return self.images[row] + 0.4 * torch.randn(36), self.labels[row]


def save(step, model, optimizer):
    Path("saves").mkdir(exist_ok=True)
    torch.save(
        {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "step": step,
            "random": torch.get_rng_state(),
        },
        "saves/aside.tmp",
    )
    Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")


def main(resume):
    torch.manual_seed(80)
    data = Shaken()
    model = nn.Sequential(nn.Linear(36, 16), nn.ReLU(), nn.Linear(16, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    step = 0
    if resume:
        saved = torch.load(resume)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        torch.set_rng_state(saved["random"])
        step = saved["step"]
    for epoch in range(step // PER_EPOCH, 5):
        shuffled = torch.Generator().manual_seed(epoch)
        rows = torch.randperm(64, generator=shuffled).view(PER_EPOCH, 8).tolist()
        loader = DataLoader(data, batch_sampler=rows[step % PER_EPOCH :], num_workers=2, generator=shuffled)
        for images, labels in loader:
            loss = cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 5 == 0:
                save(step, model, optimizer)
    torch.save(model.state_dict(), "final.pt")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume")
    torch.set_num_threads(1)
    main(parser.parse_args().resume)
