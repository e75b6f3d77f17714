"""Half precision with a tracked GradScaler, which skips its first updates and then grows."""
# mypy: ignore-errors

import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import TensorDataset

import lastro

EXPECT = {"verdict": "exact", "cause": None, "also": ()}

torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)

inputs = torch.randn(90, 5, generator=torch.Generator().manual_seed(24))
loader = attempt.loader(TensorDataset(inputs, 4 * inputs.roll(1, dims=1)), batch_size=10, shuffle=True)
model = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 5))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
scaler = torch.amp.GradScaler("cpu", growth_interval=9)
attempt.track(model=model, optimizer=optimizer, scaler=scaler)
for _step, (batch, wanted) in attempt.steps(loader, epochs=6):
    with torch.autocast("cpu", dtype=torch.float16):
        loss = mse_loss(model(batch).float(), wanted)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    attempt.log(loss=loss, scale=scaler.get_scale())
with attempt.output("model.pt") as path:
    torch.save(model.state_dict(), path)
