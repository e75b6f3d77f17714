"""A set-up downloads once; the next machine does it without a network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lastro.paths import Disk
from lastro.run.wheels import lists_of, with_wheels
from tests.run.package_index import package, serving


@pytest.mark.parametrize(
    ("setup", "lists"),
    [
        ("pip install -r requirements.txt", ["requirements.txt"]),
        ("python -m venv v && v/bin/pip install --quiet -r a.txt; python b.py", ["a.txt"]),
        ("python -m pip install --requirement=lock.txt -U", ["lock.txt"]),
        ("pip install -r 'a.txt' && pip install -r b.txt", ["a.txt", "b.txt"]),
        ("pip install torch", []),
        ("apt-get install -r x", []),
        ("make -r all", []),
    ],
)
def test_the_lists_that_a_setup_gives_to_pip(setup: str, lists: list[str]) -> None:
    assert lists_of(setup) == lists


def test_a_setup_without_a_list_or_with_one_that_is_not_there_is_done_as_it_is_written(
    tmp_path: Path,
) -> None:
    disk = Disk(tmp_path)

    assert with_wheels("pip install x", tmp_path, disk) == ("sh", "-c", "pip install x")
    assert with_wheels("pip install -r x", tmp_path, disk) == ("sh", "-c", "pip install -r x")


def machine(tmp_path: Path, number: int, disk: Disk, index: str) -> subprocess.CompletedProcess[str]:
    """Do the set-up as a new machine does it: with an empty home, and the disk."""
    folder = tmp_path / f"machine{number}"
    folder.mkdir()
    (folder / "requirements.txt").write_text("tinynet==1.0\n")
    setup = "python -m pip install --quiet --target installed -r requirements.txt"
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "PIP_CACHE_DIR": str(disk.caches / "pip"),
        "PIP_INDEX_URL": f"{index}/simple",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    argv = with_wheels(setup, folder, disk)
    return subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_second_machine_installs_the_same_and_downloads_nothing(tmp_path: Path) -> None:
    files = package("tinynet")
    disk = Disk(tmp_path / "disk")
    disk.caches.mkdir(parents=True)
    with serving(files) as index:
        first = machine(tmp_path, 1, disk, index.address)
        once = index.sent
        second = machine(tmp_path, 2, disk, index.address)
        again = index.sent - once

    wheel = next(data for path, data in files.items() if path.endswith(".whl"))
    assert (first.returncode, second.returncode) == (0, 0), (first.stderr, second.stderr)
    assert len(wheel) <= once < 2 * len(wheel)
    assert again == 0
    installed = [tmp_path / f"machine{n}/installed/tinynet/data.bin" for n in (1, 2)]
    assert installed[0].read_bytes() == installed[1].read_bytes()


def test_a_wheelhouse_that_lacks_something_is_told_and_the_network_is_used(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "disk")
    disk.caches.mkdir(parents=True)
    with serving(package("tinynet")) as index:
        machine(tmp_path, 1, disk, index.address)
        for wheel in disk.wheelhouse.glob("*.whl"):
            wheel.unlink()
        second = machine(tmp_path, 2, disk, index.address)

    assert second.returncode == 0, second.stderr
    assert "with the network" in second.stderr
