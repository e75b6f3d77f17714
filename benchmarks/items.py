"""What an item costs beside a bare write of the same file: one by one, and a thousand at a time."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.attempt import make_attempt
from benchmarks.result import Measure, Result, median
from lastro.rules import CheckpointPolicy

BYTES = os.urandom(1536)  # an embedding of 384 floats
MANY, FEW, ROUNDS = 5_000, 300, 3
TARGET_MANY = 5.0


def _bare(root: Path, count: int) -> None:
    root.mkdir()
    for number in range(count):
        (root / str(number)).write_bytes(BYTES)


def _careful(root: Path, count: int) -> None:
    """Write as whoever wants each file to survive a power cut has to: fsync, rename, fsync the folder."""
    root.mkdir()
    folder = os.open(root, os.O_RDONLY)
    for number in range(count):
        aside = root / f"{number}.part"
        with aside.open("wb") as file:
            file.write(BYTES)
            file.flush()
            os.fsync(file.fileno())
        aside.rename(root / str(number))
        os.fsync(folder)
    os.close(folder)


def _items(root: Path, count: int, batch: int) -> None:
    attempt = make_attempt(root, CheckpointPolicy(every_steps=10**9))
    for item in attempt.items(range(count), batch=batch):
        item.path.write_bytes(BYTES)


def _skip(root: Path, count: int) -> None:
    """Begin again where everything is done."""
    attempt = make_attempt(root, CheckpointPolicy(every_steps=10**9), number=2)
    for _item in attempt.items(range(count)):
        raise AssertionError("it was done")


def _each(work: Callable[[], None], count: int) -> float:
    """Return microseconds for each item; what others have written is on the disk before."""
    os.sync()
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) / count * 1e6


def run() -> Result:
    bare: list[float] = []
    many: list[float] = []
    careful: list[float] = []
    single: list[float] = []
    skipped: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(ROUNDS):
            root = Path(folder, str(number))
            root.mkdir()
            bare.append(_each(partial(_bare, root / "bare", MANY), MANY))
            many.append(_each(partial(_items, root / "many", MANY, 1000), MANY))
            skipped.append(_each(partial(_skip, root / "many", MANY), MANY))
            careful.append(_each(partial(_careful, root / "careful", FEW), FEW))
            single.append(_each(partial(_items, root / "single", FEW, 1), FEW))
    return Result(
        measures=(
            median("a bare write", bare, "us"),
            median("an item, batch=1000", many, "us"),
            median("fsync, rename, fsync by hand", careful, "us"),
            median("an item, batch=1", single, "us"),
            median("an item that is done already", skipped, "us"),
            median(
                "batch=1000 / bare write",
                [item / write for item, write in zip(many, bare, strict=True)],
                "x",
                TARGET_MANY,
            ),
            Measure(
                name="batch=1 / by hand",
                value=sorted(single)[ROUNDS // 2] / sorted(careful)[ROUNDS // 2],
                unit="x",
            ),
        ),
        notes=(
            f"{ROUNDS} rounds in turns; {MANY} files of {len(BYTES)} bytes in batches, {FEW} one by one.",
            "A bare write is only on its way to the disk; a published item is on it, with its digest.",
        ),
    )
