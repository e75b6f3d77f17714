"""Lives of the jobs in `jobs/`: started, struck at a step, started again."""

from __future__ import annotations

import hashlib
import json
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lastro.paths import AttemptFolder
from lastro.rules import CheckpointPolicy
from tests.job.conftest import Ended, Nursery
from tests.job.hand import Run, environment, make_run, signals

JOBS = Path(__file__).with_name("jobs")
FRAMEWORKS = ("hugging_face", "hugging_face_accelerate", "pytorch_lightning")
UPDATES, IN_EPOCH = 50, 25


@dataclass(frozen=True)
class Case:
    """A script and its arguments."""

    job: str
    args: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join([self.job, *(arg.removeprefix("--") for arg in self.args)])

    @property
    def lost_at(self) -> int:
        """A random step inside the second epoch, the same at every call."""
        drawn = int.from_bytes(hashlib.sha256(str(self).encode()).digest()[:4], "big")
        return IN_EPOCH + 1 + drawn % (UPDATES - IN_EPOCH - 2)

    def live(
        self,
        run: Run,
        frameworks: Nursery,
        *,
        lost_at: int | None = None,
        by: int = signal.SIGKILL,
        leave_out: tuple[str, ...] = (),
        ranks: int | None = None,
    ) -> tuple[Ended, AttemptFolder]:
        """Live once; with `lost_at` the process, or the last of several, gets the signal `by` after these."""
        folder = run.attempt(leave_out=leave_out)
        ended = frameworks.run(
            folder,
            JOBS / f"{self.job}.py",
            *self.args,
            signal=None if lost_at is None else by,
            step=lost_at,
            environ={**environment(folder), "HF_HUB_OFFLINE": "1"},
            ranks=ranks,
        )
        return ended, folder


@dataclass(frozen=True)
class Whole:
    """What a run did that nothing happened to."""

    delivered: list[str]
    outputs: dict[str, bytes]
    logged: dict[int, Any]


Undisturbed = Callable[[Case], Whole]


def a_run(root: Path, *, every: int = 8) -> Run:
    return make_run(root, checkpoint=CheckpointPolicy(every_steps=every, keep=2))


def delivered(folder: AttemptFolder, rank: int = 0) -> list[str]:
    """Return what a process's model was given, batch by batch: ids of rows and digest of their content."""
    name = f"delivered.{rank}.jsonl" if rank else "delivered.jsonl"
    try:
        return (folder.root / name).read_text().splitlines()
    except FileNotFoundError:
        return []


def logged(folder: AttemptFolder) -> dict[int, Any]:
    """Return the losses that were logged, by their step."""
    lines = (json.loads(line) for line in folder.measurements().read_text().splitlines())
    return {line["s"]: line["v"]["loss"] for line in lines if "loss" in line["v"]}


def restored_at(folder: AttemptFolder) -> int:
    return int(next(line["step"] for line in signals(folder) if line["kind"] == "restored"))
