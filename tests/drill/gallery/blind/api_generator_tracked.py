"""Draws noise from two generators of its own, torch's and NumPy's, each tracked in a wrapper."""
# mypy: ignore-errors

import numpy as np
import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils.data import TensorDataset

import lastro

EXPECT = {"verdict": "exact", "cause": None, "also": ()}


class TorchNoise:
    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)

    def state_dict(self):
        return {"state": self.generator.get_state()}

    def load_state_dict(self, state):
        self.generator.set_state(state["state"])


class NumpyNoise:
    def __init__(self, seed):
        self.generator = np.random.Generator(np.random.PCG64(seed))

    def state_dict(self):
        kept = self.generator.bit_generator.state
        return {name: str(value) for name, value in kept["state"].items()}  # 128 bits are too many for JSON

    def load_state_dict(self, state):
        kept = self.generator.bit_generator.state
        kept["state"] = {name: int(value) for name, value in state.items()}
        self.generator.bit_generator.state = kept


torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)
noise, masks = TorchNoise(attempt.seed), NumpyNoise(attempt.seed)

clean = torch.rand(96, 8, generator=torch.Generator().manual_seed(29))
loader = attempt.loader(TensorDataset(clean), batch_size=12, shuffle=True)
model = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 8))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
attempt.track(model=model, optimizer=optimizer, noise=noise, masks=masks)
for _step, (batch,) in attempt.steps(loader, epochs=6):
    hidden = torch.from_numpy(masks.generator.random((len(batch), 8)) < 0.25)
    spoilt = torch.where(hidden, torch.randn(batch.shape, generator=noise.generator), batch)
    loss = mse_loss(model(spoilt), batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    attempt.log(loss=loss)
with attempt.output("model.pt") as path:
    torch.save(model.state_dict(), path)
