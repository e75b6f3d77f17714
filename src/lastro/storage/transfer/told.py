"""What a transfer has done: bytes, parts and how long each took."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import field
from typing import Any

from lastro.records import dataclass
from lastro.storage.transfer.parts import percentiles


@dataclass(kw_only=True)
class Tally:
    """Counts what one transfer moves; several threads add to it.

    files, bytes: of all files. moved_bytes: over the wire, tries that failed too. there_files, there_bytes:
    what was there already. seconds: of each part.
    """

    files: int = 0
    bytes: int = 0
    there_files: int = 0
    there_bytes: int = 0
    moved_bytes: int = 0
    retried: int = 0
    seconds: list[float] = field(default_factory=list)
    draw: Callable[[int], None] = field(default=lambda _count: None)
    told: Callable[[int, int], None] = field(default=lambda _done, _total: None)
    total: int = 0
    _done: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, count: int) -> None:
        """Draw from the budget what is about to be moved. Raises what the budget raises."""
        with self._lock:
            self.draw(count)
            self.moved_bytes += count

    def part(self, seconds: float) -> None:
        """Keep how long a part took."""
        with self._lock:
            self.seconds.append(seconds)

    def done(self, count: int) -> None:
        """Tell that so much more is where it should be."""
        with self._lock:
            self._done += count
            self.told(self._done, self.total)

    def as_json(self) -> dict[str, Any]:
        known = percentiles(self.seconds)
        return {
            "files": self.files,
            "bytes": self.bytes,
            "files_there_before": self.there_files,
            "bytes_there_before": self.there_bytes,
            "moved_bytes": self.moved_bytes,
            "retried_calls": self.retried,
            "parts": len(self.seconds),
            "part_seconds_p50": round(known[0], 4) if known else None,
            "part_seconds_p99": round(known[1], 4) if known else None,
        }
