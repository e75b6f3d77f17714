"""A terminal of its own for a command of a test, and what was printed there."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.flow.campaigns import SmallCampaign


@dataclass
class Terminal:
    """The far end of a pseudo-terminal. `process`: the command that has it."""

    process: subprocess.Popen[bytes]
    descriptor: int
    _read: list[bytes] = field(default_factory=list)

    def type(self, line: str) -> None:
        os.write(self.descriptor, line.encode() + b"\n")

    @property
    def shown(self) -> str:
        return b"".join(self._read).decode(errors="replace")

    def read(self) -> None:
        with contextlib.suppress(OSError):  # the terminal has gone with its command
            while data := os.read(self.descriptor, 65536):
                self._read.append(data)


@contextlib.contextmanager
def terminal(campaign: SmallCampaign, *arguments: str) -> Iterator[Terminal]:
    """Type a command of lastro in a terminal; at the end it is killed, if it lives."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "lastro.cli", *arguments],
        cwd=campaign.folder,
        env={**campaign.environment, "SHELL": "/bin/bash", "TERM": "dumb"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=_take_terminal,  # noqa: PLW1509 - nothing of the test's threads is used in between
    )
    os.close(theirs)
    made = Terminal(process, ours)
    reader = threading.Thread(target=made.read, daemon=True)
    reader.start()
    try:
        yield made
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        reader.join(5.0)
        os.close(ours)


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
