"""What every watcher of an attempt is shown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What is known of a living job at one look. Times are monotonic seconds of this machine.

    `step`: completed last; `committed_step`: of the last checkpoint; `job`: pid of its leader.
    """

    now: float
    started: float
    step: int | None
    committed_step: int | None
    job: int
