"""What a drill tells while it goes on, and how much it does in any case."""

from __future__ import annotations

from typing import Protocol

#: Undisturbed lives: fewer leave the noise unknown.
UNDISTURBED = 3


class Progress(Protocol):
    """Told of what a drill does."""

    def begins(self, what: str, part: int, parts: int) -> None:
        """A life begins, or several in a row: in words, its number, and of how many."""
        ...

    def moves(self, step: int, until: int | None) -> None:
        """An update was made; `until`: the last one, None while that is unknown."""
        ...
