"""How a training process leaves: asked by a signal, at its next safe point, with a code that says why."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from types import FrameType
from typing import NoReturn

from lastro.locale import _


def tell(text: str) -> None:
    """Say one line to the person who reads the job's output; that it finds no room there is no error."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"lastro: {text}\n")
        sys.stderr.flush()


def leave(code: int, text: str) -> NoReturn:
    """End the process with an exit code of lastro's table.

    SystemExit on purpose: `except Exception` around a training loop must not hold a process that was asked
    to go, or that a stop rule has ended.
    """
    tell(text)
    raise SystemExit(code)


class LeaveRequest:
    """Whether this process was asked to save and leave. Set by TERM, and by the first Ctrl-C."""

    def __init__(self) -> None:
        self.asked = False
        self._owner = os.getpid()

    def install(self) -> None:
        """Take over TERM and INT; only a process's main thread can."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self._on_term)
            signal.signal(signal.SIGINT, self._on_interrupt)

    def _on_term(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._owner:  # a forked child inherits this handler, but not the work
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        self.asked = True

    def _on_interrupt(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._owner or self.asked:
            signal.default_int_handler(number, frame)
        self.asked = True
        os.write(2, (_("lastro: will save and leave; Ctrl-C again stops at once") + "\n").encode())
