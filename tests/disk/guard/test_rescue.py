"""What is rescued is whole, recorded, and nothing else is touched."""

from __future__ import annotations

import errno
import os
import subprocess
import threading
from pathlib import Path

import pytest

from lastro import strictjson
from lastro.clock import ManualClock
from lastro.disk.facts import open_disk
from lastro.disk.guard import rescue as rescuing
from lastro.disk.guard.decisions import let_go, let_go_of
from lastro.disk.guard.find import Item, Scope, find, spelled
from lastro.disk.guard.kinds import Kind
from lastro.disk.guard.rescue import rescue
from lastro.errors import StorageError
from lastro.paths import Disk, Home
from tests.disk.guard import planting


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    made = Disk(tmp_path / "disk")
    open_disk(made)
    return made


def items(root: Path, disk: Disk | None = None) -> tuple[Item, ...]:
    return find(Scope(machine="m", roots=(str(root),), disk=disk)).items


def test_everything_is_copied_with_its_path_read_back_recorded_and_then_nothing_is_lost(
    tmp_path: Path, disk: Disk
) -> None:
    root = tmp_path / "scratch"
    odd = os.fsdecode(b"line\nbreak \xff.pt")
    first = planting.put(root / "home" / odd, planting.torch_zip())
    planting.put(root / ("n" * 255), planting.png())
    planting.put(root / "work/out.safetensors", planting.safetensors(), old=True)

    done = rescue(items(root), disk, "m", ManualClock())

    assert all(one.safe for one in done)
    copies = {one.item.path: Path(str(one.copy)) for one in done}
    assert copies[first].read_bytes() == Path(first).read_bytes()
    assert copies[first] == disk.rescued("m") / first.lstrip("/")
    assert items(root, disk) == ()
    lines = disk.rescue_record("m").read_bytes().splitlines()
    assert [strictjson.loads(line)["path"] for line in lines] == [spelled(one.item.path) for one in done]


def test_a_second_rescue_of_a_changed_file_keeps_both(tmp_path: Path, disk: Disk) -> None:
    path = Path(planting.put(tmp_path / "scratch/a.pt", planting.torch_zip()))
    rescue(items(tmp_path / "scratch"), disk, "m", ManualClock())
    path.write_bytes(planting.torch_zip() + b"more")

    again = rescue(items(tmp_path / "scratch", disk), disk, "m", ManualClock())

    assert len(again) == 1
    assert len(list(disk.rescued("m").rglob("a.pt*"))) == 2


def test_a_sparse_file_stays_sparse_and_equal(tmp_path: Path, disk: Disk) -> None:
    path = tmp_path / "scratch/sparse.gguf"
    planting.put(path, planting.gguf())
    with path.open("r+b") as file:
        file.truncate(64 << 20)

    done = rescue(items(tmp_path / "scratch"), disk, "m", ManualClock())

    copy = Path(str(done[0].copy))
    assert copy.stat().st_size == 64 << 20
    assert copy.stat().st_blocks * 512 <= 2 << 20
    assert copy.read_bytes() == path.read_bytes()


def test_unpushed_commits_are_rescued_as_a_bundle_that_git_clones_from(tmp_path: Path, disk: Disk) -> None:
    unpushed, _pushed = planting.trees(tmp_path / "scratch")
    trees = [item for item in items(tmp_path / "scratch/home") if item.kind is Kind.GIT]

    done = rescue(trees, disk, "m", ManualClock())

    assert [one.item.path for one in done] == [unpushed]
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(done[0].copy), clone], check=True, capture_output=True)
    assert (clone / "unpushed.txt").exists()


def test_what_is_written_while_it_is_copied_is_not_called_safe(
    tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(planting.put(tmp_path / "scratch/a.gguf", planting.gguf()))
    found = items(tmp_path / "scratch")
    read = os.pread

    def pread(descriptor: int, count: int, offset: int) -> bytes:
        data = read(descriptor, count, offset)
        with path.open("ab") as file:
            file.write(b"more")
        return data

    monkeypatch.setattr(os, "pread", pread)
    done = rescue(found, disk, "m", ManualClock())

    assert not done[0].safe
    assert "changed while it was copied" in str(done[0].problem)


def test_a_full_disk_ends_the_rescue_and_tells_of_each_file_that_is_left(
    tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        planting.put(tmp_path / f"scratch/{number}.pt", planting.torch_zip())
    found = items(tmp_path / "scratch")
    copied = threading.Event()
    copy = rescuing._copy

    def full(source: str, target: Path, *, follow: bool) -> tuple[str, bool]:
        if copied.is_set():
            raise OSError(errno.ENOSPC, "No space left on device")
        copied.set()
        return copy(source, target, follow=follow)

    monkeypatch.setattr(rescuing, "_copy", full)
    done = rescue(found, disk, "m", ManualClock())

    assert [one.safe for one in done] == [True, False, False]
    assert done[2].problem == "the disk is full"
    assert len(list((tmp_path / "scratch").iterdir())) == 3


def test_nothing_is_rescued_to_a_place_that_is_no_disk(tmp_path: Path) -> None:
    planting.put(tmp_path / "scratch/a.pt", planting.torch_zip())

    with pytest.raises(StorageError, match="no disk of lastro"):
        rescue(items(tmp_path / "scratch"), Disk(tmp_path / "typo"), "m", ManualClock())
    assert not (tmp_path / "typo").exists()


def test_what_was_let_go_is_not_named_again_until_it_changes(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    path = Path(planting.put(tmp_path / "scratch/a.txt", b"a result"))
    scope = Scope(machine="m", roots=(str(tmp_path / "scratch"),))
    let_go(home, "m", find(scope).items, "it was a test", ManualClock())

    assert find(scope, let_go_of(home, "m")).items == ()
    path.write_bytes(b"another result")
    assert [item.path for item in find(scope, let_go_of(home, "m")).items] == [str(path)]
