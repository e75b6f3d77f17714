"""How much slower the loop goes while a save is written beside it."""

from __future__ import annotations

import statistics
from collections import deque

#: Undisturbed times between two safe points that are remembered, and how many it takes to know what is usual.
REMEMBERED, ENOUGH = 64, 8


class Pace:
    """Times between safe points, with and without a save beside them. All in seconds."""

    def __init__(self) -> None:
        self._usual: deque[float] = deque(maxlen=REMEMBERED)
        self._beside: list[float] = []
        self._left: float | None = None

    def arrived(self, now: float, *, beside: bool) -> None:
        """Note that a safe point is reached. `beside`: a save was being written since the one before."""
        if self._left is not None:
            (self._beside if beside else self._usual).append(now - self._left)
        self._left = None

    def left(self, now: float) -> None:
        """Note that the loop goes on from a safe point: what is done there is no part of a step."""
        self._left = now

    def slowdown(self) -> float | None:
        """Return what was lost beside the save that has just ended; None where that cannot be told."""
        beside, self._beside = self._beside, []
        if len(self._usual) < ENOUGH:
            return None
        return max(0.0, sum(beside) - len(beside) * statistics.median(self._usual))
