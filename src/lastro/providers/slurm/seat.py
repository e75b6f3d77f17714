"""The process that a Slurm job is: `python -m lastro.providers.slurm.seat FOLDER`, in the foreground.

It starts what home asks for, passes Slurm's signals on as the machine's notice, and ends itself, and so the
job, when it is let go or nobody needs it. Everything on the machine is below it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from lastro import atomic, strictjson
from lastro.clock import Clock, SystemClock, iso
from lastro.errors import LastroError, StorageError
from lastro.paths import Disk, MachineFolder
from lastro.procs.killtree import end_tree
from lastro.providers import environment, scratch
from lastro.providers.base import MachineState
from lastro.providers.here import host_node
from lastro.providers.home_sign import HomeSign
from lastro.providers.host import NOT_NEEDED, become
from lastro.providers.records import End, read_record, write_end
from lastro.providers.released import released_by
from lastro.providers.shell_signs import ShellSigns
from lastro.providers.slurm.script import NOTICE_SECONDS
from lastro.providers.spool import say, serve

#: Seconds between two looks, and between two signs of life.
_LOOK_EVERY = 0.1
_SIGN_EVERY = 1.0
#: Seconds from Slurm's TERM to its KILL where nobody has set them (KillWait of slurm.conf).
_KILL_WAIT = 30.0


class Seat:
    """One machine from the beginning of its job to the end. `live` returns when nothing of it is left."""

    def __init__(self, folder: MachineFolder, clock: Clock) -> None:
        self._folder, self._clock = folder, clock
        record = read_record(folder)
        self._id, self._request = record.id, record.request
        self._node = host_node()
        self._own = scratch_folder(folder, os.environ)
        self._tmp = scratch.prepare(self._own)
        self._born = clock.monotonic()
        self._state = MachineState.RUNNING
        self._ready_at = clock.now()
        self._cause: str | None = None
        self._leaves_at = 0.0
        self._signals: list[int] = []
        campaign = Disk(self._request.disk).campaign(self._request.campaign)
        self._home, self._shells = HomeSign(campaign, self._born), ShellSigns(campaign)
        self._worked_at = self._born
        self._next_sign = 0.0

    def live(self) -> None:
        """Serve, and end."""
        signal.signal(signal.SIGUSR1, self._note)
        signal.signal(signal.SIGTERM, self._note)
        self._tell()
        while (cause := self._look()) is None:
            self._clock.sleep(_LOOK_EVERY)
        say(f"ending: {cause}")
        self._state = MachineState.LEAVING  # nothing more is started here
        self._tell(ending=cause)
        try:
            end_tree(environment.marker(self._id), [os.getpid()])
            self._wipe()
        except LastroError as error:
            say(error.message)  # what is left of it ends with the job
        used = round(self._clock.monotonic() - self._born, 3)
        write_end(self._folder, End(at=self._clock.stamp(), cause=cause, used_seconds=used))

    def _wipe(self) -> None:
        """Let the scratch go, once what of value lies there only is on the disk."""
        argv = [sys.executable, "-m", "lastro.run.last_act", str(self._request.disk)]
        copying = subprocess.Popen(argv, env=self._environment(), stdin=subprocess.DEVNULL)
        while copying.poll() is None:  # which may take a while, and nobody is to think that the node is dead
            self._give_sign(self._clock.monotonic())
            self._clock.sleep(_LOOK_EVERY)
        if copying.returncode:
            say(f"{self._own.scratch} is left as it is: not everything of value in it could be copied")
            return
        scratch.wipe(self._own)
        if self._own != self._folder:
            shutil.rmtree(self._own.root, ignore_errors=True)

    def _note(self, number: int, _frame: object) -> None:
        self._signals.append(number)

    def _look(self) -> str | None:
        """Do what is due; return why the machine ends now, if it does."""
        alone = self._reap()
        now = self._clock.monotonic()
        self._give_sign(now)
        if self._folder.deletion.exists():
            return str(strictjson.read(self._folder.deletion)["cause"])
        if (released := released_by(self._own)) is not None:
            return released
        while self._signals:
            self._announce(self._signals.pop(0), now)
        if self._state is MachineState.LEAVING:
            return self._cause if alone or now >= self._leaves_at else None
        if serve(self._folder, self._environment(), self._folder.log, self._own.scratch):
            alone = False
        if not alone or self._id in self._shells.held(now):
            self._worked_at = now
        limit = self._request.unattended_seconds
        idle = min(now - self._worked_at, self._home.silent_seconds(now))
        return "nothing runs on it, and home is silent" if limit is not None and idle >= limit else None

    def _give_sign(self, now: float) -> None:
        if now >= self._next_sign:
            self._next_sign = now + _SIGN_EVERY
            with contextlib.suppress(OSError):  # a sign of life; what has to be kept tells of a broken disk
                self._folder.beat.touch()

    def _announce(self, number: int, now: float) -> None:
        """Pass on that Slurm takes the machine away: at its time limit, or by TERM at any moment."""
        seconds, cause = float(NOTICE_SECONDS), "its time limit has come"
        if number == signal.SIGTERM:
            seconds, cause = _KILL_WAIT, "Slurm ends the job: preempted or cancelled"
        leaves_at = now + seconds
        if self._state is MachineState.LEAVING and self._leaves_at <= leaves_at:
            return
        self._state, self._cause, self._leaves_at = MachineState.LEAVING, cause, leaves_at
        say(f"notice: {cause}")
        told = {"action": "terminate", "in_seconds": seconds, "at": iso(self._clock.now())}
        atomic.write_text(self._own.notice, strictjson.pretty(told))
        self._tell()

    def _reap(self) -> bool:
        """Wait for ended processes; True when nothing runs on the machine."""
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return True
        return False

    def _environment(self) -> dict[str, str]:
        own = environment.in_scratch(os.environ, self._own.user_home, self._tmp)
        return {
            **environment.on_machine(own, self._id, self._node),
            environment.NOTICE: str(self._own.notice),
            environment.RELEASE: str(self._own.release),
        }

    def _tell(self, *, ending: str | None = None) -> None:
        state = {
            "state": self._state.value,
            "ready_at": iso(self._ready_at),
            "ending": ending,
            "cause": self._cause,
            "node": self._node,
            "work": str(self._own.work.absolute()),
        }
        atomic.write_text(self._folder.state, strictjson.pretty(state))


def scratch_folder(folder: MachineFolder, environ: Mapping[str, str]) -> MachineFolder:
    """Return where the machine's scratch lies: on its node, unless its job has several that work together."""
    if environ.get("SLURM_JOB_NUM_NODES", "1") != "1":
        return folder
    return MachineFolder(Path(tempfile.gettempdir()) / f"lastro-{os.getuid()}" / folder.root.name)


def main(argv: list[str]) -> int:
    """Be the machine of a folder, unless another process is it or it is not wanted any more."""
    folder = MachineFolder(Path(argv[0]))
    if not become(folder):
        say("another job is this machine, or it is not wanted any more")
        return NOT_NEEDED
    try:
        Seat(folder, SystemClock()).live()
    except (OSError, StorageError) as error:
        say(f"{error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
