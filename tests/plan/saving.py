"""Real checkpoints in the store, to hold predicted sizes against."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from lastro.checkpoint import snapshot, store
from lastro.checkpoint.adapters import bridge
from lastro.checkpoint.adapters.base import Stateful
from lastro.checkpoint.arena import Arena
from lastro.checkpoint.base import Base
from tests.checkpoint.test_store import facts


def written(root: Path, model: nn.Module, optimizer: torch.optim.Optimizer | None) -> tuple[int, int]:
    """Step once and save; return the bytes of the checkpoint, and of what was written once beside it."""
    objects: dict[str, Stateful] = {"model": model}
    if optimizer is not None:
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                parameter.grad = torch.ones_like(parameter)
        optimizer.step()
        objects["optimizer"] = optimizer
    taken = snapshot.take(objects, {"step": 1}, bridge(), Arena(), Base())
    with store.publish(root, facts(1), lambda: True) as draft:
        taken.write(draft)
    once = root / "base"
    return _size(root / "1-a1"), _size(once) if once.is_dir() else 0


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())
