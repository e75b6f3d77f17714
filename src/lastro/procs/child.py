"""Running a command to its end, or to its deadline, with nothing of it alive afterwards."""

from __future__ import annotations

import contextlib
import os
import secrets
import selectors
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from lastro.errors import UsageError
from lastro.locale import _
from lastro.procs.killtree import end_tree
from lastro.records import dataclass

_CHUNK = 1 << 16
#: How often a child is looked at that has closed or handed on its output.
_LOOK_EVERY = 0.02
#: Time to read what an ended child left in its pipes.
_SECONDS_TO_DRAIN = 5.0


@dataclass(frozen=True)
class Finished:
    """How a command ended. A negative `code` is the number of the signal that ended it.

    `out`, `err`: text, undecodable bytes replaced. `cut`: only the end of one of them was kept.
    """

    code: int
    out: str
    err: str
    timed_out: bool
    cut: bool = False


def run_with_deadline(
    argv: Sequence[str],
    *,
    seconds: float,
    cwd: Path,
    env: Mapping[str, str],
    input: bytes | None = None,  # noqa: A002 - the name that subprocess gives it
    keep_bytes: int = 1 << 20,
) -> Finished:
    """Run a command in its own session; after `seconds` it and everything that it started is killed.

    What a child leaves behind when it ends by itself is killed as well.

    Raises:
        UsageError: the command or the folder is not there.
        ProviderError: something could not be killed.
    """
    # In the name, not in the value: a child that runs children this way does not cover its own marker.
    marker = (f"LASTRO_CHILD_{secrets.token_hex(8)}", "1")
    deadline = time.monotonic() + seconds
    try:
        process = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env={**env, marker[0]: marker[1]},
            stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise UsageError(
            _("{command} could not be started: {why}").format(command=argv[0], why=error),
            hint=_("check its name and that it is installed"),
        ) from error
    with process, _Conversation(process, input or b"", keep_bytes) as talk:
        try:
            ended = talk.until_ended(deadline)
        finally:
            # A child that was not waited for keeps its pid, so the bare pid means this child.
            end_tree(marker, [process.pid] if process.returncode is None else [])
            process.wait()
        talk.drain()
        return Finished(process.returncode, talk.text("out"), talk.text("err"), not ended, talk.cut)


class _Conversation:
    """Feeds a child its input and keeps the end of what it says, without threads."""

    def __init__(self, process: subprocess.Popen[bytes], data: bytes, keep_bytes: int) -> None:
        self._process = process
        self._selector = selectors.DefaultSelector()
        self._input = memoryview(data)
        self._keep = keep_bytes
        self._said = {"out": bytearray(), "err": bytearray()}
        self.cut = False
        self._register(process.stdin, selectors.EVENT_WRITE, "in")
        self._register(process.stdout, selectors.EVENT_READ, "out")
        self._register(process.stderr, selectors.EVENT_READ, "err")

    def _register(self, pipe: IO[bytes] | None, event: int, name: str) -> None:
        if pipe is not None:
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, event, name)

    def __enter__(self) -> _Conversation:
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()

    def until_ended(self, deadline: float) -> bool:
        """Talk until the child ends; False when the deadline comes first."""
        while self._process.poll() is None:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            self._exchange(min(left, _LOOK_EVERY))
        return True

    def drain(self) -> None:
        """Take what is left in the pipes of a child of which nothing is alive."""
        deadline = time.monotonic() + _SECONDS_TO_DRAIN
        while self._selector.get_map() and time.monotonic() < deadline:
            self._exchange(_LOOK_EVERY)

    def text(self, name: str) -> str:
        """Return what was kept of `out` or `err`."""
        return self._said[name].decode(errors="replace")

    def _exchange(self, seconds: float) -> None:
        if not self._selector.get_map():
            time.sleep(seconds)
            return
        for key, _event in self._selector.select(seconds):
            alive = self._feed(key.fd) if key.data == "in" else self._hear(key.fd, key.data)
            if not alive:
                self._selector.unregister(key.fileobj)
                key.fileobj.close()  # type: ignore[union-attr]  # only pipes are registered

    def _feed(self, descriptor: int) -> bool:
        with contextlib.suppress(BrokenPipeError):
            self._input = self._input[os.write(descriptor, self._input[:_CHUNK]) :]
            return len(self._input) > 0
        return False

    def _hear(self, descriptor: int, name: str) -> bool:
        data = os.read(descriptor, _CHUNK)
        kept = self._said[name]
        kept += data
        if len(kept) > self._keep:
            del kept[: len(kept) - self._keep]
            self.cut = True
        return bool(data)
