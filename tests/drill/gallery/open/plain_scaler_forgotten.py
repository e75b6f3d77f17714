"""Half precision with a GradScaler that is not in the save: each resume overflows its way down again."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "different", "cause": "scaler", "also": ()}
PER_EPOCH = 10


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume")
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(2)
    inputs = torch.randn(80, 8)
    data = TensorDataset(inputs, 4 * inputs[:, :2] + 1)
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler("cpu", growth_interval=1000)
    step = 0
    if given.resume:
        saved = torch.load(given.resume)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        step = saved["step"]

    Path("saves").mkdir(exist_ok=True)
    for epoch in range(step // PER_EPOCH, 6):
        order = torch.randperm(80, generator=torch.Generator().manual_seed(epoch)).view(PER_EPOCH, 8)
        for batch, target in DataLoader(data, batch_sampler=order[step % PER_EPOCH :].tolist()):
            with torch.autocast("cpu", dtype=torch.float16):
                loss = mse_loss(model(batch).float(), target)
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            step += 1
            if step % 5 == 0:
                state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
                torch.save(state, "saves/part")
                Path("saves/part").rename(f"saves/step-{step}.pt")
    torch.save(model.state_dict(), "final.pt")


if __name__ == "__main__":
    main()
