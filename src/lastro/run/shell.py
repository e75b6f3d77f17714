"""`python -m lastro.run.shell FOLDER`: a terminal, or a command, on a machine, as FOLDER says.

It is the parent of the user's shell. While that is open the machine is not let go as idle: its sign says so
to whoever would. A limit of the machine ends it, and so does a home that is not heard any more.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path

from lastro import __version__, atomic, strictjson
from lastro.clock import Clock, SystemClock, steady
from lastro.disk.caches.carried import carry_in, carry_out, kernel_key
from lastro.disk.caches.point import carried_folder
from lastro.errors import LastroError, StorageError
from lastro.journal.events import EventType
from lastro.journal.signals import SIGN_SECONDS, Heartbeat
from lastro.journal.streams import StreamWriter
from lastro.locale import _
from lastro.paths import CampaignFolder, ShellFolder, stream_of_shell
from lastro.procs.identity import ProcessId, identity_of, send
from lastro.procs.killtree import end_tree, members
from lastro.rules.shell import ShellOrder, must_leave, to_be_told
from lastro.run.limits import let_machine_go
from lastro.run.rescuing import rescue_own_storage
from lastro.run.shell_command import SHELL, environment_of, start_file, words_of
from lastro.run.vigil import Watch, at_work

#: Seconds from HUP to KILL, when a shell is ended.
GRACE_SECONDS = 5.0
#: What a shell says of a command that is not there, or must not be started.
_NOT_FOUND, _NOT_ALLOWED = 127, 126


class Shell:
    """One shell from its beginning to its end. `live` returns the exit code of what was started."""

    def __init__(self, folder: ShellFolder, order: ShellOrder, clock: Clock) -> None:
        self._folder, self._order, self._clock = folder, order, clock
        self._campaign = CampaignFolder(Path(order.campaign_folder))
        self._sign = Heartbeat(folder.sign)
        self._began, self._wall = steady(), clock.now()
        self._heard: tuple[int, float] = (0, self._began)
        self._over = threading.Event()
        self._why: str | None = None
        self._limit: str | None = None
        self._stream: StreamWriter | None = None

    def live(self) -> int:
        """Start what was asked for, and wait for its end, whoever ends it."""
        self._sign.beat(1)
        terminal = sys.stdin is not None and sys.stdin.isatty()
        for number in (signal.SIGINT, signal.SIGQUIT):  # a terminal's are for what runs in it
            signal.signal(number, (lambda *_given: None) if terminal else self._hang_up)
        for number in (signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, self._hang_up)
        with _unless_full():
            self._opened().append(
                EventType.SHELL_OPENED,
                machine=self._order.machine,
                node=self._order.node,
                command=list(self._order.command) if self._order.command is not None else None,
                why=_("while it is open the machine is not let go because nothing runs on it"),
                silence_seconds=self._order.silence_seconds,
            )
        disk = self._campaign.disk
        key = kernel_key()
        kernels = carried_folder(Path(os.environ.get("HOME") or Path.home()), key)
        carry_in(disk, key, kernels)
        try:
            code = self._start(environment_of(self._order, os.environ, disk))
        finally:
            self._over.set()
        if self._limit is not None:  # with the machine goes what was to outlive its terminal, too
            with contextlib.suppress(LastroError):
                end_tree((SHELL, self._order.token))
        with contextlib.suppress(OSError):  # of a full disk: kernels can be compiled again
            carry_out(disk, key, kernels)
        with _unless_full():
            self._opened().append(
                EventType.SHELL_ENDED,
                machine=self._order.machine,
                seconds=round(steady() - self._began, 3),
                code=code,
                ended_by="left" if self._why is None else self._limit or "silence",
                why=self._why or _("it was left"),
            )
            self._opened().close()
        self._sign.beat(0)
        shutil.rmtree(self._folder.root, ignore_errors=True)
        self._let_go()
        return code

    def _start(self, environment: Mapping[str, str]) -> int:
        workdir = Path(self._order.workdir)
        places = [place for place in (workdir, workdir.parent) if place.is_dir()]
        words = words_of(self._order, environment, self._folder)
        if self._order.command is None:
            self._folder.start_file.write_text(start_file(self._order, environment))
        try:
            # A run that was never here has no folder of its own yet.
            child = subprocess.Popen(words, cwd=places[0] if places else None, env=dict(environment))
        except OSError as error:
            _say(_("{command} could not be started: {why}").format(command=words[0], why=error.strerror))
            return _NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_ALLOWED
        threading.Thread(target=self._watch, args=(child.pid,), daemon=True).start()
        code = child.wait()
        return code if code >= 0 else 128 - code

    # --- while it is open -----------------------------------------------------------------------------

    def _watch(self, pid: int) -> None:
        """Give signs, warn, and end what was started when it has to be left."""
        child = identity_of(pid)
        before, ended_at = self._now(), None
        while not self._over.wait(SIGN_SECONDS) and child is not None:
            self._sign.beat(1)
            now = self._now()
            if self._why is None:
                self._why = self._must_end(now)
            if self._why is None:
                if (word := to_be_told(self._order.limits, before, now)) is not None:
                    _say(word)
            elif ended_at is None:
                ended_at = steady()
                _say(self._why)
                self._hang_up_on(child)
            elif steady() - ended_at >= GRACE_SECONDS:
                send(child, signal.SIGKILL)
            before = now

    def _now(self) -> datetime:
        """Return wall time as it was at the beginning, moved on by a clock that never jumps."""
        return self._wall + timedelta(seconds=steady() - self._began)

    def _must_end(self, now: datetime) -> str | None:
        leave = must_leave(self._order.limits, now)
        if leave is not None:
            self._limit = leave.limit
            return leave.why
        if self._folder.root.is_dir() and not self._folder.heard.exists():  # home removes it as it leaves
            return _("its terminal was left")
        silent = self._silent_seconds()
        if silent < self._order.silence_seconds:
            return None
        return _("nobody was heard at home for {seconds:.0f} s").format(seconds=silent)

    def _silent_seconds(self) -> float:
        """Return for how long home has given no sign, by this machine's clock; none on a lost disk."""
        with contextlib.suppress(OSError):
            touched = self._folder.heard.stat().st_mtime_ns
            if touched != self._heard[0]:
                self._heard = (touched, steady())
        return steady() - self._heard[1]

    def _hang_up(self, _number: int, _frame: object) -> None:
        self._why = self._why or _("its terminal is gone")

    def _hang_up_on(self, child: ProcessId) -> None:
        """Tell everything in the shell that its terminal is gone; what was started to outlive it does."""
        for process in members((SHELL, self._order.token), [child]).all:
            send(process, signal.SIGHUP)
            send(process, signal.SIGCONT)

    # --- what stays -----------------------------------------------------------------------------------

    def _opened(self) -> StreamWriter:
        """Return the shell's own stream, opened when there was room for it."""
        if self._stream is not None:
            return self._stream
        order = self._order
        opening = {
            "campaign": order.campaign,
            "lastro": __version__,
            "host": platform.node(),
            "home_stream": order.home_stream,
            "home_head": order.home_head,
        }
        path = self._campaign.stream(stream_of_shell(order.token))
        self._stream = StreamWriter(path, self._clock, opening)
        return self._stream

    def _let_go(self) -> None:
        """Let the machine go when a limit has ended this shell and nobody else on the machine sees to it."""
        watch = Watch(self._campaign, self._order.machine, 0.0)
        if self._limit is None or at_work(watch):
            return
        rescue_own_storage(self._campaign.disk, self._clock)
        let_machine_go(self._limit.replace("_", " "))


@contextlib.contextmanager
def _unless_full() -> Iterator[None]:
    """Do without a record on a full disk, which somebody may be here to clear; that is told."""
    try:
        yield
    except OSError as error:
        if not atomic.is_full(error):
            raise
        _say(_("the disk is full: this shell is not in the journal"))


def _say(text: str) -> None:
    """Write a line to the terminal, also from behind what has it now; one that is gone reads nothing."""
    with contextlib.suppress(OSError, ValueError):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        try:
            sys.stderr.write(f"\r\nlastro: {text}\r\n" if sys.stderr.isatty() else f"lastro: {text}\n")
            sys.stderr.flush()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTTOU})


def main(arguments: list[str]) -> int:
    """Be the shell that is asked for."""
    folder = ShellFolder(Path(arguments[0]))
    try:
        order = ShellOrder.from_json(strictjson.read(folder.order))
        return Shell(folder, order, SystemClock()).live()
    except (OSError, StorageError, KeyError, TypeError, ValueError) as error:
        _say(_("the shell could not be opened: {why}").format(why=error))
        return StorageError.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
