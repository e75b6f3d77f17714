"""Nothing of value is missed, and little else is named."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lastro.disk.facts import open_disk
from lastro.disk.guard.find import Found, Scope, find
from lastro.disk.guard.kinds import Kind
from lastro.disk.guard.mounted import this_machine
from lastro.disk.mounts import parse
from lastro.paths import Disk
from tests.disk.guard import planting

#: More false alarms than these in a session nobody reads through.
FEW = 3


@contextlib.contextmanager
def written(path: Path) -> Iterator[None]:
    """Let another process write a file, and hold it open."""
    path.parent.mkdir(parents=True, exist_ok=True)
    code = (
        "import os,sys,time; f=open(sys.argv[1],'wb'); f.write(os.urandom(70000)); f.flush();"
        "print('on',flush=True); time.sleep(600)"
    )
    process = subprocess.Popen([sys.executable, "-S", "-c", code, path], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    try:
        yield
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def look(root: Path, since_ns: int = 0, disk: Disk | None = None) -> Found:
    return find(Scope(machine="m", roots=(str(root),), since_ns=since_ns, disk=disk, system_root=str(root)))


def missed_and_false(root: Path, count: int) -> tuple[set[str], set[str], Found]:
    planting.background(root, count)
    unpushed, _pushed = planting.trees(root)
    time.sleep(0.05)
    since = time.time_ns()
    planting.noise(root)
    writing = root / "root/being_written.bin"
    planted = planting.plant(root) | {unpushed, str(writing)}
    with written(writing):
        found = look(root, since)
    assert [item.path for item in found.items if item.writer is not None] == [str(writing)]
    named = {item.path for item in found.items}
    return planted - named, named - planted, found


def test_no_planted_valuable_is_missed_and_few_other_files_are_named(tmp_path: Path) -> None:
    """20,000 files, 300 planted: in programs' formats, without extension, hidden, old, in caches."""
    missed, false, found = missed_and_false(tmp_path / "root", 20_000)

    assert missed == set()
    assert len(false) <= FEW, false
    assert found.files > 20_000


@pytest.mark.long
def test_no_planted_valuable_is_missed_in_a_root_of_a_million_files(tmp_path: Path) -> None:
    missed, false, found = missed_and_false(tmp_path / "root", 1_000_000)

    assert missed == set()
    assert len(false) <= FEW, false
    assert found.files > 1_000_000


def test_the_most_valuable_comes_first(tmp_path: Path) -> None:
    planting.put(tmp_path / "b.txt", b"some text")
    planting.put(tmp_path / "a", planting.safetensors())
    planting.put(tmp_path / "c", planting.png())

    assert [item.kind for item in look(tmp_path).items] == [Kind.WEIGHTS, Kind.IMAGE, Kind.TEXT]


def test_what_lies_on_the_disk_too_is_not_lost(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "disk")
    open_disk(disk)
    data = planting.torch_zip()
    planting.put(tmp_path / "disk/kept/under another name", data)
    planting.put(tmp_path / "root/same.pt", data)
    other = planting.put(tmp_path / "root/other.pt", data[:-1] + b"\1")

    found = look(tmp_path / "root", disk=disk)

    assert [item.path for item in found.items] == [other]


def test_a_file_of_a_package_that_was_changed_is_somebodys_work(tmp_path: Path) -> None:
    site = tmp_path / "opt/lib/python3/site-packages"
    planting.install(site, "net", 4)
    assert not look(tmp_path).items
    time.sleep(2.1)  # what is written within two seconds of the record belongs to the installation

    changed = site / "net/m0.png"
    data = bytearray(changed.read_bytes())
    data[-1] ^= 1
    changed.write_bytes(data)

    found = look(tmp_path)

    assert not found.items  # an image in an environment of packages is no result
    assert "in an environment of packages" in {passed.why for passed in found.passed}
    (site / "net/tuned").write_bytes(planting.safetensors())
    assert [Path(item.path).name for item in look(tmp_path).items] == ["tuned"]


def test_a_clean_pushed_clone_is_nothing_and_unpushed_commits_are_one_item(tmp_path: Path) -> None:
    unpushed, pushed = planting.trees(tmp_path)

    items = look(tmp_path / "home").items

    assert [(item.path, item.kind) for item in items] == [(unpushed, Kind.GIT)]
    assert "1 commit" in str(items[0].why)
    (Path(pushed) / "new.py").write_text("x = 1\n")
    (Path(pushed) / "src/train.py").write_text("changed\n")
    names = {Path(item.path).name for item in look(tmp_path / "home").items}
    assert names == {"unpushed", "new.py", "train.py"}


def test_a_removed_file_that_a_process_holds_can_still_be_seen(tmp_path: Path) -> None:
    code = (
        "import os,sys,time; f=open(sys.argv[1],'wb'); f.write(open(sys.argv[2],'rb').read()); f.flush();"
        "os.unlink(sys.argv[1]); print('on',flush=True); time.sleep(600)"
    )
    planting.put(tmp_path / "given", planting.safetensors())
    path = tmp_path / "root/gone.safetensors"
    path.parent.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", code, path, tmp_path / "given"], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        process.stdout.readline()
        found = look(tmp_path / "root")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()

    assert [(item.path, item.kind, item.held is not None) for item in found.items] == [
        (str(path), Kind.WEIGHTS, True)
    ]


def test_sockets_pipes_and_links_are_passed_over_and_nothing_outside_is_named(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    planting.put(tmp_path / "outside.safetensors", planting.safetensors())
    (root / "link").symlink_to(tmp_path / "outside.safetensors")
    (root / "folder").symlink_to(tmp_path)
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root / "s"))
        found = look(root)

    assert not found.items


def test_a_folder_that_cannot_be_listed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may list everything, so the refusal is given in the system's place."""
    closed = tmp_path / "closed"
    closed.mkdir()
    listing = os.scandir

    def refused(path: str) -> Iterator[os.DirEntry[str]]:
        if path == str(closed):
            raise PermissionError(13, "Permission denied", path)
        return listing(path)

    monkeypatch.setattr(os, "scandir", refused)

    assert look(tmp_path).unreadable == (str(closed),)


def test_every_file_system_that_may_go_with_the_machine_is_looked_at_once(tmp_path: Path) -> None:
    disk, scratch = tmp_path / "disk", tmp_path / "scratch"
    for folder in (disk, scratch, tmp_path / "nfs", tmp_path / "bound", tmp_path / "ro"):
        folder.mkdir()
    mounts = parse(
        f"""1 0 1:1 / {tmp_path} rw - overlay overlay rw
2 1 1:2 / {disk} rw - ext4 /dev/sdb rw
3 1 1:3 / {scratch} rw - tmpfs tmpfs rw
4 1 1:4 / {tmp_path}/nfs rw - nfs4 host:/x rw
5 1 1:1 /inside {tmp_path}/bound rw - overlay overlay rw
6 1 1:6 / {tmp_path}/ro ro - ext4 /dev/sdc ro
7 1 1:7 / /proc rw - proc proc rw
""".encode()
    )

    scope = this_machine("m", 0, Disk(disk), mounts)

    assert set(scope.roots) == {str(tmp_path), str(scratch)}
    assert {point for point, _why in scope.not_looked_at} == {
        str(disk),
        f"{tmp_path}/nfs",
        f"{tmp_path}/ro",
    }
    planting.put(disk / "kept.txt", b"text")
    planting.put(scratch / "lost.txt", b"other text")
    assert [item.path for item in find(scope).items] == [f"{scratch}/lost.txt"]
