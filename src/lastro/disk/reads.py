"""How long reads take that no cache answers: small ones at random places, as an epoch of small files does."""

from __future__ import annotations

import contextlib
import mmap
import os
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lastro.locale import _
from lastro.records import dataclass

SMALL, LARGE = 4096, 1 << 20
_FILE_BYTES = 48 << 20
#: Reads of each size: enough of the small ones for a 99th percentile.
_COUNTS = {SMALL: 400, LARGE: 40}
#: Of fewer samples the 99th percentile is the largest one, and says nothing.
SAMPLES_FOR_P99 = 100
#: No more time than this for each size: a slow disk is told by fewer reads.
_SECONDS = 4.0
#: A disk on which a random 4 KB takes longer is read by blocks, not file by file: a seek of a spinning disk
#: takes 5 to 10 ms, a network's round trip 1 ms and more, flash 0.1 ms.
SLOW_SECONDS = 0.002


@dataclass(frozen=True, kw_only=True)
class Reads:
    """Seconds of reads of one size. `past_cache`: how it was seen to that no cache answered."""

    size: int
    seconds: tuple[float, ...]
    past_cache: str

    @property
    def p50(self) -> float | None:
        """The median; None without a sample."""
        return percentile(self.seconds, 50)

    @property
    def p99(self) -> float | None:
        """The 99th percentile; None of too few samples."""
        return percentile(self.seconds, 99) if len(self.seconds) >= SAMPLES_FOR_P99 else None

    @property
    def text(self) -> str:
        """The percentiles as people read them."""
        if self.p50 is None:
            return _("no read ended in time")
        middle = _("p50 {ms:.3g} ms").format(ms=self.p50 * 1000)
        if self.p99 is None:
            return _("{p50}, {count} samples are too few for p99").format(p50=middle, count=len(self.seconds))
        return _("{p50}, p99 {ms:.3g} ms of {count}").format(
            p50=middle, ms=self.p99 * 1000, count=len(self.seconds)
        )

    @property
    def means(self) -> str:
        """What that means for the plan."""
        if self.p50 is None:
            return _("nothing that is read at random can live here")
        if self.size == LARGE:
            rate = self.size / 1e6 / max(self.p50, 1e-9)
            return _("{rate:.0f} MB/s by reads of this size").format(rate=rate)
        if self.p50 > SLOW_SECONDS:
            return _("small files are slow here: pack them, and shuffle by blocks")
        return _("a global shuffle of a packed set is fast enough")

    def as_json(self) -> dict[str, Any]:
        return {
            "bytes": self.size,
            "samples": len(self.seconds),
            "p50_seconds": self.p50,
            "p99_seconds": self.p99,
            "past_cache": self.past_cache,
        }


def percentile(values: Sequence[float], percent: float) -> float | None:
    """Return the smallest value that at least this part of all does not exceed; None of none. Pure."""
    if not values:
        return None
    ranked = sorted(values)
    return ranked[max(0, -(-len(ranked) * percent // 100) - 1).__trunc__()]


def measure(place: Path, size: int) -> Reads:
    """Write a file below `place` and read pieces of it at random places past the cache. Raises OSError."""
    path = place / "reads"
    if not path.exists():
        _write(path)
    descriptor, how = _open(path)
    try:
        return Reads(size=size, seconds=_read(descriptor, size), past_cache=how)
    finally:
        os.close(descriptor)


def _write(path: Path) -> None:
    piece = os.urandom(LARGE)
    with path.open("wb") as file:
        for _number in range(_FILE_BYTES // LARGE):
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())


def _open(path: Path) -> tuple[int, str]:
    direct = getattr(os, "O_DIRECT", 0)
    if direct:
        with contextlib.suppress(OSError):
            return os.open(path, os.O_RDONLY | direct), "O_DIRECT"
    descriptor = os.open(path, os.O_RDONLY)
    advise = getattr(os, "posix_fadvise", None)
    if advise is None:
        return descriptor, "no"
    advise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    return descriptor, "fadvise"


def _read(descriptor: int, size: int) -> tuple[float, ...]:
    places = list(range(0, _FILE_BYTES - size + 1, size))
    chosen = random.Random(0).sample(places, min(_COUNTS[size], len(places)))
    seconds = []
    ends = time.perf_counter() + _SECONDS
    # Anonymous memory begins at a page, which O_DIRECT asks for.
    with mmap.mmap(-1, size) as buffer:
        for offset in chosen:
            began = time.perf_counter()
            if began > ends:
                break
            os.preadv(descriptor, [buffer], offset)
            seconds.append(time.perf_counter() - began)
    return tuple(seconds)
