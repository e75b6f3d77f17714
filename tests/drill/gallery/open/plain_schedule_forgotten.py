"""Model and optimizer are saved, the learning rate schedule is not: it begins anew with its warm-up."""
# mypy: ignore-errors

import argparse
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "different", "cause": "scheduler", "also": ()}
UPDATES = 48


def shape(update):
    """Ten updates of warm-up, then linearly to nothing."""
    return (update + 1) / 10 if update < 10 else max(0.0, (UPDATES - update) / (UPDATES - 10))


parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(11)

features = torch.randn(128, 10)
data = TensorDataset(features, features[:, :3].cumsum(1))
model = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, shape)
done = 0
if given.resume:
    saved = torch.load(given.resume)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    done = saved["done"]

os.makedirs("saves", exist_ok=True)  # noqa: PTH103 - as older scripts do
while done < UPDATES:
    order = torch.randperm(128, generator=torch.Generator().manual_seed(done // 8))
    rest = [rows.tolist() for rows in order.split(16)][done % 8 :]
    for inputs, wanted in DataLoader(data, batch_sampler=rest):
        optimizer.zero_grad(set_to_none=True)
        loss = (model(inputs) - wanted).square().mean()
        loss.backward()
        optimizer.step()
        scheduler.step()
        done += 1
        if done % 6 == 0:
            torch.save(
                {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "done": done},
                "saves/new.pt",
            )
            os.replace("saves/new.pt", f"saves/step-{done}.pt")  # noqa: PTH105
torch.save(model.state_dict(), "final.pt")
