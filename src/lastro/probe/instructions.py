"""What a drill tells a probe (`probe.json`): how far to go, and where this life of the job ends."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

#: Names the file of instructions; without it nothing of the probe is loaded.
VARIABLE = "LASTRO_PROBE"

KILL, TERM, NOTICE = "kill", "term", "notice"
UPDATE, SAVE, VALIDATION, EPOCH = "update", "save", "validation", "epoch"


@dataclass(frozen=True)
class Kill:
    """How and when one life ends.

    Args:
        how: "kill" (SIGKILL), "term" (SIGTERM to the job), "notice" (the machine announces its end).
        when: "update" (right after one), "save" (with half a save written), "validation" (at the first
            forward pass in evaluation), "epoch" (when the data of an epoch are used up).
        after: only once so many updates were made in this life.
    """

    how: str
    when: str
    after: int


@dataclass(frozen=True)
class Instructions:
    """How far a job goes, and how its lives end.

    Args:
        until: the update at which a life ends for good.
        until_attached: the same for a job that attaches, which saves when it is told to; 0: `until`.
        saves_wanted: a life goes on until it has seen so many saves, and `margin` updates more, but `until`
            at most; 0: until `until`.
        margin: see there.
        least: and it makes so many updates at least, unless they take more than `least_seconds`.
        least_seconds: see there.
        kills: by the number of the attempt.
        pattern: of the job's own saves, below its working folder.
        forget: what later lives do not get back, on purpose: "optimizer" or "model".
        notice: the file by which a notice is given.
        workers: of each DataLoader in later lives, whatever the job asks for; None: as it asks.
        put_back: kinds of state that the drill itself puts into one later life, as they were when the update
            `put_back_at` was complete in the life before it.
        put_back_at: see there; 0: nothing is kept or put back.
        put_back_in: the number of that life.
    """

    until: int
    until_attached: int = 0
    saves_wanted: int = 0
    margin: int = 5
    least: int = 0
    least_seconds: float = 0.0
    kills: Mapping[int, Kill] = field(default_factory=dict)
    pattern: str | None = None
    forget: str | None = None
    notice: str | None = None
    workers: int | None = None
    put_back: tuple[str, ...] = ()
    put_back_at: int = 0
    put_back_in: int = 0

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "kills": {str(number): asdict(kill) for number, kill in self.kills.items()}}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Instructions:
        """Read what `as_json` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        kills = {int(number): Kill(**kill) for number, kill in value["kills"].items()}
        return cls(**{**value, "kills": kills})


def given() -> Instructions | None:
    """Return what this process was told; None when it was told nothing, or nothing that can be read."""
    path = os.environ.get(VARIABLE)
    if not path:
        return None
    try:
        return Instructions.from_json(json.loads(Path(path).read_text(encoding="utf-8")))
    except (OSError, KeyError, TypeError, ValueError):
        return None


def trace_name(rank: int) -> str:
    """Return the name of a rank's trace in the folder of its attempt."""
    return f"trace.{rank}.jsonl"
