"""How items are read is chosen by what reads cost; what is read is the same."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from lastro.data.reader import Reader
from lastro.data.warmth import ENOUGH, Warmth, from_memory
from lastro.storage.pack.layout import PackManifest


def reader_of(folder: Path, *, warm: bool) -> Reader:
    reader = Reader(folder, PackManifest.read(folder))
    for _number in range(ENOUGH if warm else 0):
        reader._warmth.took(0, 1)
    return reader


@pytest.mark.parametrize(
    ("seconds", "size", "memory"),
    [(5e-6, 35_000, True), (68e-6, 35_000, True), (69e-6, 35_000, False), (300e-6, 10**6, True)],
)
def test_a_read_from_memory_is_told_from_one_of_the_disk(seconds: float, size: int, memory: bool) -> None:
    """60 us to answer and 4 GB/s: 68.75 us for 35,000 bytes, 310 us for a million."""
    assert from_memory(seconds, size) is memory


def test_one_slow_read_is_enough_to_ask_the_disk_again() -> None:
    warmth = Warmth()

    for _number in range(ENOUGH):
        assert not warmth.warm
        warmth.took(1e-6, 1)
    assert warmth.warm
    warmth.took(1e-3, 1)

    assert not warmth.warm


def test_what_is_read_together_is_what_is_read_alone(packed: Path) -> None:
    numbers = [0, 205, 7, 7, 100, 1]
    alone = [reader_of(packed, warm=False).read(number) for number in numbers]

    for warm in (False, True):
        assert reader_of(packed, warm=warm).read_many(numbers) == alone
    assert reader_of(packed, warm=True).read_many([]) == []


def test_what_was_asked_for_ahead_says_nothing_of_the_disk(packed: Path) -> None:
    """Otherwise a disk that was asked in time would be taken for memory, and not be asked any more."""
    reader = reader_of(packed, warm=False)

    for number in range(ENOUGH):
        reader.expect([number, number + 1])
        reader.read_many([number, number + 1])

    assert reader._warmth._quick == 0


def test_a_pack_may_have_more_shards_than_a_process_may_open(packed: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    reader = reader_of(packed, warm=False)
    used = max(int(one.name) for one in Path("/proc/self/fd").iterdir()) + 1
    resource.setrlimit(resource.RLIMIT_NOFILE, (used, hard))
    try:
        assert len(reader.read_many(range(206))) == 206
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert len(PackManifest.read(packed).shards) > 4
