"""Holds the room that a run's checkpoints are going to need, from before its first step on.

Held is what is missing to the checkpoints that stay and the one that is being made. A save lets go what it
writes before it begins, and whoever else finds the disk full gets all of it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from lastro.checkpoint import store
from lastro.disk.hold import Held, held, hold, release_hold
from lastro.job.place import Place

#: Less is not worth a file: it fits beside what has to stay free, or nothing does.
LEAST_BYTES = 32 << 20


def missing_bytes(size: int, once: int, *, keep: int, there: int) -> int:
    """Return what is still to be written for `keep` checkpoints and the one being made. Pure.

    Args:
        size: bytes of one.
        once: bytes that are written a single time and are not there yet.
        keep: how many of the latest stay.
        there: how many there are. One more is to come, however many these are.
    """
    return max(1, keep + 1 - there) * size + once


class CheckpointRoom:
    """The hold of one run. Used by the loop and by the thread that writes checkpoints."""

    def __init__(self, place: Place) -> None:
        order = place.attempt.order
        self._disk = place.disk
        self._path = place.disk.hold(order.campaign, order.run)
        self._checkpoints = place.folder.run.checkpoints
        self._keep = order.checkpoint.keep
        # Nobody would remove it after a script that was started by hand and was killed.
        self._may_be = not place.by_hand
        self._active = place.ranks.first and self._may_be
        self._size = self._once = 0
        self._lock = threading.Lock()

    def take(self, size: int, once: int = 0) -> Held | None:
        """Hold what checkpoints of this size will need; None: that is too little to be held.

        Args:
            size: bytes of one.
            once: bytes that are written a single time beside them.
        """
        with self._lock:
            self._size, self._once = size, once
            return self._take()

    def take_again(self) -> None:
        """Hold what is needed now, after a save or after the room was lent."""
        with self._lock:
            self._take()

    def make_way(self) -> None:
        """Let go what the save that begins now will write."""
        with self._lock:
            if self._size and self._active:
                rest = self._missing() - self._size - self._unwritten()
                hold(self._disk, self._path, min(held(self._path), rest))

    def let_go(self) -> bool:
        """Let go all of it, as for somebody who finds the disk full; tell whether there was something.

        Any process of the job may find it so, and what the first one holds is of no use to it then.
        """
        with self._lock:
            return self._may_be and release_hold(self._path)

    def end(self) -> None:
        """Hold nothing any more: no checkpoint is to come."""
        with self._lock:
            self._size = self._once = 0
            if self._active:
                release_hold(self._path)

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Lend the room to whatever is written in this block."""
        self.let_go()
        try:
            yield
        finally:
            self.take_again()

    def _take(self) -> Held | None:
        if not self._active or self._missing() < LEAST_BYTES:
            return None
        return hold(self._disk, self._path, self._missing())

    def _missing(self) -> int:
        if not self._size:
            return 0
        there = len(store.names(self._checkpoints))
        return missing_bytes(self._size, self._unwritten(), keep=self._keep, there=there)

    def _unwritten(self) -> int:
        """Return the bytes that are written a single time, as long as they are not."""
        folder = self._checkpoints / store.BASE
        return 0 if folder.is_dir() and any(folder.iterdir()) else self._once
