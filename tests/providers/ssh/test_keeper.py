"""The newest checkpoint comes home a bit at a time, and counts when every byte was read again."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from lastro.checkpoint import store
from lastro.clock import ManualClock
from lastro.paths import RunFolder
from lastro.providers.ssh.keeper import ASK_SECONDS, Keeper
from tests.checkpoint.test_store import save


class Disk:
    """The disk elsewhere, which gives 1000 bytes at a time; each piece takes a second."""

    def __init__(self, here: Path, there: Path, clock: ManualClock) -> None:
        self.here, self.there, self.clock = here, there, clock
        self.sent = 0
        self.flip: str | None = None

    def _there(self, path: Path) -> Path:
        return self.there / path.relative_to(self.here)

    def listed(self, folder: Path) -> Mapping[str, int]:
        root = self._there(folder)
        return {str(one.relative_to(root)): one.stat().st_size for one in root.rglob("*") if one.is_file()}

    def piece(self, path: Path, offset: int) -> bytes:
        self.clock.sleep(1.0)
        try:
            data = self._there(path).read_bytes()[offset : offset + 1000]
        except OSError:
            return b""
        self.sent += len(data)
        if data and path.name == self.flip:
            return bytes([data[0] ^ 1]) + data[1:]
        return data


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def disk(tmp_path: Path, clock: ManualClock) -> Disk:
    return Disk(tmp_path / "here", tmp_path / "there", clock)


@pytest.fixture
def run(disk: Disk) -> RunFolder:
    return RunFolder(disk.here / "runs/r")


@pytest.fixture
def there(disk: Disk) -> RunFolder:
    return RunFolder(disk.there / "runs/r")


def arrive(keeper: Keeper, run: RunFolder, clock: ManualClock) -> list[str]:
    """Let it work a second at a time until something has arrived."""
    for _turn in range(50):
        keeper.work([run], 1.0)
        if found := keeper.arrived():
            return [one.name for one in found]
        clock.sleep(ASK_SECONDS)
    return []


def test_the_newest_arrives_in_pieces_and_verifies(
    disk: Disk, run: RunFolder, there: RunFolder, clock: ManualClock
) -> None:
    save(there.checkpoints, 10)
    save(there.checkpoints, 20)
    keeper = Keeper(disk, clock)

    keeper.work([run], 1.0)
    assert keeper.arrived() == [] and isinstance(store.committed(run.checkpoint(20, 1)), str)
    assert arrive(keeper, run, clock) == ["20-a1"]

    assert store.verify(run.checkpoint(20, 1)) == ()
    assert store.names(run.checkpoints) == [run.checkpoint(20, 1)]


def test_what_had_arrived_before_home_was_killed_is_not_sent_again(
    disk: Disk, run: RunFolder, there: RunFolder, clock: ManualClock
) -> None:
    """Of 5003 + 2 bytes a first home has fetched 3000: the second asks for 2005, and for the manifest."""
    folder = save(there.checkpoints, 10)
    keeper = Keeper(disk, clock)
    manifest = (folder / store.MANIFEST).stat().st_size
    while disk.sent < manifest + 3000:
        keeper.work([run], 1.0)
        clock.sleep(ASK_SECONDS)
    disk.sent = 0

    assert arrive(Keeper(disk, clock), run, clock) == ["10-a1"]

    assert disk.sent == 2005 + manifest


def test_an_older_one_goes_when_the_newer_one_is_whole(
    disk: Disk, run: RunFolder, there: RunFolder, clock: ManualClock
) -> None:
    save(there.checkpoints, 10)
    keeper = Keeper(disk, clock)
    arrive(keeper, run, clock)
    save(there.checkpoints, 20)

    keeper.work([run], 1.0)
    assert store.verify(run.checkpoint(10, 1)) == ()
    assert arrive(keeper, run, clock) == ["20-a1"]
    assert store.names(run.checkpoints) == [run.checkpoint(20, 1)]


def test_one_that_goes_while_it_is_copied_is_followed_by_the_next(
    disk: Disk, run: RunFolder, there: RunFolder, clock: ManualClock
) -> None:
    old = save(there.checkpoints, 10)
    keeper = Keeper(disk, clock)
    keeper.work([run], 1.0)
    save(there.checkpoints, 20)
    shutil.rmtree(old)

    assert arrive(keeper, run, clock) == ["20-a1"]


def test_a_copy_with_other_bytes_does_not_count_and_is_fetched_anew(
    disk: Disk, run: RunFolder, there: RunFolder, clock: ManualClock
) -> None:
    save(there.checkpoints, 10)
    keeper = Keeper(disk, clock)
    disk.flip = "state.json"

    assert arrive(keeper, run, clock) == []
    assert isinstance(store.committed(run.checkpoint(10, 1)), str)

    disk.flip = None
    assert arrive(keeper, run, clock) == ["10-a1"]
    assert store.verify(run.checkpoint(10, 1)) == ()


def test_a_checkpoint_whose_values_are_lost_is_not_copied(
    disk: Disk, run: RunFolder, there: RunFolder, clock: ManualClock
) -> None:
    save(there.checkpoints, 10)
    folder = save(there.checkpoints, 20)
    path = folder / store.MANIFEST
    path.write_text(path.read_text().replace('"files"', '"healthy": false, "first_not_finite": "w", "files"'))

    assert arrive(Keeper(disk, clock), run, clock) == ["10-a1"]
