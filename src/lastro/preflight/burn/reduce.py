"""Sums over several devices: each sends known numbers, and each has to see the one right sum."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

_FEWEST = 3
#: Whole numbers below this add up exactly in float32 for up to 256 devices.
_NUMBERS = 2**12


def check_reduce(
    torch: Any,
    rank: int,
    world: int,
    backend: str,
    place: str,
    size: int,
    seconds: float,
    *,
    reduce: Callable[[Any], Any] | None = None,
) -> dict[str, Any]:
    """Take part in sums over `world` processes; all of them call this.

    Args:
        torch: the library.
        rank: of this process; with NCCL also of its GPU.
        world: how many there are, 256 at most.
        backend: nccl or gloo.
        place: a file by which they find each other, on a file system that all of them see.
        size: bytes of what is added.
        seconds: for so long, three times at least; the first process decides.
        reduce: what adds; by itself torch.distributed.all_reduce.

    Returns:
        `times`, `wrong` (numbers that are not the sum) and `pace`: bytes a second over the bus, as NCCL's own
        tests count them (2 (n - 1) / n of the size for each time; nccl-tests, doc/PERFORMANCE.md).
    """
    distributed = torch.distributed
    limit = timedelta(seconds=max(30.0, 3 * seconds))
    distributed.init_process_group(
        backend, init_method=f"file://{place}", rank=rank, world_size=world, timeout=limit
    )
    try:
        device = f"cuda:{rank}" if backend == "nccl" else "cpu"
        numbers = torch.arange(size // 4, device=device).remainder(_NUMBERS).float()
        expected = numbers * (world * (world + 1) // 2)
        add = reduce if reduce is not None else distributed.all_reduce
        wrong, paces = 0, []
        deadline = time.monotonic() + seconds
        while True:
            own = numbers * (rank + 1)
            began = time.monotonic()
            add(own)
            if backend == "nccl":
                torch.cuda.synchronize(device)
            paces.append(2 * (world - 1) / world * size / max(time.monotonic() - began, 1e-9))
            wrong += int((own != expected).sum())
            over = torch.tensor([len(paces) >= _FEWEST and time.monotonic() >= deadline], device=device)
            over = over.int()
            distributed.broadcast(over, 0)
            if int(over):
                break
        return {"world": world, "backend": backend, "times": len(paces), "wrong": wrong,
                "pace": statistics.median(paces)}  # fmt: skip
    finally:
        distributed.destroy_process_group()
