"""What the GPUs of this machine do, without ever waiting for their driver: a child asks (`nvml`)."""

from __future__ import annotations

import atexit
import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

from lastro import strictjson

#: A driver that wakes up many GPUs takes its time; one that has not answered by then is left alone for good.
PATIENCE_SECONDS = 30.0
_CHUNK = 1 << 16


class Gpus:
    """Asked without waiting. `level`: nvml | no_library | no_driver | silent | ended; None: not known yet."""

    def __init__(self, command: Sequence[str] | None = None, patience: float = PATIENCE_SECONDS) -> None:
        self._command = command or [sys.executable, "-m", "lastro.run.nvml"]
        self._patience = patience
        self._child: subprocess.Popen[bytes] | None = None
        self._buffer = b""
        self._asked: float | None = None
        self.level: str | None = None
        if command is None and importlib.util.find_spec("pynvml") is None:
            self.level = "no_library"

    @property
    def waiting(self) -> bool:
        """Say whether an answer is still to come."""
        return self._asked is not None

    def ask(self, now: float) -> None:
        """Ask for a sample, unless an answer is awaited or nobody is there to give one. `now`: monotonic."""
        if self.waiting or self.level not in (None, "nvml"):
            return
        try:
            if self._child is None:
                self._child = subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                    bufsize=0,
                )
                assert self._child.stdout is not None
                os.set_blocking(self._child.stdout.fileno(), False)
            assert self._child.stdin is not None
            self._child.stdin.write(b"\n")
            self._asked = now
        except OSError:
            self._end("ended")

    def answer(self, now: float) -> dict[str, Any] | None:
        """Return the answer that has come; None while it has not, or never will (`level` tells)."""
        if self._child is None or self._asked is None:
            return None
        assert self._child.stdout is not None
        chunk = self._child.stdout.read(_CHUNK)  # None: nothing yet; empty: the child has ended
        self._buffer += chunk or b""
        line, newline, rest = self._buffer.partition(b"\n")
        if newline:
            self._buffer, self._asked = rest, None
            return self._understood(line)
        if chunk == b"":
            self._end("ended")
        elif now - self._asked > self._patience:
            self._end("silent")
        return None

    def _understood(self, line: bytes) -> dict[str, Any] | None:
        try:
            told: dict[str, Any] = strictjson.loads(line)
            if "level" in told:
                self._end(str(told["level"]))
                return None
            self.level = "nvml"
            return told
        except (ValueError, TypeError):
            self._end("ended")
        return None

    def _end(self, level: str) -> None:
        """Ask no more. A child that hangs in the driver may outlive its kill; it is not waited for."""
        self.level, self._asked = level, None
        if self._child is not None:
            self._child.kill()
            for pipe in (self._child.stdin, self._child.stdout):
                if pipe is not None:
                    pipe.close()
            self._child.poll()

    def close(self) -> None:
        """End the child. One whose asker is killed ends by itself (`nvml`)."""
        if self._child is not None and self.level in (None, "nvml"):
            self._end("ended")


@cache
def gpus_of_this_machine() -> Gpus:
    """Return the one to ask: its child serves every attempt that this supervisor starts."""
    gpus = Gpus()
    atexit.register(gpus.close)
    return gpus
