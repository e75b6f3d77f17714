"""What packing costs beside GNU tar, which makes no sums."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.corpus import FILES, plant
from benchmarks.result import Result, median
from lastro.storage.pack.checksum import best
from lastro.storage.pack.layout import shard_name
from lastro.storage.pack.shard import write_shard
from lastro.storage.pack.tree import read_tree

ROUNDS = 5


def _cpu() -> float:
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def _cost(work: Callable[[], object]) -> float:
    """Return the CPU time for each file, in microseconds."""
    began = _cpu()
    work()
    return (_cpu() - began) / FILES * 1e6


def _shard(source: Path, target: Path) -> None:
    write_shard(source, read_tree(source).entries, target, best(), lambda _count: None)


def run() -> Result:
    tar: list[float] = []
    ours: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        plant(root / "source")
        command = ["tar", "cf", str(root / "plain.tar"), "-C", str(root), "source"]
        for _number in range(ROUNDS):
            tar.append(_cost(partial(subprocess.run, command, check=True)))
            ours.append(_cost(partial(_shard, root / "source", root / shard_name(0))))
    return Result(
        measures=(
            median("GNU tar, CPU for a file", tar, "us"),
            median("a shard, CPU for a file", ours, "us"),
            median("a shard / GNU tar", [a / b for a, b in zip(ours, tar, strict=True)], "x", 1.0),
        ),
        notes=(
            f"{FILES} files of about 35 kB, {ROUNDS} rounds in turns, one process each.",
            "Listing the files, an item's sum and the shard's SHA-256 are in it, and its fsync.",
        ),
    )
