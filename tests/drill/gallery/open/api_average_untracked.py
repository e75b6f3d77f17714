"""Delivers an average of the weights; model and optimizer are tracked, the average is not."""
# mypy: ignore-errors

import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import TensorDataset

import lastro

EXPECT = {"verdict": "different", "cause": "ema", "also": ()}

torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)

points = torch.linspace(-3, 3, 128)[:, None]
loader = attempt.loader(TensorDataset(points, points.sin()), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.97))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
attempt.track(model=model, optimizer=optimizer)
for _step, (inputs, wanted) in attempt.steps(loader, epochs=6):
    loss = mse_loss(model(inputs), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update_parameters(model)
    attempt.log(loss=loss)
with attempt.output("model.pt") as path:
    torch.save(average.module.state_dict(), path)
