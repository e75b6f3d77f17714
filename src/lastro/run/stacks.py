"""Where the processes of a hanging job stand, written into its log before it is ended.

Three rungs: py-spy where it is installed (any Python, no preparation); Python's own faulthandler in processes
that have attached; and always what the kernel tells of each process. The best that was reached is named.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from lastro.errors import ProviderError, UsageError
from lastro.journal.signals import STACKS_SIGNAL, LineWriter
from lastro.locale import _
from lastro.paths import AttemptFolder
from lastro.procs.child import run_with_deadline
from lastro.procs.identity import ProcessId, identity_of, send
from lastro.procs.job import adopt
from lastro.procs.killtree import members

_SECONDS_FOR_PY_SPY = 10.0
_SECONDS_TO_ANSWER = 2.0
#: A job with hundreds of workers hangs in a few places all the same.
_MOST_PROCESSES = 16


def dump_stacks(folder: AttemptFolder, job: int, why: str) -> str:
    """Write stacks into the attempt's log and return the rung: py_spy | faulthandler | kernel | none.

    Takes a few seconds at most for each process; what cannot be had is left out.
    """
    tree = _tree(folder, job)
    with contextlib.suppress(OSError):
        log = LineWriter(folder.log)
        try:
            log.write(f"\n[lastro] {why}\n".encode())
            reached = _by_py_spy(log, folder, tree) or _by_faulthandler(folder, tree)
            known = _by_kernel(log, tree)
            log.write(b"[lastro] " + _("end of the stacks").encode() + b"\n")
            return reached or ("kernel" if known else "none")
        finally:
            log.close()
    return "none"


def _tree(folder: AttemptFolder, job: int) -> Sequence[ProcessId]:
    """Return the job's leader and what belongs to it, the leader first."""
    leader = identity_of(job)
    shim = adopt(folder)
    found = members(
        ("LASTRO_ATTEMPT", str(folder.root)),
        [leader] if leader else [],
        spare=[shim.shim] if shim else [],
    ).all
    rest = sorted(found - {leader}, key=lambda process: process.start_ticks)
    return ([leader] if leader else []) + rest[: _MOST_PROCESSES - 1]


def _by_py_spy(log: LineWriter, folder: AttemptFolder, tree: Sequence[ProcessId]) -> str | None:
    beside = str(Path(sys.executable).parent)
    program = shutil.which("py-spy", path=os.pathsep.join([os.environ.get("PATH", ""), beside]))
    if program is None:
        return None
    reached = None
    for process in tree:
        with contextlib.suppress(UsageError, ProviderError):
            done = run_with_deadline(
                [program, "dump", "--pid", str(process.pid)],
                seconds=_SECONDS_FOR_PY_SPY,
                cwd=folder.root,
                env=os.environ,
            )
            if done.code == 0 and not done.timed_out:
                log.write(done.out.encode() + b"\n")
                reached = "py_spy"
    return reached


def _by_faulthandler(folder: AttemptFolder, tree: Sequence[ProcessId]) -> str | None:
    """Ask the processes that have attached, and their forks; they write into the log themselves."""
    if STACKS_SIGNAL is None or not folder.signals.exists():
        return None
    before = _size(folder.log)
    asked = [process for process in tree if _catches(process.pid, STACKS_SIGNAL)]
    for process in asked:
        send(process, STACKS_SIGNAL)
    deadline = time.monotonic() + (_SECONDS_TO_ANSWER if asked else 0.0)
    size = before
    while time.monotonic() < deadline:
        time.sleep(0.1)
        grown, size = _size(folder.log) > size, _size(folder.log)
        if size > before and not grown:
            return "faulthandler"
    return "faulthandler" if size > before else None


def _catches(pid: int, number: int) -> bool:
    """Say whether a process has a handler for a signal: one without it would be ended by it."""
    caught = _fields(pid, "status", ("SigCgt:",)).get("SigCgt:", "0")
    return bool(int(caught, 16) >> (number - 1) & 1)


def _by_kernel(log: LineWriter, tree: Sequence[ProcessId]) -> bool:
    """Write name, state and the kernel function that each process waits in."""
    for process in tree:
        told = _fields(process.pid, "status", ("Name:", "State:", "Threads:"))
        if told:
            waits = _read(process.pid, "wchan") or "-"
            text = " ".join(f"{name.lower()[:-1]}={value!r}" for name, value in told.items())
            log.write(f"pid={process.pid} {text} waits_in={waits}\n".encode())
            # Only root may see this one.
            log.write("".join(f"    {line}\n" for line in _read(process.pid, "stack").splitlines()).encode())
    return bool(tree)


def _fields(pid: int, name: str, wanted: Sequence[str]) -> dict[str, str]:
    pairs = (line.split(None, 1) for line in _read(pid, name).splitlines())
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2 and pair[0] in wanted}


def _read(pid: int, name: str) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    return ""


def _size(path: Path) -> int:
    with contextlib.suppress(OSError):
        return path.stat().st_size
    return 0
