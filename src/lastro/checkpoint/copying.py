"""Copies memory into an arena as fast as the machine's memory can: the loop stands still meanwhile.

One thread alone does not reach what the memory can give, and a library's own copy reads what it is about to
overwrite. So large pieces go through the C library, which writes past the caches, by a few threads, each with
the interpreter's lock released.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

#: Larger pieces are cut, so that no thread is left with one while the others have nothing to do.
_PIECE = 32 << 20
#: A thread more is worth its start from so many bytes on, and more than these wait for the same memory.
_BYTES_PER_THREAD, _MOST_THREADS = 16 << 20, 4


class Piece(NamedTuple):
    """Bytes that lie at an address, and where in the target they go. Whoever made it keeps them alive."""

    address: int
    size: int
    offset: int


def copy(pieces: Iterable[Piece], target: memoryview) -> None:
    """Copy pieces into a writable memory; returns when all of them are there. None may overlap another."""
    left = deque(_cut(pieces))
    if not left:
        return
    held = ctypes.c_char.from_buffer(target)
    start = ctypes.addressof(held)
    count = _threads(sum(piece.size for piece in left))

    def work() -> None:
        while left:
            try:
                piece = left.popleft()
            except IndexError:  # another one was faster
                return
            ctypes.memmove(start + piece.offset, piece.address, piece.size)

    others = [threading.Thread(target=work, name="lastro-copy", daemon=True) for _number in range(count - 1)]
    for thread in others:
        thread.start()
    work()
    for thread in others:
        thread.join()


def _cut(pieces: Iterable[Piece]) -> Iterator[Piece]:
    for piece in pieces:
        if piece.size <= _PIECE:
            yield piece
            continue
        for done in range(0, piece.size, _PIECE):
            yield Piece(piece.address + done, min(_PIECE, piece.size - done), piece.offset + done)


def _threads(size: int) -> int:
    """Return how many threads copy so many bytes: never more than processors that this process may use."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(_MOST_THREADS, usable, size // _BYTES_PER_THREAD))
