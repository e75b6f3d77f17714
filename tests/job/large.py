"""A training script whose state is written beside its loop. Run as a program.

Environment: WISH is a JSON object with `steps`, and optionally
`slow`: the disk takes nothing of a large file until the loop has reached this step (and, with `until`, until
that file exists too); `flip`: the disk writes another byte than it was given; `end_at`: with `end`, one of
`exit`, `raise`, `break`; `save_at`: `attempt.save()` after this step; `workers`: of a DataLoader.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

import lastro
from lastro.checkpoint import bulk

wish: dict[str, Any] = json.loads(os.environ["WISH"])
reached = 0
real_write = bulk.write


def write(path: Path, memory: memoryview, heed: Callable[[memoryview], object]) -> None:
    """Stand in for a disk that is slow, or that does not keep what it is given."""
    while reached < wish.get("slow", 0) or not Path(wish.get("until", "/")).exists():
        time.sleep(0.001)
    real_write(path, memory, heed)
    if wish.get("flip"):
        with path.open("r+b") as file:
            file.seek(len(memory) // 2)
            file.write(b"\x77")


bulk.write = write


class Numbers(torch.utils.data.Dataset[int]):
    def __len__(self) -> int:
        return int(wish["steps"])

    def __getitem__(self, index: int) -> int:
        return index


model = torch.nn.ParameterDict({"weight": torch.nn.Parameter(torch.zeros(3_000_000))})
attempt = lastro.attach()
attempt.track(model=model)


def batches() -> Iterator[int]:
    workers = wish.get("workers", 0)
    loader = attempt.loader(Numbers(), num_workers=workers) if workers else list(range(wish["steps"]))
    for step, _batch in attempt.steps(loader):
        yield step.number


for number in batches():
    reached = number
    with torch.no_grad():
        model["weight"].fill_(number)
    if number == wish.get("save_at"):
        attempt.save()
        sys.stderr.write("saved\n")
    if number == wish.get("end_at"):
        if wish["end"] == "break":
            break
        if wish["end"] == "raise":
            raise RuntimeError("the data ran out")
        sys.exit(3)
sys.stderr.write(f"the loop has ended at {reached}\n")
