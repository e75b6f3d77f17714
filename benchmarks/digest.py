"""The digest of a file, as a closing takes it of each, against a raw read of the same file."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.result import Measure, Result, median
from lastro.storage.digest import sha256_file
from lastro.storage.manifest import Manifest

BYTES, ROUNDS, PIECE, FILES = 256 * 2**20, 7, 2**20, 8
#: Of the speed of a raw read; as times the other way round.
TARGET = 1 / 0.8


def _read(path: Path) -> None:
    buffer = memoryview(bytearray(PIECE))
    with path.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def _read_all(paths: Sequence[Path]) -> None:
    for path in paths:
        _read(path)


def _forget(path: Path) -> None:
    """Let the system forget the content of a file, so that the next read comes from the disk."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _seconds(act: Callable[[Path], object], path: Path, clock: Callable[[], float]) -> float:
    began = clock()
    act(path)
    return clock() - began


def _ratios(path: Path, clock: Callable[[], float], *, cold: bool) -> list[float]:
    found = []
    for _round in range(ROUNDS):
        took = []
        for act in (sha256_file, _read):
            if cold:
                _forget(path)
            took.append(_seconds(act, path, clock))
        found.append(took[0] / took[1])
    return found


def _folder(folder: Path, clock: Callable[[], float]) -> list[float]:
    """Compare a manifest of a folder with a raw read of its files one after the other, both from the disk."""
    paths = []
    for number in range(FILES):
        path = folder / f"part-{number}"
        with path.open("wb") as file:
            for _piece in range(BYTES // FILES // PIECE):
                file.write(os.urandom(PIECE))
            os.fsync(file.fileno())
        paths.append(path)
    found = []
    for _round in range(ROUNDS):
        took = []
        for act in (Manifest.of, lambda _folder: _read_all(paths)):
            for path in paths:
                _forget(path)
            took.append(_seconds(act, folder, clock))
        found.append(took[0] / took[1])
    return found


def run() -> Result:
    with tempfile.TemporaryDirectory() as folder:
        several = _folder(Path(folder), time.monotonic)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        with path.open("wb") as file:
            for _piece in range(BYTES // PIECE):
                file.write(os.urandom(PIECE))
            os.fsync(file.fileno())
        cold = _ratios(path, time.monotonic, cold=True)
        sha256_file(path)
        warm = _ratios(path, time.process_time, cold=False)
        speed = BYTES / _seconds(sha256_file, path, time.process_time) / 1e9
    return Result(
        measures=(
            median("SHA-256 of a file / a raw read, from the disk", cold, "x", TARGET),
            median("a manifest of 8 files / a raw read, from the disk", several, "x", TARGET),
            median("of one file from memory, CPU", warm, "x"),
            Measure(name="SHA-256 of a gigabyte, CPU", value=1 / speed, unit="s"),
        )
    )
