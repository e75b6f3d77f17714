"""Memory that the state of a run is copied into at a save: got once, touched once, kept for the next save.

Fresh memory would cost several times the copy at every save: each of its pages has to be found and cleared
by the kernel first.
"""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Callable

#: The arena grows by whole huge pages.
_UNIT = 2 << 20


#: Locks memory for transfers from a device; returns what undoes that, or None where it cannot be done.
Pin = Callable[[memoryview], "Callable[[], None] | None"]


class Arena:
    """One reused block of memory. What is in it belongs to the save that reserved it last."""

    def __init__(self) -> None:
        self._memory: mmap.mmap | None = None
        self._release: Callable[[], None] | None = None
        self._pinning_tried = False

    @property
    def size(self) -> int:
        """Bytes that are held now."""
        return 0 if self._memory is None else len(self._memory)

    def reserve(
        self, size: int, pin: Callable[[memoryview], Callable[[], None] | None] | None = None
    ) -> memoryview:
        """Return `size` writable bytes that begin at a page; what an earlier call returned is void.

        Args:
            size: in bytes; the memory only ever grows.
            pin: for state that lies on a device: locks the memory for fast transfers.
        """
        if self._memory is None or size > len(self._memory):
            self._let_go()
            self._memory = _anonymous(max(1, -(-size // _UNIT)) * _UNIT)
        if pin is not None and not self._pinning_tried:  # once: a driver that refuses does so each time
            self._pinning_tried = True
            self._release = pin(memoryview(self._memory))
        return memoryview(self._memory)[:size]

    def _let_go(self) -> None:
        if self._release is not None:
            self._release()
        self._release = self._memory = None
        self._pinning_tried = False


def _anonymous(size: int) -> mmap.mmap:
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    # A worker that is forked has no use for it; if it had a share in it, the next save would copy every page.
    for advice in ("MADV_DONTFORK", "MADV_HUGEPAGE"):
        number = getattr(mmap, advice, None)
        if number is not None:
            with contextlib.suppress(OSError):  # a kernel without it: the memory is as good, only slower
                memory.madvise(number)
    return memory
