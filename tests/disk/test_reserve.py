"""The reserve: really allocated, made when there is room, let go once."""

from __future__ import annotations

from pathlib import Path

import pytest

from lastro.disk import reserve
from lastro.disk.facts import open_disk, other_disk
from lastro.paths import Disk


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    made = Disk(tmp_path / "disk")
    open_disk(made)
    return made


def test_its_blocks_are_really_taken(disk: Disk) -> None:
    assert reserve.keep_reserve(disk)

    assert disk.reserve.stat().st_blocks * 512 >= reserve.RESERVE_BYTES
    assert reserve.room_on(disk).held >= reserve.RESERVE_BYTES
    assert [path.name for path in disk.reserve.parent.iterdir() if path.name.startswith(".tmp-")] == []


def test_it_is_let_go_once_and_what_it_leaves_is_not_for_work(disk: Disk) -> None:
    reserve.keep_reserve(disk)

    assert reserve.release_reserve(disk)
    assert not reserve.release_reserve(disk)
    room = reserve.room_on(disk)
    assert room.held == 0
    assert room.for_work == room.free - reserve.RESERVE_BYTES


def test_a_reserve_that_was_cut_is_made_again(disk: Disk) -> None:
    disk.reserve.write_bytes(b"")

    assert reserve.room_on(disk).held == 0
    assert reserve.keep_reserve(disk)
    assert reserve.room_on(disk).held >= reserve.RESERVE_BYTES


@pytest.mark.parametrize(
    ("free", "held", "wanted", "work"),
    [(100, 0, 40, 60), (100, 40, 40, 100), (30, 0, 40, 0), (30, 40, 40, 30), (0, 0, 0, 0)],
)
def test_room_for_work_by_hand(free: int, held: int, wanted: int, work: int) -> None:
    assert reserve.Room(free=free, held=held, wanted=wanted).for_work == work


def test_a_disk_is_known_by_its_mark(disk: Disk, tmp_path: Path) -> None:
    uuid = open_disk(disk).uuid

    assert other_disk(disk, uuid) is None
    assert "another disk" in str(other_disk(disk, "0" * 36))
    assert "not attached" in str(other_disk(Disk(tmp_path / "empty"), uuid))
    disk.facts.write_text("{")
    assert "cannot be read" in str(other_disk(disk, uuid))
