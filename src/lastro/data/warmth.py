"""Whether what is read lies in the system's memory already: told by how long a few reads took."""

from __future__ import annotations

#: A disk takes 80 us and more to answer, memory a few; between them lies room for a busy processor.
_ANSWER_SECONDS = 60e-6
#: What memory copies at the least, in bytes a second, however busy it is.
_COPY_RATE = 4e9
#: So many quick reads in a row, each of another batch, before the rest is taken to be in memory.
ENOUGH = 3


def from_memory(seconds: float, size: int) -> bool:
    """Say whether a read of `size` bytes that took so long came from memory."""
    return seconds < _ANSWER_SECONDS + size / _COPY_RATE


class Warmth:
    """What the last reads said. A wrong answer costs time and nothing else."""

    def __init__(self) -> None:
        self._quick = 0

    @property
    def warm(self) -> bool:
        """Whether the next reads are expected to come from memory."""
        return self._quick >= ENOUGH

    def took(self, seconds: float, size: int) -> None:
        """Learn from a read."""
        self._quick = self._quick + 1 if from_memory(seconds, size) else 0
