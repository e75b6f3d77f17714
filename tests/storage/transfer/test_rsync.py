from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lastro.errors import StorageError
from lastro.storage.transfer.mirror import SshMirror
from lastro.storage.transfer.place import Remote
from lastro.storage.transfer.rsync import rsync
from tests.storage.pack.trees import content, plant, plant_awkward


@dataclass
class Machine:
    """A real sshd on loopback, of this user; `ssh` is how it is reached."""

    port: int
    ssh: tuple[str, ...]

    def place(self, path: Path) -> Remote:
        return Remote(host="127.0.0.1", port=self.port, user=getpass.getuser(), path=str(path))


def _keys(folder: Path) -> None:
    for name in ("host", "user"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(command, check=True)
    (folder / "authorized").write_bytes((folder / "user.pub").read_bytes())


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    sshd = shutil.which("sshd") or "/usr/sbin/sshd"
    if not Path(sshd).exists() or shutil.which("rsync") is None:
        pytest.skip("sshd and rsync are not installed here: make system")
    folder = tmp_path_factory.mktemp("sshd")
    _keys(folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "ListenAddress": "127.0.0.1",
        "Port": str(port),
        "HostKey": str(folder / "host"),
        "AuthorizedKeysFile": str(folder / "authorized"),
        "PidFile": "none",
        "StrictModes": "no",
        "UsePAM": "no",
        "PasswordAuthentication": "no",
    }
    (folder / "config").write_text("".join(f"{key} {value}\n" for key, value in settings.items()))
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    with (folder / "log").open("w") as log:
        process = subprocess.Popen([sshd, "-D", "-e", "-f", str(folder / "config")], stderr=log)
    try:
        for _attempt in range(200):
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, (folder / "log").read_text()
            time.sleep(0.05)
        options = ("-F", "none", "-i", str(folder / "user"), "-o", "IdentitiesOnly=yes")
        known = ("-o", "StrictHostKeyChecking=no", "-o", f"UserKnownHostsFile={folder / 'known'}")
        yield Machine(port, ("ssh", *options, *known, "-o", "LogLevel=ERROR"))
    finally:
        process.terminate()
        process.wait()


def test_a_folder_goes_and_comes_back(machine: Machine, tmp_path: Path) -> None:
    source = plant_awkward(plant(tmp_path / "source", count=5))
    (tmp_path / "back").mkdir()

    sent = rsync(source, machine.place(tmp_path / "far" / "away"), away=True, ssh=machine.ssh)
    rsync(tmp_path / "back", machine.place(tmp_path / "far" / "away"), away=False, ssh=machine.ssh)

    assert sent.repaired == ()
    assert content(tmp_path / "far" / "away") == content(source)
    assert content(tmp_path / "back") == content(source)


def test_half_a_file_is_gone_on_with(machine: Machine, tmp_path: Path) -> None:
    """Half of 8 MB is there: what moves is the other half, and a little."""
    source = tmp_path / "source"
    source.mkdir()
    data = os.urandom(8 * 10**6)
    (source / "big").write_bytes(data)
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "big").write_bytes(data[: 4 * 10**6])

    sent = rsync(source, machine.place(tmp_path / "far"), away=True, ssh=machine.ssh)

    assert (tmp_path / "far" / "big").read_bytes() == data
    assert 4 * 10**6 < sent.moved_bytes < 4.2 * 10**6


def test_a_byte_that_differs_at_the_same_length_is_found_and_repaired(
    machine: Machine, tmp_path: Path
) -> None:
    """What rsync takes to be equal by length and time is not: the comparison reads both ends."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "file").write_bytes(b"right" * 1000)
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "file").write_bytes(b"wrong" * 1000)
    os.utime(tmp_path / "far" / "file", ns=((source / "file").stat().st_mtime_ns,) * 2)

    sent = rsync(source, machine.place(tmp_path / "far"), away=True, ssh=machine.ssh)

    assert sent.repaired == ("file",)
    assert (tmp_path / "far" / "file").read_bytes() == b"right" * 1000


def test_a_mirror_by_ssh_gives_back_what_it_was_given(machine: Machine, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    folder = plant(disk / "runs" / "r" / "checkpoints" / "10-a1", count=3)
    drawn: list[int] = []
    mirror = SshMirror(machine.place(tmp_path / "far"), drawn.append, machine.ssh)
    before = mirror.holds(".lastro/disk.json")

    mirror.send_folder(folder, "runs/r/checkpoints/10-a1")
    mirror.send_file(b"old", ".lastro/disk.json")
    mirror.send_file(b"new disk", ".lastro/disk.json")
    mirror.fetch(tmp_path / "back", ".lastro/disk.json")

    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    # A copy is drawn before it begins: the folder, the file twice, and back all but the last, and the last.
    assert drawn == [size, 3, 8, size, 8]
    assert (before, mirror.holds(".lastro/disk.json")) == (False, True)
    assert (tmp_path / "back" / ".lastro" / "disk.json").read_bytes() == b"new disk"
    assert content(tmp_path / "back" / "runs") == content(disk / "runs")


def test_a_machine_that_is_not_there_is_told(tmp_path: Path) -> None:
    if shutil.which("rsync") is None:
        pytest.skip("rsync is not installed here")
    with pytest.raises(StorageError, match="rsync ended"):
        rsync(plant(tmp_path / "source", count=1), Remote(host="127.0.0.1", port=9, path="/x"), away=True)
