"""Attempts made by hand: what a supervisor writes, without a supervisor."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lastro import strictjson
from lastro.paths import AttemptFolder, RunFolder
from lastro.rules import Attempt, CheckpointPolicy, Corpus, Order, StopRule

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "digits"


def order(
    root: Path,
    *,
    checkpoint: CheckpointPolicy | None = None,
    stop: tuple[StopRule, ...] = (),
    corpus: Corpus | None = None,
    leave_out: tuple[str, ...] = (),
    config: Mapping[str, Any] | None = None,
) -> Order:
    return Order(
        campaign="test",
        run="r1",
        name="control",
        command=("python", "train.py"),
        config=config or {},
        seed=7,
        resume="training",
        workdir=str(root),
        campaign_folder=str(root),
        machine="m1",
        node="n1",
        home_stream="home-1",
        home_head="",
        stop=stop,
        checkpoint=checkpoint or CheckpointPolicy(every_steps=10, keep=2),
        corpus=corpus,
        leave_out=leave_out,
    )


@dataclass
class Run:
    """A run's folder and its order; `attempt` claims the next life of it."""

    folder: RunFolder
    order: Order

    def attempt(self, **changes: Any) -> AttemptFolder:
        number = 1 + len(list(self.folder.claims.glob("*.json")))
        token = f"token-{number}"
        self.folder.claims.mkdir(parents=True, exist_ok=True)
        self.folder.claim(number).write_text(strictjson.pretty({"number": number, "token": token}))
        folder = self.folder.attempt(number)
        folder.root.mkdir(parents=True)
        told = Attempt(
            number=number,
            token=token,
            order=replace(self.order, **changes),
            claimed_at="2026-11-30T00:00:00.000000Z",
            committed_step=self.committed_step(),
        )
        folder.attempt.write_text(strictjson.pretty(told.as_json()))
        return folder

    def committed_step(self) -> int | None:
        steps = [
            line["step"]
            for number in range(1, 1 + len(list(self.folder.claims.glob("*.json"))))
            for line in signals(self.folder.attempt(number))
            if line["kind"] == "checkpoint"
        ]
        return max(steps, default=None)

    def outputs(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted(self.folder.outputs.iterdir())}


def make_run(root: Path, **facts: Any) -> Run:
    return Run(RunFolder(root / "runs" / "r1"), order(root, **facts))


def signals(folder: AttemptFolder) -> list[dict[str, Any]]:
    """Return the complete lines that a job has signalled; none when it never attached."""
    try:
        return [strictjson.loads(line) for line in folder.signals.read_bytes().splitlines()]
    except FileNotFoundError:
        return []


def kinds(folder: AttemptFolder) -> list[str]:
    return [line["kind"] for line in signals(folder)]


def environment(folder: AttemptFolder) -> dict[str, str]:
    return {**os.environ, "LASTRO_ATTEMPT": str(folder.root), "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
