"""A job whose exit status survives its supervisor: launched under a shim, found again later."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from lastro import atomic, strictjson
from lastro.errors import Fenced, ProviderError
from lastro.locale import _
from lastro.paths import AttemptFolder
from lastro.procs.detach import start_detached
from lastro.procs.identity import ProcessId, is_alive, open_handle, send
from lastro.records import dataclass

_SHIM = Path(__file__).with_name("shim.py")
_SECONDS_TO_START = 60.0
#: Looked at so often where the kernel cannot tell of an end (no pidfd, before Linux 5.3).
_LOOK_EVERY = 0.05


@dataclass(frozen=True, kw_only=True)
class Exit:
    """How a job ended. `lost`: nobody saw it (the shim was killed), so code and signal are unknown.

    `at`, `mono`: wall and monotonic time of the machine when it ended. `left`: how many processes it left
    behind, which the shim has ended.
    """

    code: int | None
    signal: int | None
    lost: bool = False
    at: str | None = None
    mono: float | None = None
    left: int = 0


@dataclass
class JobProcess:
    """A launched job and its shim."""

    folder: AttemptFolder
    job: ProcessId
    shim: ProcessId
    _end: _EndOf | None = field(default=None, repr=False, compare=False)

    def exited(self) -> Exit | None:
        """Return how the job ended; None while it runs, or while the shim is about to tell."""
        told = _read_exit(self.folder)
        if told is not None or is_alive(self.shim) or is_alive(self.job):
            return told
        # Asked again: the shim may have told and ended between the first look and the second.
        return _read_exit(self.folder) or Exit(code=None, signal=None, lost=True)

    def terminate(self) -> bool:
        """Send TERM to the job's leader alone: its workers stay for the save. False when it is dead."""
        return send(self.job, signal.SIGTERM)

    def wait(self, timeout: float) -> Exit | None:
        """Wait for the end, at most `timeout` seconds; None when it still runs. Costs nothing meanwhile."""
        deadline = time.monotonic() + timeout
        while True:
            left = max(0.0, deadline - time.monotonic())
            self._end = self._end or _EndOf.any((self.shim, self.job))
            if self._end is not None:
                if not self._end.comes(left):
                    return None
                self._end = None
            elif (told := self.exited()) is not None or left == 0:
                return told
            else:
                time.sleep(min(left, _LOOK_EVERY))


class _EndOf:
    """Waits for the end of a living process, by its pidfd; kept from one wait to the next."""

    def __init__(self, handle: int) -> None:
        self._handle, self._poll = handle, select.poll()
        self._poll.register(handle, select.POLLIN)

    @classmethod
    def any(cls, processes: Iterable[ProcessId]) -> _EndOf | None:
        """Return one for the first that lives; None when none does, or the kernel has no pidfds."""
        for process in processes:
            if (handle := open_handle(process)) is not None:
                return cls(handle)
        return None

    def comes(self, seconds: float) -> bool:
        """Say whether the process ends within so many seconds."""
        return bool(self._poll.poll(int(seconds * 1000)))

    def __del__(self) -> None:
        os.close(self._handle)


def launch(folder: AttemptFolder, argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> JobProcess:
    """Start a job in an attempt's existing folder, its output in `folder.log`, and return it.

    A command that cannot be started is a job that ended with code 127 (not found) or 126.

    Raises:
        Fenced: this attempt was launched, or given up by `take_over`, before.
        ProviderError: the shim could not be started.
    """
    if folder.process.exists():
        raise _taken(folder)
    command = [sys.executable, "-I", "-S", str(_SHIM), str(folder.process), str(folder.exit), str(folder.log)]
    shim = start_detached([*command, str(cwd), "--", *argv], cwd=folder.root, env=env, log=folder.log)
    deadline = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < deadline:
        alive = is_alive(shim)
        # One look decides: between two, the shim's record may appear and pass for someone else's.
        record = _read(folder.process)
        if record is not None:
            return _ours(folder, record, shim)
        if not alive:
            break
        time.sleep(0.002)
    raise ProviderError(
        _("the job's parent process ended before the job began; see {log}").format(log=folder.log),
        hint=_("usually the disk is full or not writable; the job was not started"),
    )


def adopt(folder: AttemptFolder) -> JobProcess | None:
    """Return the job that was launched in this folder, running or ended; None when none is known. Reads only.

    None may also mean "about to start": who wants to start another instead calls `take_over`.
    """
    record = _read(folder.process)
    return None if record is None else _launched(folder, record)


def take_over(folder: AttemptFolder) -> JobProcess | None:
    """Return the job of a supervisor that died, as `adopt` does, but make a None final.

    When the job had not begun, its start is forbidden for good: a shim that comes late finds its place
    taken and ends. So None means that no job of this attempt runs, ran, or will run.
    """
    if folder.root.is_dir():
        atomic.claim(folder.process, strictjson.dumps({"shim": None, "job": None}).encode())
    return adopt(folder)


def _ours(folder: AttemptFolder, record: Mapping[str, Any], shim: ProcessId) -> JobProcess:
    """Return the job of a record that this shim published, and refuse anyone else's."""
    found = _launched(folder, record)
    if found is None or found.shim != shim:
        raise _taken(folder)
    return found


def _launched(folder: AttemptFolder, record: Mapping[str, Any]) -> JobProcess | None:
    """Return the job of a record; None for the record of one who forbade the start."""
    if record["job"] is None:
        return None
    return JobProcess(folder, ProcessId.from_json(record["job"]), ProcessId.from_json(record["shim"]))


def _read(path: Path) -> Any | None:
    try:
        return strictjson.read(path)
    except FileNotFoundError:
        return None


def _read_exit(folder: AttemptFolder) -> Exit | None:
    record = _read(folder.exit)
    if record is None:
        return None
    return Exit(
        code=record["code"],
        signal=record["signal"],
        at=record["at"],
        mono=record["mono"],
        left=record["left"],
    )


def _taken(folder: AttemptFolder) -> Fenced:
    return Fenced(
        _("attempt {number} was started or given up before").format(number=folder.number),
        hint=_("claim the next number"),
    )
