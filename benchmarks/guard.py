"""How fast every file of a tree is looked at, beside a bare walk that asks for each file's times."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from benchmarks.result import Result, median
from lastro.disk.guard.scan import scan

FILES = int(os.environ.get("BENCH_GUARD_FILES", "60000"))
ROUNDS = 7
_A_FOLDER = 100


def _bare(root: str) -> int:
    count, waiting = 0, [root]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    entry.stat(follow_symlinks=False)
                    count += 1
    return count


def run() -> Result:
    bare: list[float] = []
    guard: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(FILES):
            place = Path(folder, f"d{number // _A_FOLDER}")
            if number % _A_FOLDER == 0:
                place.mkdir()
            (place / f"f{number}").write_bytes(b"x")
        for _number in range(ROUNDS):
            began = time.process_time()
            _bare(folder)
            middle = time.process_time()
            found = scan(folder, time.time_ns() + 10**12)
            bare.append(middle - began)
            guard.append(time.process_time() - middle)
            assert found.files == FILES
    ratios = [a / b for a, b in zip(guard, bare, strict=True)]
    return Result(
        measures=(
            median("a bare walk", bare, "s"),
            median("the guard's walk", guard, "s"),
            median("guard / bare walk", ratios, "x", 1 / 0.9),
        ),
        notes=(f"{FILES} files, names and times in memory; CPU time",),
    )
