"""Real noise: the terms of each loss are added up in an order of chance, as atomic additions on a GPU are."""
# mypy: ignore-errors

import argparse
import os
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "noise", "cause": None, "also": ()}


def mean_in_some_order(terms):
    total = terms.new_zeros(())
    for at in sorted(range(len(terms)), key=lambda _: os.urandom(4)):
        total = total + terms[at]
    return total / len(terms)


def main(resume):
    torch.manual_seed(227)
    points = torch.randn(100, 5)
    data = TensorDataset(points, points.exp().sum(1))
    model = nn.Sequential(nn.Linear(5, 28), nn.Tanh(), nn.Dropout(0.1), nn.Linear(28, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    step, random_state = 0, None
    if resume:
        saved = torch.load(resume)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        step, random_state = saved["step"], saved["random"]
    Path("saves").mkdir(exist_ok=True)
    for epoch in range(step // 10, 5):
        shuffled = torch.Generator().manual_seed(epoch)
        order = torch.randperm(100, generator=shuffled).view(10, 10).tolist()
        if random_state is not None:
            torch.set_rng_state(random_state)
            random_state = None
        for inputs, wanted in DataLoader(data, batch_sampler=order[step % 10 :], generator=shuffled):
            gaps = model(inputs)[:, 0] - wanted
            loss = mean_in_some_order(gaps.abs())
            # The gradient of a sum does not depend on its order; that of each sample's share does.
            optimizer.zero_grad()
            for at in sorted(range(len(gaps)), key=lambda _: os.urandom(4)):
                (gaps[at].abs() / len(gaps)).backward(retain_graph=True)
            optimizer.step()
            step += 1
            if step % 5 == 0:
                state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
                torch.save({**state, "random": torch.get_rng_state()}, "saves/aside.tmp")
                Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
                Path("loss.txt").write_text(f"{loss.item()}\n")
    torch.save(model.state_dict(), "final.pt")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume")
    torch.set_num_threads(1)
    main(parser.parse_args().resume)
