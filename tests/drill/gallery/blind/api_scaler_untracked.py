"""Half precision; model and optimizer are tracked, the GradScaler begins at 65536 with each attempt."""
# mypy: ignore-errors

import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import TensorDataset

import lastro

EXPECT = {"verdict": "different", "cause": "scaler", "also": ()}

torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)

inputs = torch.randn(90, 6, generator=torch.Generator().manual_seed(8))
loader = attempt.loader(TensorDataset(inputs, 5 * inputs[:, :3] + 2), batch_size=10, shuffle=True)
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
scaler = torch.amp.GradScaler("cpu")
attempt.track(model=model, optimizer=optimizer)
for _step, (batch, wanted) in attempt.steps(loader, epochs=6):
    with torch.autocast("cpu", dtype=torch.float16):
        loss = mse_loss(model(batch).float(), wanted)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    attempt.log(loss=loss)
with attempt.output("model.pt") as path:
    torch.save(model.state_dict(), path)
