"""An update that asks for its gradient itself is known by how its optimizer is called."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from lastro.probe.hooks import _hook_optimizers


class Told:
    """A recorder that remembers which optimizers were about to step, and whether with a closure."""

    def __init__(self) -> None:
        self.before: list[tuple[str, bool]] = []

    def before_update(self, optimizer: Any, _frame: Any, *, closure: bool) -> None:
        self.before.append((type(optimizer).__name__, closure))

    def after_update(self, optimizer: Any) -> None:
        """Nothing is looked at afterwards."""


@pytest.fixture
def told() -> Iterator[Told]:
    """A recorder of what is done in a test; a probe stays in its process, this one is taken out again."""
    module = importlib.import_module(torch.optim.Optimizer.__module__)
    hooks = module._global_optimizer_pre_hooks, module._global_optimizer_post_hooks
    before = [dict(each) for each in hooks]
    recorder: Any = Told()
    _hook_optimizers(torch, recorder)
    yield recorder
    for each, old in zip(hooks, before, strict=True):
        each.clear()
        each.update(old)


def test_an_update_that_asks_for_its_gradient_itself_is_known(told: Told) -> None:
    """What lies in `grad` before such an update is the last one's, and nothing in a new process."""
    weight = torch.nn.Parameter(torch.ones(2))

    def closure() -> Any:
        weight.grad = weight.detach().clone()
        return weight.sum()

    closure()
    torch.optim.SGD([weight], lr=0.1).step()
    torch.optim.SGD([weight], lr=0.1).step(closure)
    searching: Any = torch.optim.LBFGS([weight], lr=0.1, max_iter=2)
    searching.step(closure=closure)

    assert told.before == [("SGD", False), ("SGD", True), ("LBFGS", True)]
