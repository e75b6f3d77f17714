"""A loop by hand with a generator and a critic; real samples and noise come from the global generator."""
# mypy: ignore-errors

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits as judged

import lastro

EXPECT = {"verdict": "exact", "cause": None, "also": ()}
ROUNDS = 26

torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)

maker = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
make = torch.optim.Adam(maker.parameters(), lr=0.005, betas=(0.5, 0.99))
judge = torch.optim.RMSprop(critic.parameters(), lr=0.005)
attempt.track(maker=maker, critic=critic, make=make, judge=judge)
done = attempt.restore()
while done < ROUNDS:
    angle = 6.283 * torch.rand(16)
    real = torch.stack([angle.cos(), angle.sin()], dim=1)
    made = maker(torch.randn(16, 3))
    judge.zero_grad()
    apart = judged(critic(real), torch.ones(16, 1)) + judged(critic(made.detach()), torch.zeros(16, 1))
    apart.backward()
    judge.step()
    make.zero_grad()
    fooled = judged(critic(made), torch.ones(16, 1))
    fooled.backward()
    make.step()
    attempt.log(critic=apart, maker=fooled)
    done += 1
    attempt.safe_point(done)
attempt.save()
with attempt.output("model.pt") as path:
    torch.save({"maker": maker.state_dict(), "critic": critic.state_dict()}, path)
