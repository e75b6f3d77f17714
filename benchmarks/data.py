"""What a shuffled epoch of a pack costs beside raw and plain reads, and a resume in the middle of one."""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from benchmarks.corpus import FILES, plant
from benchmarks.result import Measure, Result, median
from lastro.data import PackedDataset, PackedLoader
from lastro.storage.pack.pack import pack
from lastro.storage.system import forget

ROUNDS = 5
BUFFER, BATCH = 4 << 20, 32


def _time(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _raw(paths: Sequence[Path]) -> float:
    """Read files from their beginning to their end; return the CPU seconds that it took."""
    began = time.process_time()
    view = memoryview(bytearray(BUFFER))
    for path in paths:
        with path.open("rb", buffering=0) as file:
            while file.readinto(view):
                pass
    return time.process_time() - began


def _part(folder: Path, epoch: int, reader: int, readers: int) -> float:
    """Read one process's share of the batches of a shuffled epoch; return the CPU seconds that it took."""
    began = time.process_time()
    data = PackedDataset(folder, order="exact")
    for batch in PackedLoader(data, batch_size=BATCH, seed=epoch, drop_last=True, ranks=(reader, readers)):
        assert batch[-1]["jpg"]
    return time.process_time() - began


def _both(pool: ProcessPoolExecutor, folder: Path, epoch: int) -> float:
    """Return the CPU seconds of the slower of two readers."""
    return max(pool.map(_part, [folder] * 2, [epoch] * 2, range(2), [2] * 2))


def _plain(paths: Sequence[Path]) -> int:
    return sum(len(path.read_bytes()) for path in paths)


def _drop(paths: Sequence[Path]) -> None:
    """Let the system forget what it holds of these files."""
    os.sync()
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        forget(descriptor)
        os.close(descriptor)


def run() -> Result:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        plant(root / "source")
        packed = pack(root / "source", root / "packed").folder
        shards = sorted(packed.glob("shard-*.tar"))
        # Before the plain files push the shards out of the system's memory.
        warm, resume = _warm(packed, shards), _resume(packed)
        cold = _cold(packed, shards, sorted((root / "source").glob("*/*")))
    return Result(
        measures=(*warm, cold, resume),
        notes=(
            f"{FILES} files of about 35 kB, {ROUNDS} rounds in turns; each item's sum is checked.",
            "Warm reads wait for nothing, so they are compared by CPU time; of two, the slower one.",
            "Cold: the system has let go of the files' content, not of their names; the host's memory stays.",
        ),
    )


def _warm(packed: Path, shards: Sequence[Path]) -> list[Measure]:
    one: list[float] = []
    two: list[float] = []
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
        _both(pool, packed, 0)  # starts the readers, and reads everything into memory
        for epoch in range(ROUNDS):
            raw = _raw(shards)
            one.append(_part(packed, epoch, 0, 1) / raw)
            two.append(_both(pool, packed, epoch) / raw)
    return [
        median("shuffled epoch, one reader / raw read", one, "x", 2.0),
        median("shuffled epoch, two readers / raw read", two, "x", 1.25),
    ]


def _cold(packed: Path, shards: Sequence[Path], paths: Sequence[Path]) -> Measure:
    ratios = []
    for number in range(3):
        _drop(paths)
        plain = _time(partial(_plain, random.Random(number).sample(paths, len(paths))))
        _drop(shards)
        ratios.append(_time(partial(_part, packed, number, 0, 1)) / plain)
    return median("shuffled epoch, cold / plain files, cold", ratios, "x", 0.33)


def _resume(packed: Path) -> Measure:
    """From making the dataset to the first batch in the middle of an epoch."""
    times = []
    state = PackedLoader(PackedDataset(packed, order="exact"), batch_size=32, seed=7).state_dict()
    for _number in range(ROUNDS):
        began = time.perf_counter()
        loader = PackedLoader(PackedDataset(packed, order="exact"), batch_size=32, seed=7)
        loader.load_state_dict({**state, "samples": FILES // 2})
        next(iter(loader))
        times.append((time.perf_counter() - began) * 1e3)
    return median("resume in mid-epoch, to the first batch", times, "ms", 100.0)
