"""How long the checkpoint disk takes, in its tail too: reads past the cache, and writes made durable."""

from __future__ import annotations

import contextlib
import mmap
import os
import random
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from lastro import atomic
from lastro.disk.reads import percentile
from lastro.locale import _
from lastro.preflight.budget import Measured, Yielded
from lastro.preflight.check import Finding, Level
from lastro.preflight.disk_space import existing
from lastro.preflight.lock import Value
from lastro.records import dataclass

READ, WRITE = "io_read", "io_write"
#: Ten samples have to lie beyond a percentile for it to say anything.
_BEYOND = 10
_BLOCK = 4096
_FILE_BYTES = 64 << 20
#: Against a lock: so many times slower is told, from a latency on that anybody would notice. Both assumed;
#: the same disk differs by less from one hour to the next in its middle, and by far more in its tail.
TIMES = 2.0
FELT = {READ: 0.001, WRITE: 0.02}


@dataclass(frozen=True, kw_only=True)
class Latencies:
    """Seconds of single operations; a percentile is None where too few lie beyond it."""

    name: str
    seconds: tuple[float, ...]
    past_cache: bool = True

    def at(self, percent: float) -> float | None:
        """Return a percentile."""
        if round(len(self.seconds) * (100 - percent) / 100, 6) < _BEYOND:
            return None
        return percentile(self.seconds, percent)

    @property
    def text(self) -> str:
        """The percentiles as people read them."""
        parts = []
        for name, percent in (("p50", 50.0), ("p99", 99.0), ("p99.9", 99.9)):
            value = self.at(percent)
            parts.append(
                _("{name} too few samples").format(name=name)
                if value is None
                else f"{name} {value * 1000:.3g} ms"
            )
        text = _("{percentiles}, of {count}").format(percentiles=", ".join(parts), count=len(self.seconds))
        return text if self.past_cache else _("{text} (a cache may have answered)").format(text=text)

    def figures(self) -> dict[str, Value]:
        return {
            "p50_seconds": self.at(50.0),
            "p99_seconds": self.at(99.0),
            "p999_seconds": self.at(99.9),
            "samples": len(self.seconds),
        }


def soak(disk: Path, seconds: float, locked: Mapping[str, Mapping[str, Value]]) -> Iterator[Yielded]:
    """Read and write for so long in all, in a file without a name, so that a kill leaves nothing behind.

    Args:
        disk: where checkpoints will lie; it need not be there yet.
        seconds: for both together, and for writing the file that is read.
        locked: figures of the machine that was proven, by name.
    """
    try:
        measured = _measure(existing(disk), seconds)
    except OSError as error:
        yield Finding(
            code=WRITE,
            level=Level.NO_ANSWER,
            fact=_fact(WRITE),
            value=_("{path}: {error}").format(path=existing(disk), error=error.strerror or error),
        )
        return
    for one in measured:
        yield judge(one, locked.get(one.name))
        yield Measured(name=one.name, values=one.figures())


def _fact(name: str) -> str:
    return _("reads of 4 KB on the disk") if name == READ else _("durable writes of 4 KB on the disk")


def judge(found: Latencies, locked: Mapping[str, Value] | None) -> Finding:
    """Compare the middle and the tail with twice what the proven machine took; p99.9 is told only."""
    slow = []
    for name, percent in (("p50", 50.0), ("p99", 99.0)):
        before, now = (locked or {}).get(f"{name}_seconds"), found.at(percent)
        if (
            isinstance(before, (int, float))
            and now is not None
            and now > max(TIMES * before, FELT[found.name])
        ):
            slow.append(_("{name} at most {ms:.3g} ms").format(name=name, ms=TIMES * before * 1000))
    return Finding(
        code=found.name,
        level=Level.WARN if slow else Level.PASS,
        fact=_fact(found.name),
        value=found.text,
        expected=", ".join(slow) or None,
        consequence=_("checkpoints and loading take several times as long as was proven") if slow else None,
        next_step=_("use a faster disk, save less often, or see what else uses it now") if slow else None,
    )


def _measure(place: Path, seconds: float) -> tuple[Latencies, Latencies]:
    ends = time.monotonic() + seconds
    name = place / f"{atomic.TEMPORARY}preflight-{secrets.token_hex(6)}"
    writer = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        try:
            reader, past = _open_past_cache(name)
        finally:
            name.unlink()
        try:
            size = _fill(writer, time.monotonic() + seconds / 4)
            half = (ends + time.monotonic()) / 2
            reads = _repeat(lambda: None, _reading(reader, size), half)
            writes = _repeat(_writing(writer, size), lambda: os.fdatasync(writer), ends)
        finally:
            os.close(reader)
    finally:
        os.close(writer)
    return Latencies(name=READ, seconds=reads, past_cache=past), Latencies(name=WRITE, seconds=writes)


def _open_past_cache(name: Path) -> tuple[int, bool]:
    direct = getattr(os, "O_DIRECT", 0)
    if direct:
        with contextlib.suppress(OSError):
            return os.open(name, os.O_RDONLY | direct | os.O_CLOEXEC), True
    return os.open(name, os.O_RDONLY | os.O_CLOEXEC), False


def _fill(descriptor: int, until: float) -> int:
    """Write a file of up to 64 MiB, durable; return its bytes, whole blocks and one at least."""
    piece, size = secrets.token_bytes(1 << 20), 0
    while size < _FILE_BYTES and (size == 0 or time.monotonic() < until):
        size += os.write(descriptor, piece)
        os.fdatasync(descriptor)
    return size - size % _BLOCK


def _reading(descriptor: int, size: int) -> Callable[[], object]:
    places, blocks = random.Random(0), size // _BLOCK
    buffer = mmap.mmap(-1, _BLOCK)  # begins at a page, which O_DIRECT asks for
    return lambda: os.preadv(descriptor, [buffer], places.randrange(blocks) * _BLOCK)


def _writing(descriptor: int, size: int) -> Callable[[], object]:
    places, blocks, block = random.Random(1), size // _BLOCK, secrets.token_bytes(_BLOCK)
    return lambda: os.pwrite(descriptor, block, places.randrange(blocks) * _BLOCK)


def _repeat(before: Callable[[], object], timed: Callable[[], object], ends: float) -> tuple[float, ...]:
    seconds = []
    while True:
        before()
        began = time.perf_counter()
        timed()
        seconds.append(time.perf_counter() - began)
        if time.monotonic() >= ends:
            return tuple(seconds)
