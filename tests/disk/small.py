"""Scenarios on a disk of a few megabytes, mounted in a namespace of its own, so that no mount leaks.

A tmpfs, or an ext4 on a loop device, which can be made to break. What runs inside the namespace is
`python -m tests.disk.small MODULE FUNCTION FOLDER KIND BYTES`.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: With processes of its own as well: when the scenario ends, however it does, nothing of it stays alive.
_NAMESPACE = (
    *("unshare", "--mount", "--propagation", "private"),
    *("--pid", "--fork", "--kill-child", "--mount-proc"),
)


@cache
def refused(kind: str) -> str | None:
    """Return why such a disk cannot be mounted here (root can); None when it can."""
    with tempfile.TemporaryDirectory() as folder:
        mount = [sys.executable, "-m", "tests.disk.small", "--try", folder, kind]
        try:
            tried = subprocess.run(
                [*_NAMESPACE, *mount], cwd=ROOT, capture_output=True, text=True, check=False
            )
        except FileNotFoundError as error:
            return str(error)
    return None if tried.returncode == 0 else f"mounting {kind} is refused here: {tried.stderr[-200:]}"


def on_a_small_disk(
    size: int, kind: str = "tmpfs"
) -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
    """Run a test in a namespace where `tmp_path / "disk"` is a disk of `size` bytes."""

    def decorate(scenario: Callable[[Path], None]) -> Callable[[Path], None]:
        @wraps(scenario)
        def test(tmp_path: Path) -> None:
            if os.environ.get("SMALL_DISK") == str(tmp_path):
                scenario(tmp_path)
                return
            if (why := refused(kind)) is not None:
                pytest.skip(why)
            inside = [scenario.__module__, scenario.__qualname__, str(tmp_path), kind, str(size)]
            done = subprocess.run(
                [*_NAMESPACE, sys.executable, "-m", "tests.disk.small", *inside],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=110,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr

        return test

    return decorate


def fill(folder: Path, leave: int = 0) -> Path:
    """Write until the disk takes no more, then give `leave` bytes back; return the file to remove."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(64 * 1024))
        except OSError:
            os.ftruncate(file.fileno(), max(0, os.fstat(file.fileno()).st_size - leave))
    return ballast


def break_disk(disk: Path) -> None:
    """Let an ext4 find an error in itself: from here on it is read-only, whatever is open on it."""
    lines = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    device = next(Path(source).name for source, place, *_rest in lines if place == str(disk))
    Path("/sys/fs/ext4", device, "trigger_fs_error").write_text("1")


def _mount(disk: Path, kind: str, size: int) -> None:
    disk.mkdir(exist_ok=True)
    if kind == "tmpfs":
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]
    else:
        image = disk.with_name("disk.img")
        with image.open("wb") as file:
            file.truncate(size)
        subprocess.run(["mkfs.ext4", "-q", "-m", "0", str(image)], check=True)
        command = ["mount", "-o", "loop,errors=remount-ro", str(image), str(disk)]
    subprocess.run(command, check=True)


def main(arguments: list[str]) -> None:
    if arguments[0] == "--try":
        _mount(Path(arguments[1], "disk"), arguments[2], 16 * 2**20)
        return
    module, name, folder, kind, size = arguments
    _mount(Path(folder, "disk"), kind, int(size))
    os.environ["SMALL_DISK"] = folder
    getattr(importlib.import_module(module), name)(Path(folder))


if __name__ == "__main__":
    main(sys.argv[1:])
