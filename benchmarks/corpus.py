"""A corpus of many small files, as the benchmarks `pack` and `data` use it."""

from __future__ import annotations

import os
import random
from pathlib import Path

#: `BENCH_FILES=100000` for the size that the targets are named at.
FILES = int(os.environ.get("BENCH_FILES", "20000"))
FOLDERS = 500


def plant(root: Path) -> None:
    """Make files of 20 to 50 kB that cannot be made smaller."""
    chance = random.Random(1)
    for number in range(FILES):
        folder = root / f"{number % FOLDERS:03d}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number:06d}.jpg").write_bytes(chance.randbytes(chance.randrange(20_000, 50_000)))
