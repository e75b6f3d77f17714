from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("torch")

SCRIPT = """
import torch
from lastro.probe.hooks import _hook_optimizers

class Told:
    def before_update(self, optimizer, frame, *, closure):
        print(type(optimizer).__name__, closure)
    def after_update(self, optimizer):
        pass

_hook_optimizers(torch, Told())
weight = torch.nn.Parameter(torch.ones(2))

def closure():
    weight.grad = weight.detach().clone()
    return weight.sum()

closure()
torch.optim.SGD([weight], lr=0.1).step()
torch.optim.SGD([weight], lr=0.1).step(closure)
torch.optim.LBFGS([weight], lr=0.1, max_iter=2).step(closure=closure)
"""


def test_an_update_that_asks_for_its_gradient_itself_is_known() -> None:
    """What lies in `grad` before such an update is the last one's, and nothing in a new process."""
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines() == ["SGD False", "SGD True", "LBFGS True"]
