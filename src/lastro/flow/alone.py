"""A folder of home that one command uses at a time, such as that of a smoke run or of a drill."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from lastro import atomic
from lastro.errors import UsageError
from lastro.locale import _


def locked(descriptor: int) -> bool:
    """Take an open file for this process, until it is closed; False when another living process has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def alone(place: Path, busy: str) -> Iterator[None]:
    """Have a folder to oneself. It need not be there; the lock lies beside it.

    Args:
        place: the folder.
        busy: what to say when another process has it.

    Raises:
        UsageError: another living process has it.
    """
    atomic.make_folder(place.parent)
    descriptor = os.open(place.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        if not locked(descriptor):
            raise UsageError(busy, hint=_("wait for its end"))
        yield
    finally:
        os.close(descriptor)
