"""Numbers that look random and are the same everywhere: planning knows no chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
_MASK = (1 << 64) - 1


class Dice:
    """SplitMix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014)."""

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def below(self, limit: int) -> int:
        """Return a whole number from 0 up to, not including, the limit."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        return (mixed ^ (mixed >> 31)) % limit

    def some(self, values: Sequence[T], count: int) -> list[T]:
        """Return some of the values, each at most once."""
        rest = list(values)
        return [rest.pop(self.below(len(rest))) for _each in range(min(count, len(rest)))]
