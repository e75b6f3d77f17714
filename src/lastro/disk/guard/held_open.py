"""Files that processes hold open: being written now, or removed and still there as long as they are held."""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import field
from pathlib import Path

from lastro.disk.guard.scan import Candidate, candidate
from lastro.records import dataclass

_DELETED = " (deleted)"
_WRITES = os.O_WRONLY | os.O_RDWR
#: Names of memory that has no file.
_NO_FILE = ("/memfd:", "/dev/zero", "/SYSV", "/[aio]", "/i915", "/anon_hugepage")


@dataclass
class Held:
    """`writers`: (device, inode) -> a process that may write it. `removed`: readable by its descriptor."""

    writers: dict[tuple[int, int], int] = field(default_factory=dict)
    removed: list[tuple[Candidate, str]] = field(default_factory=list)


def held_open(devices: set[int]) -> Held:
    """Return what the processes that this user may look into hold open on these devices."""
    found = Held()
    seen: set[tuple[int, int]] = set()
    for pid in _pids():
        with contextlib.suppress(OSError):
            for number in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 - names are enough
                with contextlib.suppress(OSError, ValueError):
                    _look(found, seen, devices, pid, number)
    return found


def _look(found: Held, seen: set[tuple[int, int]], devices: set[int], pid: int, number: str) -> None:
    path = f"/proc/{pid}/fd/{number}"
    status = os.stat(path)  # noqa: PTH116 - of what it leads to
    key = (status.st_dev, status.st_ino)
    if not stat.S_ISREG(status.st_mode) or status.st_dev not in devices:
        return
    name = os.readlink(path)  # noqa: PTH115
    if status.st_nlink == 0 and name.endswith(_DELETED):
        if key not in seen and status.st_size and not name.startswith(_NO_FILE):
            seen.add(key)
            found.removed.append((candidate(name.removesuffix(_DELETED), status), path))
    elif _flags(pid, number) & _WRITES:
        found.writers.setdefault(key, pid)


def _flags(pid: int, number: str) -> int:
    for line in Path(f"/proc/{pid}/fdinfo/{number}").read_text().splitlines():
        if line.startswith("flags:"):
            return int(line.split()[1], 8)
    return 0


def _pids() -> list[int]:
    me = os.getpid()
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != me]  # noqa: PTH208
    except OSError:
        return []
