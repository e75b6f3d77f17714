"""Runs the kernels, in a process of its own with one thread: `main` reads a task and tells what it measured.

Standard library, and the torch or NumPy of the Python that it runs in, where there is one.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from lastro.preflight.speed.law import MOST_PAIRS, Answer, Bounds, judge, pair_of

#: CPU seconds that one piece of work takes about: long beside the clock, short beside what neighbours do.
PIECE_SECONDS = 0.01
_WARM = 3
_CGROUPS = ("/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/cpu/cpu.stat", "/sys/fs/cgroup/cpu,cpuacct/cpu.stat")

Work = Callable[[], Any]


def reference() -> Work:
    """Return the reference: SHA-256 over 256 KiB, which stays in the cache and needs nothing but the core."""
    block = bytes(1 << 18)
    return lambda: hashlib.sha256(block).digest()


def kernels() -> dict[str, tuple[Work, str]]:
    """Return the kernels that can be run here, by name, with what they are made of."""
    source, target = bytes(4 << 20), bytearray(4 << 20)

    def copy() -> None:
        target[:] = source

    found: dict[str, tuple[Work, str]] = {"copy": (copy, f"python {sys.version.split()[0]}")}
    matmul = _matmul()
    if matmul is not None:
        found["matmul"] = matmul
    return found


def _matmul() -> tuple[Work, str] | None:
    with suppress(Exception):  # a broken installation is told by other checks
        import torch

        torch.set_num_threads(1)
        a = torch.ones(256, 256)
        return (lambda: torch.mm(a, a)), f"torch {torch.__version__}"
    with suppress(Exception):
        import numpy

        b: Any = numpy.ones((256, 256), dtype="float32")
        return (lambda: b @ b), f"numpy {numpy.__version__}"
    return None


def times_for(work: Work, piece: float) -> int:
    """Return how often a work has to be done to take about so many CPU seconds."""
    work()
    count = 1
    while True:
        took = seconds_of(work, count)
        if took >= piece / 2:
            return max(1, round(count * piece / took))
        count *= 2


def seconds_of(work: Work, count: int) -> float:
    """Return the CPU seconds of this process for `count` times a work."""
    began = time.process_time()
    for _time in range(count):
        work()
    return max(time.process_time() - began, 1e-9)


def measure(
    work: Work, basis: Work, usual: float | None, bounds: Bounds | None, *, piece: float = PIECE_SECONDS
) -> dict[str, Any]:
    """Run pairs until they answer, MOST_PAIRS at most; without bounds, all of them.

    Args:
        work: the kernel.
        basis: the reference.
        usual: the median of earlier runs, log units; None: there is none.
        bounds: within which it is well, or slow.
        piece: CPU seconds of each half of a pair.
    """
    often, basis_often = times_for(work, piece), times_for(basis, piece)
    pairs: list[float] = []
    alone: list[float] = []
    before = seconds_of(basis, basis_often)
    for number in range(MOST_PAIRS + _WARM):
        took, after = seconds_of(work, often), seconds_of(basis, basis_often)
        if number >= _WARM:
            pairs.append(pair_of(before / basis_often, took / often, after / basis_often))
            alone.append(after / basis_often)
        before = after
        if usual is None or bounds is None:
            continue
        if judge([pair - usual for pair in pairs], bounds).answer is not Answer.OPEN:
            break
    return {"pairs": pairs, "reference_seconds": sorted(alone)[len(alone) // 2]}


def throttled_seconds(paths: tuple[str, ...] = _CGROUPS) -> float | None:
    """Return for how long this process's group was held back by a quota so far; None: nobody counts it."""
    for path in paths:
        with suppress(OSError, ValueError):
            told = dict(line.split() for line in Path(path).read_text().splitlines() if " " in line)
            if "throttled_usec" in told:
                return int(told["throttled_usec"]) / 1e6
            if "throttled_time" in told:
                return int(told["throttled_time"]) / 1e9
    return None


def run(task: Mapping[str, Any]) -> dict[str, Any]:
    """Measure every kernel. `task["usual"]`: by kernel and what it is made of, [median, number of runs]."""
    basis, works = reference(), kernels()
    found: dict[str, Any] = {}
    held, began, cpu = throttled_seconds(), time.monotonic(), time.process_time()
    for name, (work, made_of) in works.items():
        usual = task["usual"].get(f"{name}, {made_of}")
        bounds = Bounds.after(int(usual[1])) if usual else None
        found[name] = {"of": made_of, **measure(work, basis, usual[0] if usual else None, bounds)}
    wall, cpu = time.monotonic() - began, time.process_time() - cpu
    now = throttled_seconds()
    return {
        "kernels": found,
        "wall_seconds": wall,
        "cpu_seconds": cpu,
        "throttled_seconds": None if held is None or now is None else now - held,
    }


def main() -> None:
    """Read the task from standard input, write the result to standard output."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    json.dump(run(json.load(sys.stdin)), sys.stdout)
