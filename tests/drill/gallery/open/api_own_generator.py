"""Draws the noise of a denoising loss from a torch.Generator of its own, which nobody tracks."""
# mypy: ignore-errors

import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import TensorDataset

import lastro

EXPECT = {"verdict": "different", "cause": "random", "also": ()}

torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)
noise = torch.Generator().manual_seed(attempt.seed)

clean = torch.rand(100, 10, generator=torch.Generator().manual_seed(2)).cumsum(1)
loader = attempt.loader(TensorDataset(clean), batch_size=10, shuffle=True)
model = nn.Sequential(nn.Linear(11, 32), nn.SiLU(), nn.Linear(32, 10))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.005)
attempt.track(model=model, optimizer=optimizer)
for _step, (batch,) in attempt.steps(loader, epochs=5):
    level = torch.rand(len(batch), 1, generator=noise)
    added = torch.randn(batch.shape, generator=noise)
    guess = model(torch.cat([batch + level * added, level], dim=1))
    loss = mse_loss(guess, added)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    attempt.log(loss=loss)
with attempt.output("model.pt") as path:
    torch.save(model.state_dict(), path)
