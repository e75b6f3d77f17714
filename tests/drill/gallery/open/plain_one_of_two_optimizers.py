"""A generator and a critic with an optimizer each; the critic's one is not in the save."""
# mypy: ignore-errors

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits as judged
from torch.utils.data import DataLoader, TensorDataset

EXPECT = {"verdict": "different", "cause": "optimizer", "also": ()}

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
given = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(137)

real = torch.randn(96, 2) * torch.tensor([1.0, 0.2]) + torch.tensor([2.0, -1.0])
maker = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
make_step = torch.optim.Adam(maker.parameters(), lr=0.005, betas=(0.5, 0.99))
judge_step = torch.optim.Adam(critic.parameters(), lr=0.005, betas=(0.5, 0.99))
noise = torch.Generator().manual_seed(137)
step = 0
if given.resume:
    saved = torch.load(given.resume)
    maker.load_state_dict(saved["maker"])
    critic.load_state_dict(saved["critic"])
    make_step.load_state_dict(saved["optimizer"])
    noise.set_state(saved["noise"])
    step = saved["step"]

Path("saves").mkdir(exist_ok=True)
for epoch in range(step // 8, 3):
    order = torch.randperm(96, generator=torch.Generator().manual_seed(epoch)).view(8, 12).tolist()
    for (true,) in DataLoader(TensorDataset(real), batch_sampler=order[step % 8 :]):
        made = maker(torch.randn(12, 3, generator=noise))
        judge_step.zero_grad()
        right = judged(critic(true), torch.ones(12, 1))
        wrong = judged(critic(made.detach()), torch.zeros(12, 1))
        (right + wrong).backward()
        judge_step.step()
        make_step.zero_grad()
        judged(critic(made), torch.ones(12, 1)).backward()
        make_step.step()
        step += 1
        if step % 3 == 0:
            state = {"maker": maker.state_dict(), "critic": critic.state_dict(), "step": step}
            state |= {"optimizer": make_step.state_dict(), "noise": noise.get_state()}
            torch.save(state, "saves/aside.tmp")
            Path("saves/aside.tmp").replace(f"saves/step-{step}.pt")
torch.save({"maker": maker.state_dict(), "critic": critic.state_dict()}, "final.pt")
