"""Home's end of the connection to a machine: one ssh that stays, over which questions are asked.

A connection that was cut is made again by the next question. Every wait has an end.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import tempfile
from collections.abc import Mapping
from typing import IO, Any

from lastro.clock import Clock
from lastro.errors import LastroError, ProviderError, StorageError
from lastro.locale import _
from lastro.providers.ssh import wire
from lastro.providers.ssh.parcel import parcel
from lastro.providers.ssh.transport import Refused, Unreachable, agent_command, explain
from lastro.spec.addresses import Target

#: Seconds until lastro answers on a machine for the first time: logging in, and a parcel over a thin line.
_CONNECT_SECONDS = 90.0
#: Seconds until an answer: a disk on a network may take its time, and ssh tells a cut cable after 20.
ANSWER_SECONDS = 60.0
_PIECE = 1 << 16


class Channel:
    """Asks the agent of one machine.

    Attributes:
        hello: what the machine said of itself when it was reached; empty before.
        connections: how often it was connected, so that who keeps books about the agent begins anew.
    """

    def __init__(self, target: Target, clock: Clock) -> None:
        self.target = target
        self.hello: Mapping[str, Any] = {}
        self.connections = 0
        self._clock = clock
        self._process: subprocess.Popen[bytes] | None = None
        self._words: IO[bytes] | None = None
        self._buffer = b""

    def ask(
        self, question: str, body: bytes = b"", *, seconds: float = ANSWER_SECONDS, **facts: Any
    ) -> tuple[Mapping[str, Any], bytes]:
        """Ask and return the answer.

        Raises:
            Unreachable: nobody answers.
            Refused: the machine will not have us.
            StorageError: a disk there refuses.
            ProviderError: something else there went wrong.
        """
        self.connect()
        head, answer = self._talk(wire.frame({"ask": question, **facts}, body), seconds)
        if "error" in head:
            raise self._told(head)
        return head, answer

    def connect(self) -> None:
        """See to it that there is a connection. Raises as `ask` does."""
        if self._process is not None and self._process.poll() is None:
            return
        self.close()
        digest, data = parcel()
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the connection
        try:
            self._process = subprocess.Popen(
                agent_command(self.target, digest),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._words,
                start_new_session=True,  # Ctrl-C is for lastro, which then hangs up
            )
        except FileNotFoundError as error:
            raise Refused(
                _("there is no ssh on this computer"), hint=_("install OpenSSH's client")
            ) from error
        first, _none = self._read(_CONNECT_SECONDS)
        if not first["parcel"]:
            self._send(b"%d\n" % len(data) + data)
        self.connections += 1
        self.hello, _none = self._talk(wire.frame({"ask": "hello"}), _CONNECT_SECONDS)

    def close(self) -> None:
        """Hang up. What was started on the machine goes on."""
        process, self._process, self._buffer = self._process, None, b""
        if process is not None:
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()
            try:
                process.wait(2.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._words is not None:
            self._words.close()
            self._words = None

    def _told(self, head: Mapping[str, Any]) -> LastroError:
        told = _("{where}: {error}").format(where=self.target.spec, error=head["error"])
        if head["kind"] in ("StorageError", "OSError"):
            return StorageError(told, hint=head["hint"] or _("check the disk there"))
        return ProviderError(told, hint=head["hint"])

    def _talk(self, question: bytes, seconds: float) -> tuple[dict[str, Any], bytes]:
        self._send(question)
        return self._read(seconds)

    def _send(self, data: bytes) -> None:
        """Send all, or give the connection up: a machine that takes nothing for so long is not there."""
        assert self._process is not None and self._process.stdin is not None
        descriptor = self._process.stdin.fileno()
        os.set_blocking(descriptor, False)
        deadline = self._clock.monotonic() + ANSWER_SECONDS
        rest = memoryview(data)
        with selectors.DefaultSelector() as ready:
            ready.register(descriptor, selectors.EVENT_WRITE)
            while rest:
                if not ready.select(max(0.0, deadline - self._clock.monotonic())):
                    raise self._lost(_("it takes nothing more"))
                try:
                    sent = os.write(descriptor, rest[:_PIECE])
                except OSError:
                    raise self._lost(None) from None
                rest = rest[sent:]
                deadline = self._clock.monotonic() + ANSWER_SECONDS

    def _read(self, seconds: float) -> tuple[dict[str, Any], bytes]:
        """Return the next frame. Raises Unreachable or Refused, and hangs up, when none comes."""
        deadline = self._clock.monotonic() + seconds
        while True:
            line, newline, rest = self._buffer.partition(b"\n")
            if not newline:
                if len(line) > wire.LONGEST_LINE:
                    raise self._lost(_("it says what lastro does not understand"))
                self._fill(deadline)
                continue
            self._buffer = rest
            try:
                head = wire.head_of(line)
            except ValueError:
                raise self._lost(_("it says what lastro does not understand")) from None
            if head is None:
                continue
            size = int(head["bytes"])
            pieces = bytearray(self._buffer)
            self._buffer = b""
            while len(pieces) < size:
                self._fill(deadline)
                pieces += self._buffer
                self._buffer = b""
            self._buffer = bytes(pieces[size:])
            return head, bytes(pieces[:size])

    def _fill(self, deadline: float) -> None:
        assert self._process is not None and self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        with selectors.DefaultSelector() as ready:
            ready.register(descriptor, selectors.EVENT_READ)
            if not ready.select(max(0.0, deadline - self._clock.monotonic())):
                raise self._lost(_("it does not answer any more"))
        data = os.read(descriptor, _PIECE * 16)
        if not data:
            raise self._lost(None)
        self._buffer += data

    def _lost(self, why: str | None) -> ProviderError:
        """Hang up and return what that means; `why` None: ssh has said it, or nobody has."""
        assert self._process is not None and self._words is not None
        code: int | None = None
        if why is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self._process.wait(5.0)
        self._words.seek(0)
        words = self._words.read().decode(errors="replace")
        known = self.connections > 0
        self.close()
        if why is not None:
            return explain(self.target, None, f"{words}\n{why}")
        # A machine that was reached before and ends the connection goes down, or its cable was cut.
        return explain(self.target, 255 if known and code != 255 else code, words)


def is_away(error: LastroError) -> bool:
    """Tell whether an error says that nobody answers now, so that it is worth asking again later."""
    return isinstance(error, Unreachable)
