"""Time as a value that is handed in, so that decisions can be tested without waiting."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from lastro.records import dataclass


@dataclass(frozen=True)
class Stamp:
    """A moment from which time can be measured although clocks are set.

    `at`: wall time. `boot`: the id of the kernel's boot, empty where there is none. `seconds`: since then,
    with those in which the machine slept.
    """

    at: datetime
    boot: str = ""
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        return {"at": iso(self.at), "boot": self.boot, "seconds": self.seconds}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Stamp:
        """Read what `as_json` wrote; what knows nothing of boots has a wall time only."""
        return cls(from_iso(value["at"]), str(value.get("boot", "")), float(value.get("seconds", 0.0)))


def elapsed(since: Stamp, until: Stamp) -> float | None:
    """Return the seconds between two moments; by wall time only across boots or machines.

    None: unknown, because the wall clock was set back meanwhile.
    """
    if since.boot and since.boot == until.boot:
        return max(0.0, until.seconds - since.seconds)
    seconds = (until.at - since.at).total_seconds()
    return seconds if seconds >= 0 else None


def steady() -> float:
    """Return seconds that go on while the machine sleeps, and do not jump when its clock is set."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


@cache
def boot_id() -> str:
    """Return the id of this boot of the kernel; empty where there is none to ask."""
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return ""


class Clock(Protocol):
    """Wall time for people, monotonic time for durations on one machine; the two are never mixed."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start that never go back on this machine."""
        ...

    def stamp(self) -> Stamp:
        """Return this moment, to measure from or to."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        return datetime.now(timezone.utc)

    def monotonic(self) -> float:
        return time.monotonic()

    def stamp(self) -> Stamp:
        return Stamp(self.now(), boot_id(), steady())

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class ManualClock:
    """A clock for tests: it moves when it is told to, and `sleep` moves it."""

    def __init__(self, start: datetime | None = None) -> None:
        self._now = start or datetime(2026, 1, 1, tzinfo=timezone.utc)
        self._monotonic = 0.0

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    def stamp(self) -> Stamp:
        return Stamp(self.now(), "manual", self._monotonic)

    def set(self, now: datetime) -> None:
        """Set the wall clock, as a person or a time service does: nothing else moves."""
        self._now = now

    def sleep(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)
        self._monotonic += seconds


def wait_until(clock: Clock, condition: Callable[[], bool], seconds: float, every: float) -> bool:
    """Wait for a condition, looking `every` so many seconds; False when it has not come within `seconds`."""
    deadline = clock.monotonic() + seconds
    while not condition():
        if clock.monotonic() > deadline:
            return False
        clock.sleep(every)
    return True


def iso(moment: datetime) -> str:
    """Return UTC ISO 8601 with microseconds and `Z`: `2026-11-30T02:01:26.000000Z`."""
    return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def from_iso(text: str) -> datetime:
    """Read what `iso` wrote. Raises ValueError for anything else."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
