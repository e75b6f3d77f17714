"""How long a save stops training, against writing the same bytes and waiting for the disk."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from benchmarks.attempt import make_attempt
from benchmarks.result import Measure, Result, median
from lastro.checkpoint import store
from lastro.rules import CheckpointPolicy

PARAMETERS, ROUNDS = 16_700_000, 5


def _floor(folder: Path, data: bytearray) -> float:
    began = time.perf_counter()
    with (folder / "floor").open("xb", buffering=0) as file:
        file.write(data)
        os.fsync(file.fileno())
    seconds = time.perf_counter() - began
    (folder / "floor").unlink()
    return seconds


def run() -> Result:
    import torch

    torch.set_num_threads(1)
    weight = torch.nn.Parameter(torch.randn(PARAMETERS))
    model = torch.nn.ParameterDict({"weight": weight})
    optimizer = torch.optim.AdamW(model.parameters())
    weight.grad = torch.randn(PARAMETERS)
    optimizer.step()
    weight.grad = None
    ratios, saves, floors, verifies = [], [], [], []
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as name:
        folder = Path(name)
        attempt = make_attempt(folder, CheckpointPolicy(every_steps=1, keep=1))
        attempt.track(model=model, optimizer=optimizer)
        attempt.restore()
        data = bytearray(os.urandom(1 << 20)) * (3 * PARAMETERS * 4 >> 20)
        for step in range(1, ROUNDS + 2):
            floor = _floor(folder, data)
            began = time.perf_counter()
            attempt.safe_point(step)
            attempt.save()  # waits until it is durable and read again
            seconds = time.perf_counter() - began
            (saved,) = store.names(folder / "runs" / "bench" / "checkpoints")
            began = time.perf_counter()
            problems = store.verify(saved)
            verifying = time.perf_counter() - began
            assert problems == ()
            if step > 1:  # the first one warms up
                floors.append(floor)
                saves.append(seconds)
                ratios.append(seconds / floor)
                verifies.append(verifying)
        size = sum(path.stat().st_size for path in saved.iterdir())
    return Result(
        measures=(
            median("save / (write + fsync)", ratios, "x"),
            median("save: hashed, durable, read again", saves, "s"),
            median("write + fsync of the same bytes", floors, "s"),
            median("of the save: reading every byte again", verifies, "s"),
            Measure(name="bytes of the checkpoint", value=size / 1e6, unit="MB"),
        ),
        notes=(f"{ROUNDS} rounds on the disk of the current folder, floor and save in turns, one thread.",),
    )
