"""Which places had no machine to give, how often in a row, and when each is asked again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field

from lastro.flow.moving_on import refusal_wait
from lastro.records import dataclass


@dataclass
class Refusals:
    """How often in a row each place had no machine, and when it is worth asking again."""

    _tries: dict[str, int] = field(default_factory=dict)
    _until: dict[str, float] = field(default_factory=dict)
    _barred: set[str] = field(default_factory=set)

    def note(self, place: str, now: float) -> tuple[int, float]:
        """Take note of one; return how many that makes in a row, and the seconds until the next question."""
        tries = self._tries[place] = self._tries.get(place, 0) + 1
        wait = refusal_wait(tries)
        self._until[place] = now + wait
        return tries, wait

    def bar(self, place: str) -> None:
        """Take note that the machine of a place is not used for what it is: it is not asked again."""
        self._barred.add(place)

    @property
    def barred(self) -> frozenset[str]:
        """The places that are not asked again."""
        return frozenset(self._barred)

    def forget(self, place: str) -> None:
        """Take note that a place had a machine."""
        self._tries.pop(place, None)
        self._until.pop(place, None)

    def shut(self, now: float) -> frozenset[str]:
        """Return the places that are not asked now."""
        return frozenset(place for place, until in self._until.items() if until > now)

    def fewest(self, places: Sequence[str]) -> int:
        """Return how often in a row the most willing of some places had none."""
        return min((self._tries.get(place, 0) for place in places), default=0)

    def wait(self, places: Sequence[str], now: float) -> float:
        """Return the seconds until one of some places is worth asking; 0.0: now."""
        soonest = min((self._until.get(place, -math.inf) for place in places), default=-math.inf)
        return max(0.0, soonest - now)
