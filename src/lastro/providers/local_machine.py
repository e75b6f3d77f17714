"""The process that is a local machine: `python -m lastro.providers.local_machine FOLDER`.

It boots, starts what it is asked to start, executes scripted faults, and at its end leaves nothing alive and
no scratch. As a subreaper it is the parent of everything on it that lost its own parent.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

from lastro import atomic, strictjson
from lastro.billing import Lease, LeaseKind
from lastro.clock import Clock, SystemClock, iso
from lastro.errors import LastroError
from lastro.paths import Disk, MachineFolder
from lastro.procs.killtree import freeze
from lastro.providers import environment, jail, scratch
from lastro.providers.base import Fault, MachineState
from lastro.providers.ending import end_machine
from lastro.providers.faults import FaultWatch
from lastro.providers.home_sign import HomeSign
from lastro.providers.host import NOT_NEEDED, become
from lastro.providers.records import read_record
from lastro.providers.released import released_by
from lastro.providers.shell_signs import ShellSigns
from lastro.providers.spool import say, serve

#: Seconds between two looks. A look costs 0.04 ms of CPU, some 0.25 ms when the caches are cold.
_LOOK_EVERY = 0.1


class LocalMachine:
    """One machine from boot to end. `live` returns when nothing of it is left."""

    def __init__(self, folder: MachineFolder, clock: Clock) -> None:
        self._folder, self._clock = folder, clock
        record = read_record(folder)
        self._id, self._node, self._request = record.id, record.node, record.request
        self._born = clock.monotonic()
        self._term = _term(self._request.lease)
        self._state = MachineState.BOOTING
        self._ready_at: datetime | None = None
        self._leaves_at: float | None = None
        self._tmp = scratch.prepare(folder)
        self._level = record.level
        self._jail: subprocess.Popen[bytes] | None = None
        campaign = Disk(self._request.disk).campaign(self._request.campaign)
        self._home, self._shells = HomeSign(campaign, self._born), ShellSigns(campaign)
        self._worked_at = self._born
        self._jail_sign = 0
        self._faults = FaultWatch(
            folder.home, self._id, self._request.disk, self._request.campaign, self._request.faults, clock
        )

    def live(self) -> None:
        """Boot, serve, and end."""
        self._tell()
        while (cause := self._look()) is None:
            self._clock.sleep(_LOOK_EVERY)
        say(f"ending: {cause}")
        self._state = MachineState.LEAVING  # nothing more is started here
        self._tell(ending=cause)
        while True:
            try:
                end_machine(self._folder, cause, self._clock, roots=[os.getpid()])
            except LastroError as error:
                # Not gone while something of it is left: say so, and try until it is.
                say(error.message)
                self._tell(ending=cause, trouble=error.message)
                self._clock.sleep(1.0)
            else:
                return

    def _look(self) -> str | None:
        """Do what is due; return why the machine ends now, if it does."""
        alone = self._reap()
        now = self._clock.monotonic()
        if self._folder.deletion.exists():
            return str(strictjson.read(self._folder.deletion)["cause"])
        if now - self._born >= self._term:
            return "lease over"
        if (released := released_by(self._folder)) is not None:
            return released
        if self._state is MachineState.LEAVING:
            over = self._leaves_at is not None and now >= self._leaves_at
            return "preempted with notice" if over or alone else None
        if self._jail is not None and self._jail.returncode is not None:
            return "its jail ended; see machine.log"
        if self._state is MachineState.BOOTING:
            if now - self._born < self._request.boot_seconds or not self._is_up():
                return None
            self._state, self._ready_at = MachineState.RUNNING, self._clock.now()
            self._tell()
        if self._jail is None and serve(
            self._folder, self._environment(), self._folder.log, self._folder.scratch
        ):
            alone = False
        if self._unattended(now, alone=alone):
            return "nothing runs on it, and home is silent"
        fault = self._faults.look()
        return self._suffer(fault) if fault is not None else None

    def _unattended(self, now: float, *, alone: bool) -> bool:
        """Tell whether nobody needs the machine: nothing runs on it, and home sends it no work."""
        limit = self._request.unattended_seconds
        if limit is None:
            return False
        if self._jail is not None:
            sign = _last_touch(self._folder.jail_ready)
            alone, self._jail_sign = sign == self._jail_sign, sign
        if not alone or self._id in self._shells.held(now):
            self._worked_at = now
            return False
        return min(now - self._worked_at, self._home.silent_seconds(now)) >= limit

    def _is_up(self) -> bool:
        """Tell whether processes can be started; of a jailed machine, begin the jail first."""
        if self._level != jail.JAILED:
            return True
        if self._jail is None:
            env = jail.environment(self._environment())
            self._jail = jail.start(self._folder, self._request.disk, self._node, env)
        return self._folder.jail_ready.exists()

    def _reap(self) -> bool:
        """Wait for ended processes; True when no process of the machine is left."""
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if self._jail is not None and ended[0] == self._jail.pid:
                    self._jail.returncode = os.waitstatus_to_exitcode(ended[1])
        except ChildProcessError:
            return True
        return False

    def _suffer(self, fault: Fault) -> str | None:
        say(f"fault {fault.index}: run {fault.run} has reached step {fault.step}")
        if fault.silent:
            freeze(environment.marker(self._id), [os.getpid()])
            self._faults.waiting.clear()  # what has frozen reaches no step any more
            return None
        if fault.notice_seconds is None:
            return "preempted without notice"
        now = iso(self._clock.now())
        notice = {"action": "terminate", "in_seconds": fault.notice_seconds, "at": now}
        atomic.write_text(self._folder.notice, strictjson.pretty(notice))
        self._state = MachineState.LEAVING
        self._leaves_at = self._clock.monotonic() + fault.notice_seconds
        self._tell()
        return None

    def _environment(self) -> dict[str, str]:
        own = environment.in_scratch(os.environ, self._folder.user_home, self._tmp)
        marked = environment.on_machine(own, self._id, self._node)
        return {
            **marked,
            environment.NOTICE: str(self._folder.notice),
            environment.RELEASE: str(self._folder.release),
        }

    def _tell(self, *, ending: str | None = None, trouble: str | None = None) -> None:
        state = {
            "state": self._state.value,
            "ready_at": iso(self._ready_at) if self._ready_at else None,
            "ending": ending,
            "cause": trouble,
        }
        atomic.write_text(self._folder.state, strictjson.pretty(state))


def _term(lease: Lease | None) -> float:
    """Return after how many seconds the machine ends by itself: only a lot has a fixed end."""
    if lease is None or lease.kind is not LeaseKind.LOT or lease.term_seconds is None:
        return math.inf
    return lease.term_seconds


def _last_touch(path: Path) -> int:
    """Return when a file was touched last; 0 when a job, to which the scratch is open, has removed it."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def main(argv: list[str]) -> int:
    """Be the machine of a folder, unless another process is it, or it is not wanted any more."""
    folder = MachineFolder(Path(argv[0]))
    if not become(folder):
        return NOT_NEEDED
    LocalMachine(folder, SystemClock()).live()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
