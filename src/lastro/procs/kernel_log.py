"""Whom the kernel has killed for want of memory, by pid, where its log may be read."""

from __future__ import annotations

import os
import re
from pathlib import Path

_LOG = Path("/dev/kmsg")
#: The PID namespace that the log counts in; the number is fixed: PROC_PID_INIT_INO, linux/proc_ns.h.
_FIRST_NAMESPACE = "pid:[4026531836]"
#: One record is shorter (CONSOLE_EXT_LOG_MAX).
_RECORD_BYTES = 8192
_KILLED = re.compile(rb"Killed process (\d+)")


class KernelLog:
    """What the kernel writes from now on. Without the right to read it, `killed` says that nobody knows."""

    def __init__(self, path: Path = _LOG, namespace: str | None = None) -> None:
        self._descriptor: int | None = None
        if (namespace or _own_namespace()) != _FIRST_NAMESPACE:
            return  # its pids mean other processes here
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            os.lseek(self._descriptor, 0, os.SEEK_END)
        except OSError:
            self.close()

    def killed(self) -> frozenset[int] | None:
        """Return the pids that were killed since this was made; None where the log cannot be read."""
        if self._descriptor is None:
            return None
        found: set[int] = set()
        while True:
            try:
                record = os.read(self._descriptor, _RECORD_BYTES)
            except BrokenPipeError:
                continue  # some records were overwritten before they were read
            except BlockingIOError:
                break
            except OSError:
                return None
            if not record:
                break
            found.update(map(int, _KILLED.findall(record)))
        return frozenset(found)

    def close(self) -> None:
        """Read no more."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _own_namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - no path, a name
    except OSError:
        return ""
