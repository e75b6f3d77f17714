"""Which process: (boot id, pid, start ticks). A pid alone is used again; this triple is not."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lastro.clock import boot_id
from lastro.records import dataclass

_PROC = Path("/proc")
#: Process states of proc(5) in which nothing runs any more: zombie and dead.
_DEAD = frozenset("ZXx")


@dataclass(frozen=True)
class ProcessId:
    """A process for good. `start_ticks`: clock ticks from boot to its start, field 22 of proc(5) stat."""

    boot_id: str
    pid: int
    start_ticks: int

    def as_json(self) -> dict[str, Any]:
        return {"boot_id": self.boot_id, "pid": self.pid, "start_ticks": self.start_ticks}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ProcessId:
        """Read what `as_json` wrote. Raises KeyError or ValueError for anything else."""
        return cls(str(value["boot_id"]), int(value["pid"]), int(value["start_ticks"]))


@dataclass(frozen=True)
class Entry:
    """One line of the process table."""

    pid: int
    parent: int
    state: str
    threads: int
    start_ticks: int

    @property
    def dead(self) -> bool:
        """A zombie is dead, unless only its first thread has ended and others run on."""
        return self.state in _DEAD and self.threads <= 1


def entry_of(pid: int) -> Entry | None:
    """Return the process table's line for `pid`; None when there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", errors="replace") as file:  # noqa: PTH123 - half the time of a Path
            text = file.read()
    except OSError:
        return None
    # The command's name stands in parentheses and may hold spaces and parentheses of its own.
    fields = text[text.rindex(")") + 2 :].split()
    return Entry(pid, int(fields[1]), fields[0], int(fields[17]), int(fields[19]))


def table() -> dict[int, Entry]:
    """Return all processes, zombies too, by pid; empty where there is no /proc."""
    entries = {}
    with contextlib.suppress(FileNotFoundError):
        for name in os.listdir(_PROC):  # noqa: PTH208 - names, not paths: this is the hot loop
            entry = entry_of(int(name)) if name.isdigit() else None
            if entry is not None:
                entries[entry.pid] = entry
    return entries


def identity_of(pid: int) -> ProcessId | None:
    """Return who `pid` is now; None when there is no such process."""
    entry = entry_of(pid)
    return ProcessId(boot_id(), pid, entry.start_ticks) if entry else None


def is_alive(process: ProcessId) -> bool:
    """Say whether this very process runs: not a zombie, not another one under its pid, not another boot."""
    entry = entry_of(process.pid) if process.boot_id == boot_id() else None
    return entry is not None and not entry.dead and entry.start_ticks == process.start_ticks


def open_handle(process: ProcessId) -> int | None:
    """Return a pidfd of a living process, readable when it ends. The caller closes it.

    None: the process is dead, or this kernel has no pidfds.
    """
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        handle = os.pidfd_open(process.pid)
    except OSError:
        return None
    # Asked after opening: from here on the handle cannot come to mean another process.
    if is_alive(process):
        return handle
    os.close(handle)
    return None


def send(process: ProcessId, number: int) -> bool:
    """Send a signal to exactly this process. False when it is dead or belongs to somebody else."""
    handle = open_handle(process)
    try:
        if handle is not None:
            signal.pidfd_send_signal(handle, number)
        elif is_alive(process):
            os.kill(process.pid, number)
        else:
            return False
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        if handle is not None:
            os.close(handle)
    return True
