"""A temperature that falls with each update lives in a small object that is tracked."""
# mypy: ignore-errors

import torch
from torch import nn
from torch.nn.functional import cross_entropy, gumbel_softmax
from torch.utils.data import TensorDataset

import lastro

EXPECT = {"verdict": "exact", "cause": None, "also": ()}


class Temperature:
    def __init__(self):
        self.now = 2.0

    def state_dict(self):
        return {"now": self.now}

    def load_state_dict(self, state):
        self.now = state["now"]


torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)

points = torch.randn(80, 6, generator=torch.Generator().manual_seed(25))
loader = attempt.loader(TensorDataset(points, points[:, :3].argmax(1)), batch_size=8, shuffle=True)
chooser, book = nn.Linear(6, 8), nn.Linear(8, 3, bias=False)
optimizer = torch.optim.Adam([*chooser.parameters(), *book.parameters()], lr=0.03)
temperature = Temperature()
attempt.track(chooser=chooser, book=book, optimizer=optimizer, temperature=temperature)
for _step, (batch, wanted) in attempt.steps(loader, epochs=5):
    loss = cross_entropy(book(gumbel_softmax(chooser(batch), tau=temperature.now)), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    temperature.now = max(0.3, 0.96 * temperature.now)
    attempt.log(loss=loss, temperature=temperature.now)
with attempt.output("model.pt") as path:
    torch.save({"chooser": chooser.state_dict(), "book": book.state_dict()}, path)
