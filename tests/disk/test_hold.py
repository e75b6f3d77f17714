"""Room that is held is really there, and never taken from a disk that would be full by it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from lastro.disk import hold as holding
from lastro.disk.facts import open_disk
from lastro.disk.hold import Held, held, hold, judge, release_hold
from lastro.disk.reserve import Room, room_on
from lastro.paths import Disk
from tests.disk.small import on_a_small_disk

MIB = 2**20


def a_disk(tmp_path: Path) -> tuple[Disk, Path]:
    disk = Disk(tmp_path / "disk")
    open_disk(disk)
    return disk, disk.hold("campaign", "run")


@pytest.mark.parametrize(
    ("free", "total", "more", "holds"),
    [
        (1000, 1000, 900, True),
        (1000, 1000, 901, False),
        (20 * 2**30, 100 * 2**30, 19 * 2**30, True),
        (20 * 2**30, 100 * 2**30, 19 * 2**30 + 1, False),
    ],
)
def test_a_tenth_of_a_disk_or_a_gibibyte_stays_free_beside_it(
    free: int, total: int, more: int, holds: bool
) -> None:
    assert (judge(Room(free=free, held=0, wanted=0), total, more) is None) is holds


def test_what_the_reserve_is_to_hold_is_not_free_for_it() -> None:
    assert judge(Room(free=1000, held=0, wanted=100), 1000, 801) is not None
    assert judge(Room(free=1000, held=100, wanted=100), 1000, 801) is None


@on_a_small_disk(128 * MIB, "ext4")
def test_its_blocks_are_taken_from_the_disk_and_come_back(tmp_path: Path) -> None:
    disk, path = a_disk(tmp_path)
    before = room_on(disk).free

    assert hold(disk, path, 40 * MIB) == Held(bytes=40 * MIB)
    assert before - room_on(disk).free >= 40 * MIB
    assert hold(disk, path, 10 * MIB) == Held(bytes=10 * MIB)
    assert before - room_on(disk).free < 11 * MIB
    too_much = hold(disk, path, 200 * MIB)
    assert too_much.bytes == 10 * MIB and "have to stay free" in str(too_much.why_not)
    assert release_hold(path) and not release_hold(path)
    assert room_on(disk).free >= before - MIB


@pytest.mark.parametrize(
    ("number", "why"),
    [
        (errno.EOPNOTSUPP, "this file system cannot hold room (it has no fallocate)"),
        (errno.ENOSPC, "the disk refuses it: No space left on device"),
    ],
)
def test_a_disk_that_cannot_hold_room_is_named_and_nothing_is_left(
    tmp_path: Path, number: int, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_descriptor: int, _start: int, _count: int) -> None:
        raise OSError(number, os.strerror(number))

    disk, path = a_disk(tmp_path)
    monkeypatch.setattr(holding, "_allocate", refuse)

    assert hold(disk, path, MIB) == Held(bytes=0, why_not=why)
    assert not path.exists()


def test_room_that_is_promised_and_not_allocated_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk, path = a_disk(tmp_path)
    monkeypatch.setattr(holding, "_allocate", lambda fd, start, count: os.ftruncate(fd, start + count))

    found = hold(disk, path, 4 * MIB)

    assert (found.bytes, held(path)) == (0, 0)
    assert "allocates none" in str(found.why_not)
