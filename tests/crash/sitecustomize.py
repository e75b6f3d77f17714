"""Put on PYTHONPATH by the crash tests: ends a chosen process before its n-th durable call, once.

CRASH_PROCESS: a word of the process's own command line (`lastro.cli`, `lastro.run`). CRASH_AT: which call,
from 1; `name:2` is the second one below a function of that name. CRASH_MARK: a file that is made when it has
happened, so that it happens in one process only; the number of calls that were counted is appended to
CRASH_COUNT when the process ends by itself.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

_CALLS = ("fsync", "link", "replace", "rename", "truncate", "unlink", "posix_spawn", "fork", "kill")


def _is_below(name: str) -> bool:
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_name != name:
        frame = frame.f_back
    return frame is not None


def _arm() -> None:
    below, _colon, at = os.environ["CRASH_AT"].rpartition(":")
    mark = os.environ["CRASH_MARK"]
    seen = 0

    def counting(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal seen
            seen += not below or _is_below(below)
            if seen == int(at):
                try:
                    os.close(os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    pass
                else:
                    os._exit(137)
            return real(*args, **kwargs)

        return call

    def report() -> None:
        with open(os.environ["CRASH_COUNT"], "a") as file:  # noqa: PTH123 - before anything is imported
            file.write(f"{seen}\n")

    for name in _CALLS:
        setattr(os, name, counting(getattr(os, name)))
    atexit.register(report)


if "CRASH_AT" in os.environ and os.environ["CRASH_PROCESS"] in sys.orig_argv:
    _arm()
