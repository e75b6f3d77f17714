"""What a job tells its supervisor: `signals.jsonl` (one line per fact) and the heartbeat (the step now).

The job never writes the journal: it signals, and the supervisor checks and records. One unbuffered
append per line, so that what was signalled is in the kernel whatever happens to the job.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

from lastro import atomic, strictjson
from lastro.records import dataclass
from lastro.storage.secrets import all_redacted

#: Seconds between two signs of life of a supervisor.
SIGN_SECONDS = 1.0


class Signal(str, Enum):
    """Kinds of lines, with the keys that each carries beside `kind` and `mono` (seconds, this machine)."""

    STARTED = "started"  # pid
    RESTORED = "restored"  # step, folder (name), seconds
    PASSED_OVER = "passed_over"  # folder (name), why
    CHECKPOINT = "checkpoint"  # step, folder (name), bytes, seconds, blocked, durable, why: due | asked | end
    INTERVAL = "interval"  # seconds, why: how often is saved from now on, with a policy that leaves it open
    SKIPPED = "skipped"  # step: a save was due; in_flight: the step whose save was still being written
    OUTPUT = "output"  # path (relative to outputs), bytes, sha256
    ITEMS = "items"  # done, total (may be null), offset: bytes of items.jsonl up to which `done` counts
    READ = "read"  # rows, digest (each may be null)
    STOP = "stop"  # rule, why, step, metric, value
    EXCEPTION = "exception"  # failure ("Type: message"), step
    FIRST_STEP = "first_step"  # step: the first one completed by this attempt
    LEFT = "left"  # step: saved on request, leaving with code 85
    FINISHED = "finished"  # step
    DISK_SHORT = "disk_short"  # what, free, needed (bytes): what is still to come will not fit
    DISK_HELD = "disk_held"  # bytes, why_not (null: all): room for checkpoints that are still to come
    DISK_FULL = "disk_full"  # what, free, needed (bytes): the job waits until there is room
    DISK_ROOM = "disk_room"  # what, free, seconds (waited): it goes on


#: Asked when the disk takes no more of a line: True when it may be tried again.
OnFull = Callable[[OSError], bool]


def refuse(_error: OSError) -> bool:
    """Try no more: the error is raised."""
    return False


#: Sent to a job that hangs: its processes that have attached write their stacks into the log. A real-time
#: signal, since launchers and trainers use both of USR1 and USR2. None where the system has no such signals.
STACKS_SIGNAL: int | None = getattr(signal, "SIGRTMIN", None) and signal.SIGRTMIN + 8


class LineWriter:
    """Appends lines with one unbuffered write each, so that they survive a kill -9 of the writer.

    A line that finds no room is taken back whole before anything else happens, so no half line is ever
    followed by another. `on_full` then says whether it is written again.
    """

    def __init__(self, path: Path, on_full: OnFull = refuse) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._on_full = on_full

    def write(self, line: bytes) -> None:
        """Append a line that ends with a newline; a short write is completed before returning."""
        done = 0
        while done < len(line):
            try:
                done += os.write(self._descriptor, line[done:] if done else line)
            except OSError as error:
                self._take_back(done)
                done = 0
                if not (atomic.is_full(error) and self._on_full(error)):
                    raise

    def _take_back(self, count: int) -> None:
        if count:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, os.fstat(self._descriptor).st_size - count)

    def sync(self) -> None:
        os.fsync(self._descriptor)

    def close(self) -> None:
        os.close(self._descriptor)


class SignalWriter:
    """The job's side of `signals.jsonl`."""

    def __init__(self, path: Path, on_full: OnFull = refuse) -> None:
        self._lines = LineWriter(path, on_full)

    def send(self, kind: Signal, **facts: Any) -> None:
        line = strictjson.dumps({"kind": kind.value, "mono": time.monotonic(), **all_redacted(facts)})
        self._lines.write(line.encode() + b"\n")


class LineReader:
    """Reads the complete lines that were appended since the last call; a torn last line waits."""

    def __init__(self, path: Path, offset: int = 0) -> None:
        self._path = os.fspath(path)
        self.offset = offset

    def lines(self) -> list[bytes]:
        """Return new complete lines without their newline; none when the file is not there yet."""
        try:
            new = os.stat(self._path).st_size - self.offset  # noqa: PTH116 - asked several times a second
            data = _bytes_of(self._path, new, self.offset) if new > 0 else b""
        except FileNotFoundError:
            return []
        whole = data.rfind(b"\n") + 1
        self.offset += whole
        return data[:whole].split(b"\n")[:-1]


def _bytes_of(path: str, count: int, offset: int = 0) -> bytes:
    """Return at most so many bytes; by descriptor, in half the time of a file object."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.pread(descriptor, count, offset)
    finally:
        os.close(descriptor)


_BEAT = 64


@dataclass(frozen=True)
class Beat:
    """The step that a job has completed last, and when (monotonic seconds of its machine)."""

    step: int
    mono: float


class Heartbeat:
    """The job's side of the heartbeat: one write of 64 bytes in place, about a microsecond."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def beat(self, step: int) -> None:
        # Nothing depends on a sign of life; what has to be kept tells of a full or broken disk itself.
        with contextlib.suppress(OSError):
            line = f"{step} {time.monotonic():.6f}".ljust(_BEAT - 1).encode() + b"\n"
            os.pwrite(self._descriptor, line, 0)


def read_beat(path: Path) -> Beat | None:
    """Return the last heartbeat; None when there is none yet or it cannot be read."""
    try:
        step, mono = _bytes_of(os.fspath(path), _BEAT).split()
        return Beat(int(step), float(mono))
    except (OSError, ValueError):
        return None
