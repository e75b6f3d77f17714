"""A generator and a critic, both optimizers saved, noise from the global generator, which is saved too."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits as judged

EXPECT = {"verdict": "exact", "cause": None, "also": ()}

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(157)

angles = torch.rand(128) * 6.283
real = torch.stack([angles.cos(), angles.sin()], dim=1)
maker = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Dropout(0.1), nn.Linear(16, 1))
parts = {
    "maker": maker,
    "critic": critic,
    "make": torch.optim.Adam(maker.parameters(), lr=0.004, betas=(0.5, 0.99)),
    "judge": torch.optim.Adam(critic.parameters(), lr=0.006, betas=(0.5, 0.99)),
}
step = 0
if given.resume:
    saved = torch.load(given.resume)
    for name, part in parts.items():
        part.load_state_dict(saved[name])
    torch.set_rng_state(saved["random"])
    step = saved["step"]

Path("saves").mkdir(exist_ok=True)
while step < 24:
    true = real[torch.randint(128, (12,))]
    made = maker(torch.randn(12, 4))
    parts["judge"].zero_grad()
    loss = judged(critic(true), torch.ones(12, 1)) + judged(critic(made.detach()), torch.zeros(12, 1))
    loss.backward()
    parts["judge"].step()
    parts["make"].zero_grad()
    loss = judged(critic(made), torch.ones(12, 1))
    loss.backward()
    parts["make"].step()
    step += 1
    if step % 3 == 0:
        state = {name: part.state_dict() for name, part in parts.items()}
        torch.save({**state, "step": step, "random": torch.get_rng_state()}, "saves/aside.tmp")
        Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save({"maker": maker.state_dict(), "critic": critic.state_dict()}, "final.pt")
