"""What every watcher of an attempt is shown."""

from __future__ import annotations

from collections.abc import Callable

from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What is known of a living job at one look. Times are monotonic seconds of this machine.

    `step`: looks up the one completed last; `job`: pid of its leader.
    """

    now: float
    started: float
    step: Callable[[], int | None]
    job: int
