"""Delivers an average of weights and buffers, which is tracked beside the model."""
# mypy: ignore-errors

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import TensorDataset

import lastro

EXPECT = {"verdict": "exact", "cause": None, "also": ()}

torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)

points = torch.randn(96, 6, generator=torch.Generator().manual_seed(22)) - 1
data = TensorDataset(points, (points[:, 0] > points[:, 1]).long())
loader = attempt.loader(data, batch_size=12, shuffle=True, drop_last=True)
model = nn.Sequential(nn.Linear(6, 20), nn.BatchNorm1d(20), nn.ReLU(), nn.Linear(20, 2))
average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9), use_buffers=True)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, amsgrad=True)
attempt.track(model=model, average=average, optimizer=optimizer)
for _step, (batch, wanted) in attempt.steps(loader, epochs=6):
    loss = cross_entropy(model(batch), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update_parameters(model)
    attempt.log(loss=loss)
with attempt.output("model.pt") as path:
    torch.save(average.state_dict(), path)
