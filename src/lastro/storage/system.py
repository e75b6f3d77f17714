"""What the system may be told about files and processors, where it can be told at all."""

from __future__ import annotations

import os


def processors() -> int:
    """Return how many processors this process may use."""
    ask = getattr(os, "sched_getaffinity", None)
    return len(ask(0)) if ask is not None else os.cpu_count() or 1


def forget(descriptor: int, begin: int = 0, size: int = 0) -> None:
    """Let the system drop what it holds of a file in memory, so that the next read comes from the disk.

    Without effect where there is no such call, and for what others have mapped. `size` 0: to the end.
    """
    advise = getattr(os, "posix_fadvise", None)
    if advise is not None:
        advise(descriptor, begin, size, os.POSIX_FADV_DONTNEED)


def ask_for(descriptor: int, begin: int, size: int) -> None:
    """Let the system begin to read a part of a file into memory, and do not wait for it.

    Without effect where there is no such call.
    """
    advise = getattr(os, "posix_fadvise", None)
    if advise is not None:
        advise(descriptor, begin, size, os.POSIX_FADV_WILLNEED)
