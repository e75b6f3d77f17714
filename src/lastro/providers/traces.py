"""What is alive on this box with the mark of a machine, whichever home has made it. Standard library only."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from lastro.paths import MachineFolder
from lastro.procs.identity import entry_of
from lastro.providers.base import Trace
from lastro.providers.environment import MACHINE

#: The module that is a machine of the local provider; its folder is the last word of its command line.
LOCAL_HOST = "lastro.providers.local_machine"


def traces_on_this_box(prefix: str) -> list[Trace]:
    """Return a trace for each machine of this prefix of which a process lives here, by its id."""
    found: dict[str, int] = {}
    for pid in _pids():
        # One that has told its end is on its way out.
        hosts = [folder.root.name for folder in _hosted(pid) if not folder.end.exists()]
        for machine in (_marked(pid), *hosts):
            if machine is not None and machine.startswith(prefix):
                found.setdefault(machine, pid)
    return [Trace(machine=machine, what=f"process {pid}") for machine, pid in sorted(found.items())]


def hosted_folder(machine_id: str) -> MachineFolder | None:
    """Return the folder of a local machine whose process lives on this box, in whatever home it lies."""
    for pid in _pids():
        for folder in _hosted(pid):
            if folder.root.name == machine_id:
                return folder
    return None


def _pids() -> list[int]:
    names = os.listdir("/proc")  # noqa: PTH208 - names, not paths
    return [int(name) for name in names if name.isdigit()]


def _hosted(pid: int) -> list[MachineFolder]:
    """Return the folder of the local machine that a process is; none for any other process."""
    words = _read(f"/proc/{pid}/cmdline").decode(errors="replace").split("\0")
    if LOCAL_HOST not in words[:-2] or (entry := entry_of(pid)) is None or entry.dead:
        return []
    return [MachineFolder(Path(words[-2]))]


def _marked(pid: int) -> str | None:
    start = f"{MACHINE}=".encode()
    for pair in _read(f"/proc/{pid}/environ").split(b"\0"):
        if pair.startswith(start):
            return pair[len(start) :].decode(errors="replace")
    return None


def _read(path: str) -> bytes:
    with contextlib.suppress(OSError):
        return Path(path).read_bytes()
    return b""
