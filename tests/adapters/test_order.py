"""A loader in lastro's order delivers what `attempt.loader` would, from any batch on; others stay."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    Sampler,
    SequentialSampler,
    WeightedRandomSampler,
)

from lastro.adapters.order import Owned, own
from lastro.adapters.safe_points import Late, SafePoints
from lastro.errors import CheckpointDamaged, UsageError
from lastro.job.loader import Loader
from lastro.job.ranks import Ranks
from tests.job.hand import make_run
from tests.job.test_loop import attempt


class Noisy(Dataset[list[float]]):
    """A row says its index, and a number that is drawn anew each time."""

    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> list[float]:
        return [float(index), random.random()]


class Endless(IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        return iter(range(10))


class Backwards(Sampler[int]):
    def __iter__(self) -> Iterator[int]:
        return iter(range(9, -1, -1))

    def __len__(self) -> int:
        return 10


def rows(batches: Any) -> list[list[list[float]]]:
    return [torch.stack(batch, dim=1).tolist() for batch in batches]


def owned(**arguments: Any) -> Owned:
    found = own(DataLoader(Noisy(), batch_size=3, **arguments), seed=5)
    assert found is not None
    return found


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("workers", [0, 2])
def test_it_delivers_what_a_loader_of_the_attempt_would(shuffle: bool, workers: int) -> None:
    ours = Loader(Noisy(), seed=5, batch_size=3, shuffle=shuffle)
    theirs = owned(shuffle=shuffle, num_workers=workers)

    for epoch in (0, 1):
        theirs.order.set_epoch(epoch)
        expected = [each.data for each in ours.batches(epoch, 0, epoch + 1)]
        assert rows(theirs.loader) == rows(expected)


def test_it_goes_on_inside_an_epoch_and_the_next_one_is_whole() -> None:
    undisturbed, resumed = owned(shuffle=True), owned(shuffle=True)
    epochs = []
    for epoch in (0, 1):
        undisturbed.order.set_epoch(epoch)
        epochs.append(rows(undisturbed.loader))

    resumed.order.begin(0, 2)
    assert rows(resumed.loader) == epochs[0][2:]
    resumed.order.set_epoch(1)
    assert rows(resumed.loader) == epochs[1]


def test_loading_does_not_touch_the_generators_of_the_model() -> None:
    loader = owned(shuffle=True).loader
    before = torch.get_rng_state(), random.getstate()

    list(loader)

    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1] == random.getstate()


@pytest.mark.parametrize(
    ("loader", "why"),
    [
        ([1, 2], "list is no DataLoader"),
        (DataLoader(Endless()), "Endless has no length"),
        (DataLoader(Noisy(), sampler=Backwards()), "Backwards orders its rows"),
        (
            DataLoader(Noisy(), sampler=WeightedRandomSampler([1.0] * 10, 10)),
            "WeightedRandomSampler orders its",
        ),
        (DataLoader(Noisy(), sampler=RandomSampler(Noisy(), replacement=True)), "it draws rows again"),
        (
            DataLoader(Noisy(), sampler=RandomSampler(Noisy(), num_samples=4)),
            "it draws rows again, or not all",
        ),
        (
            DataLoader(Noisy(), batch_sampler=[[0, 1], [2]]),
            "list makes its batches",
        ),
        (DataLoader(Noisy(), batch_size=None), "NoneType makes its batches"),
    ],
    ids=["list", "iterable", "own sampler", "weights", "replacement", "fewer", "own batches", "no batches"],
)
def test_an_order_that_is_not_known_stays_and_that_is_told(
    loader: Any, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert own(loader, seed=5) is None
    assert why in capsys.readouterr().err


def test_a_batch_sampler_of_torch_is_known() -> None:
    batches = BatchSampler(SequentialSampler(Noisy()), 4, drop_last=True)

    found = own(DataLoader(Noisy(), batch_sampler=batches), seed=5)

    assert found is not None
    assert found.facts == {"rows": 10, "batch_size": 4, "drop_last": True, "shuffle": False, "seed": 5}


def test_processes_that_were_not_told_who_they_are_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(tmp_path)
    monkeypatch.setattr("lastro.adapters.safe_points.attach", lambda: attempt(run))

    with pytest.raises(UsageError, match="2 processes train together, and 1 were told who they are"):
        SafePoints(2)


@pytest.mark.parametrize(
    ("drop_last", "parts"),
    [(False, [[0, 1, 4, 5, 8], [2, 3, 6, 7, 9]]), (True, [[0, 1, 4, 5], [2, 3, 6, 7]])],
)
def test_each_process_has_its_part_of_every_batch_of_all(drop_last: bool, parts: list[list[int]]) -> None:
    """Ten rows, twice two in a batch: the last batch of all has two, which is one for each."""
    loader = DataLoader(Noisy(), batch_size=2, drop_last=drop_last)

    found = [own(loader, 5, Ranks(rank, 2)) for rank in range(2)]

    assert [[row for _epoch, row in one.order] for one in found if one is not None] == parts
    assert [len(one.order) for one in found if one is not None] == [len(part) for part in parts]
    assert {one.facts["batch_size"] for one in found if one is not None} == {4}


def test_a_state_that_waits_is_put_back_and_compared_when_its_object_is_there() -> None:
    late, other = Late("optimizer"), Late("optimizer")
    before = torch.nn.Linear(2, 1)
    late.load_state_dict(before.state_dict())
    other.load_state_dict(before.state_dict())
    after = torch.nn.Linear(2, 1)

    late.bind(after)

    assert torch.equal(before.weight, after.weight)
    assert late.waiting is None
    with pytest.raises(CheckpointDamaged, match="does not fit optimizer"):
        other.bind(torch.nn.Linear(3, 1))
