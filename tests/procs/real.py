"""Real processes for tests: wait for what they do, and read what they wrote."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from lastro.procs.identity import ProcessId, entry_of, identity_of, is_alive
from lastro.procs.killtree import members

T = TypeVar("T")

#: Nothing here is timed: this only ends a test that would wait for ever.
DEADLINE = 120.0


def eventually(look: Callable[[], T]) -> T:
    """Return the first true value of `look`; fail at the deadline."""
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        value = look()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError("it did not happen within two minutes")


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", **more}


def python(code: str, *arguments: object) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code, *map(str, arguments)]


def runs(pid: int) -> bool:
    """Say whether a pid that was seen a moment ago still runs; a zombie that waits for init does not."""
    entry = entry_of(pid)
    return entry is not None and not entry.dead


def seen_from_here(pid: int, machine: str) -> int:
    """Return the pid under which this process knows one that told its own number on a machine.

    In a jail these differ: `NSpid` has both, the outer one first.
    """
    for member in members(("LASTRO_MACHINE", machine)).all:
        try:
            status = Path(f"/proc/{member.pid}/status").read_text()
        except OSError:
            continue
        numbers = next(line for line in status.splitlines() if line.startswith("NSpid:")).split()[1:]
        if int(numbers[-1]) == pid:
            return member.pid
    raise AssertionError(f"{machine} has no process {pid}")


def who_wrote(path: Path, machine: str | None = None) -> ProcessId:
    """Return the living process that writes its pid to `path` when it is ready. `machine`: where it runs."""
    pid = int(eventually(lambda: path.exists() and path.read_text().strip()) or 0)
    if machine is not None:
        pid = seen_from_here(pid, machine)
    process = identity_of(pid)
    assert process is not None and is_alive(process)
    return process


#: Writes its pid to argv[1], whole, and sleeps.
SLEEPER = """
import os, sys, time
def here(path):
    with open(path + ".new", "w") as file: file.write(str(os.getpid()))
    os.rename(path + ".new", path)
here(sys.argv[1])
time.sleep(600)
"""

#: A leader with three workers in its group, three in sessions of their own, and a double-forked orphan.
#: Each writes its pid into the folder argv[1].
FAMILY = """
import os, sys, time
folder = sys.argv[1]
def here(name):
    path = os.path.join(folder, name)
    with open(path + ".new", "w") as file: file.write(str(os.getpid()))
    os.rename(path + ".new", path)
def worker(name, prepare):
    if os.fork() == 0:
        prepare()
        here(name)
        time.sleep(600)
        os._exit(0)
def orphan():
    os.setsid()
    if os.fork(): os._exit(0)
for number in range(3):
    worker(f"grouped{number}", lambda: None)
    worker(f"setsid{number}", os.setsid)
worker("orphan", orphan)
here("leader")
time.sleep(600)
"""
FAMILY_NAMES = ["leader", "orphan", *(f"{kind}{n}" for kind in ("grouped", "setsid") for n in range(3))]


def family_in(folder: Path, machine: str | None = None) -> list[ProcessId]:
    """Wait for all members of a FAMILY and return them, the leader first."""
    return [who_wrote(folder / name, machine) for name in FAMILY_NAMES]
