"""Home's sign of life for a shell on a machine, given from a thread beside the terminal."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from lastro.errors import LastroError
from lastro.providers.doors.door import Door

#: A sign that does not arrive at once is no reason to keep a terminal that was left.
_LAST_WORD_SECONDS = 5.0


@contextlib.contextmanager
def heard(door: Door, name: str, every_seconds: float) -> Iterator[None]:
    """Touch a file on the machine while the block lasts; at its end remove it, which says that home has left.

    What does not arrive is tried again: the machine decides how long it waits.
    """
    over = threading.Event()

    def give_signs() -> None:
        while not over.wait(every_seconds):
            with contextlib.suppress(LastroError, OSError):
                door.touch(name)

    door.touch(name)
    signs = threading.Thread(target=give_signs, daemon=True)
    signs.start()
    try:
        yield
    finally:
        over.set()
        signs.join(_LAST_WORD_SECONDS)
        if not signs.is_alive():  # which is when the way there is free
            with contextlib.suppress(LastroError, OSError):
                door.drop(name)
