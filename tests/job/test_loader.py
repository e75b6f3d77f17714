from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import Dataset, IterableDataset

from lastro.errors import UsageError
from lastro.job.loader import Loader
from lastro.rules.permutation import order


class Noisy(Dataset[Any]):
    """Each sample is its row and three random numbers; the reads are counted where they happen."""

    def __init__(self, rows: int = 20) -> None:
        self.rows = rows
        self.reads: list[int] = []

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, row: int) -> torch.Tensor:
        self.reads.append(row)
        noise = [random.random(), float(np.random.random()), float(torch.rand(()))]
        return torch.tensor([float(row), *noise], dtype=torch.float64)


def mixed(samples: list[torch.Tensor]) -> torch.Tensor:
    """A collate function with a chance of its own, as mixup has."""
    return torch.stack(samples) * torch.rand((), dtype=torch.float64)


def loader(dataset: Any = None, **facts: Any) -> Loader:
    return Loader(dataset or Noisy(), **{"seed": 3, "batch_size": 6, "shuffle": True, **facts})


def delivered(source: Loader, epoch: int = 0, batch: int = 0, epochs: int = 3) -> list[torch.Tensor]:
    return [item.data for item in source.batches(epoch, batch, epochs)]


def equal(one: list[torch.Tensor], other: list[torch.Tensor]) -> bool:
    return len(one) == len(other) and all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_workers_change_neither_order_nor_randomness() -> None:
    alone = delivered(loader(collate_fn=mixed))

    assert equal(alone, delivered(loader(collate_fn=mixed, num_workers=2)))


@pytest.mark.parametrize(("epoch", "batch"), [(0, 1), (1, 0), (1, 3), (2, 2)])
def test_a_resume_delivers_the_tail_and_loads_nothing_that_was_skipped(epoch: int, batch: int) -> None:
    whole = delivered(loader())
    data = Noisy()

    tail = delivered(loader(data), epoch, batch)

    assert equal(tail, whole[epoch * 4 + batch :])
    assert len(data.reads) == sum(len(each) for each in tail)


def test_each_epoch_has_every_row_once_in_an_order_of_its_own() -> None:
    rows = [
        [int(row) for batch in delivered(loader(), at, 0, at + 1) for row in batch[:, 0]] for at in range(3)
    ]

    assert all(sorted(each) == list(range(20)) for each in rows)
    assert rows[0] != rows[1] != rows[2]


def test_the_order_is_a_function_of_seed_and_epoch_alone() -> None:
    random.seed(1)
    first = order(3, 1, 50)
    torch.rand(7)

    assert torch.equal(order(3, 1, 50), first)
    assert not torch.equal(order(4, 1, 50), first)


def test_batches_never_cross_an_epoch_and_the_last_one_is_marked() -> None:
    items = list(loader().batches(0, 0, 2))

    assert [(each.epoch, each.batch, len(each.data), each.last) for each in items] == [
        (0, 0, 6, False), (0, 1, 6, False), (0, 2, 6, False), (0, 3, 2, True),
        (1, 0, 6, False), (1, 1, 6, False), (1, 2, 6, False), (1, 3, 2, True),
    ]  # fmt: skip


def test_a_ragged_end_can_be_dropped() -> None:
    assert [len(each) for each in delivered(loader(drop_last=True), epochs=1)] == [6, 6, 6]


@pytest.mark.parametrize("workers", [0, 1])
def test_loading_leaves_the_generators_of_the_main_process_alone(workers: int) -> None:
    def draw() -> tuple[float, float, float]:
        return random.random(), float(np.random.random()), float(torch.rand(()))

    def seed() -> None:
        random.seed(5)
        np.random.seed(5)
        torch.manual_seed(5)

    seed()
    expected = [draw(), draw()]
    seed()
    seen = [draw()]
    delivered(loader(num_workers=workers))
    seen.append(draw())

    assert seen == expected


def test_iterated_directly_it_is_the_same_single_epoch_every_time() -> None:
    source = loader(shuffle=False)

    assert equal(list(source), list(source))
    assert len(source) == len(list(source)) == 4


def test_a_stream_without_length_is_refused_with_a_way_out() -> None:
    class Stream(IterableDataset[int]):
        def __iter__(self) -> Iterator[int]:
            yield 1

    with pytest.raises(UsageError, match="Stream has no length") as raised:
        loader(Stream())
    assert raised.value.hint is not None and "DataLoader of your own" in raised.value.hint


def test_a_loader_without_any_batch_is_refused() -> None:
    with pytest.raises(UsageError, match="20 rows make no batch of 30"):
        loader(batch_size=30, drop_last=True)
