"""What a job leaves beside the disk of a machine elsewhere is on the disk before that is given back."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lastro.paths import Disk
from tests.flow.test_ssh import far_campaign
from tests.providers.ssh.sshd import Rented, rented

ELSEWHERE = Path("/dev/shm")


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rented]:
    with rented(tmp_path_factory.mktemp("rented") / "machine") as found:
        yield found


@pytest.fixture
def volume() -> Iterator[Path]:
    """A disk on another file system than the machine's home."""
    if not ELSEWHERE.is_dir() or ELSEWHERE.stat().st_dev == Path(tempfile.gettempdir()).stat().st_dev:
        pytest.skip("there is no second file system here")
    folder = Path(tempfile.mkdtemp(dir=ELSEWHERE, prefix="lastro-volume-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_what_lies_beside_the_disk_is_copied_to_it_at_the_end(
    tmp_path: Path, machine: Rented, volume: Path
) -> None:
    """In the working folder and in the home there; what was there before the campaign is nobody's work."""
    (machine.home / "old.pt").write_bytes(b"old" * 100)
    campaign = far_campaign(tmp_path, machine, str(volume))
    job = campaign.folder / "job.py"
    job.write_text(
        job.read_text()
        + "open('model.pt', 'wb').write(b'here' * 100)\n"
        + f"open({str(machine.home / 'best.ckpt')!r}, 'wb').write(b'home' * 100)\n"
    )

    done = campaign.lastro("run", "--only", "control")

    assert done.returncode == 0, done.stderr
    (rescued,) = Disk(volume).root.glob("rescued/ssh-*/")
    copies = {path.name: path.read_bytes() for path in rescued.rglob("*") if path.is_file()}
    assert copies == {"model.pt": b"here" * 100, "best.ckpt": b"home" * 100}
    assert "2 files of value lay beside the disk" in done.stdout
    assert (machine.home / "best.ckpt").exists()  # nothing is wiped there


def test_what_lies_on_the_disks_own_file_system_is_not_looked_at(tmp_path: Path, machine: Rented) -> None:
    campaign = far_campaign(tmp_path, machine, "its-disk")
    job = campaign.folder / "job.py"
    job.write_text(job.read_text() + "open('model.pt', 'wb').write(b'here' * 100)\n")

    done = campaign.lastro("run", "--only", "control")

    assert done.returncode == 0, done.stderr
    assert "files of value" not in done.stdout
    assert not list((machine.home / "its-disk").glob("rescued*"))
