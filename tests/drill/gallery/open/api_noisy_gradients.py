"""Real noise: gradients get a millionth of chance from a generator that nobody seeds. All else is tracked."""
# mypy: ignore-errors

import random

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import TensorDataset

import lastro

EXPECT = {"verdict": "noise", "cause": None, "also": ()}

torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)
chance = torch.Generator().manual_seed(random.SystemRandom().getrandbits(60))

tokens = torch.randint(16, (96, 5), generator=torch.Generator().manual_seed(27))
loader = attempt.loader(TensorDataset(tokens, tokens.max(1).values), batch_size=12, shuffle=True)
model = nn.Sequential(nn.Embedding(16, 8), nn.Flatten(), nn.Dropout(0.1), nn.Linear(40, 16))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.005)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=12, gamma=0.5)
attempt.track(model=model, optimizer=optimizer, scheduler=scheduler)
for _step, (batch, wanted) in attempt.steps(loader, epochs=6):
    loss = cross_entropy(model(batch), wanted)
    optimizer.zero_grad()
    loss.backward()
    for value in model.parameters():
        value.grad *= 1 + 1e-6 * torch.randn(value.shape, generator=chance)
    optimizer.step()
    scheduler.step()
    attempt.log(loss=loss)
with attempt.output("model.pt") as path:
    torch.save(model.state_dict(), path)
