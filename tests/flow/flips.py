"""One bit of a file changed, while somebody looks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def with_a_flip(path: Path, place: int, look: Callable[[], T]) -> T:
    """Return what `look` finds while the lowest bit of the byte at `place` is another one."""
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[place] ^= 1
    path.write_bytes(flipped)
    found = look()
    path.write_bytes(whole)
    return found
