"""What the probe hooks into PyTorch does what the drill was told, and nothing else."""

from __future__ import annotations

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from lastro.probe.hooks import _give_workers


@pytest.mark.parametrize("count", [0, 3])
def test_a_loader_is_made_with_the_workers_of_the_drill(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DataLoader, "__init__", DataLoader.__init__)  # put back afterwards

    _give_workers(torch, count)
    rows = TensorDataset(torch.arange(3))
    loader = DataLoader(rows, 2, num_workers=1, prefetch_factor=4, persistent_workers=True)

    assert (loader.num_workers, loader.batch_size) == (count, 2)
    assert loader.prefetch_factor == (4 if count else None)
