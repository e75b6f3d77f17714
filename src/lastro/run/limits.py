"""Limits that act on the machine, whether home lives or not: asks the job to leave, and the machine to go."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from functools import cache
from pathlib import Path

from lastro import atomic, strictjson
from lastro.billing import Lease, LeaseKind
from lastro.clock import steady
from lastro.errors import StorageError
from lastro.journal.events import EventType
from lastro.journal.signals import Beat, LineReader, Signal, read_beat
from lastro.journal.streams import StreamWriter, read_stream
from lastro.journal.work import worked_seconds
from lastro.paths import AttemptFolder, CampaignFolder, stream_of_attempt
from lastro.providers.environment import RELEASE
from lastro.providers.shell_signs import ShellSigns
from lastro.rules import Cause, End, Leave, LimitKind, Order, judge_limits, leaving_seconds
from lastro.run.idleness import Idleness
from lastro.run.seen import Seen

#: Seconds between two looks: a limit is approached with seconds to spare.
_LOOK_SECONDS = 0.5


class LimitWatch:
    """Watches lease end, budget, deadline, idleness of one attempt, and for how long its run has worked."""

    def __init__(
        self,
        folder: AttemptFolder,
        order: Order,
        stream: StreamWriter,
        way_out: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """Begin to watch. `way_out`: seconds that the last save then takes to get off the machine."""
        self._way_out = way_out
        self._folder, self._order, self._stream = folder, order, stream
        self._active = not order.limits.none
        self._signals = LineReader(folder.signals)
        self._began, self._wall = _beginning()
        self._next = 0.0
        self._save_seconds = order.limits.save_seconds
        self._beat: Beat | None = None
        self._longest_step = 0.0
        idle = order.limits.idle_seconds
        self._idleness = Idleness(folder, idle) if idle is not None else None
        self._shells = ShellSigns(CampaignFolder(Path(order.campaign_folder)))
        self._held_at: float | None = None
        self._worked_before = 0.0 if order.limits.work_seconds is None else _worked_before(folder, order)
        self._waited = 0.0
        self._waits_since: float | None = None

    def look(self, seen: Seen) -> Leave | None:
        if not self._active or seen.now < self._next:
            return None
        self._next = seen.now + _LOOK_SECONDS
        self._measure()
        way_out = self._way_out()
        leaving = leaving_seconds(
            self._save_seconds, self._longest_step, self._order.grace_seconds, way_out_seconds=way_out
        )
        idle_for = self._idle_for(seen.now)
        leave = judge_limits(
            self._order.limits,
            self._now(),
            leaving=leaving,
            idle_for=idle_for,
            worked=self._worked(seen),
            way_out_seconds=way_out,
        )
        if leave is None:
            return None
        self._active = False
        self._stream.append(
            EventType.LIMIT_REACHED,
            limit=leave.limit,
            why=leave.why,
            seconds=round(leave.seconds, 3),
            save_seconds=self._save_seconds,
        )
        return leave

    def _idle_for(self, now: float) -> float | None:
        """Return for how long nothing was seen of the job, and of nobody in a shell on the machine either."""
        if self._idleness is None:
            return None
        if self._order.machine in self._shells.held(now):
            self._held_at = now
        idle = self._idleness.seconds(now)
        return idle if self._held_at is None else min(idle, now - self._held_at)

    def _now(self) -> datetime:
        """Return wall time as it was at the beginning, moved on by a clock that never jumps."""
        return self._wall + timedelta(seconds=steady() - self._began)

    def _worked(self, seen: Seen) -> float:
        """Return for how long the run has worked, over all its attempts, as `worked_seconds` counts."""
        waits = seen.now - self._waits_since if self._waits_since is not None else 0.0
        return self._worked_before + seen.now - seen.started - self._waited - waits

    def _measure(self) -> None:
        """Keep what the last save and the longest step took, and the waiting for room on the disk."""
        for line in self._signals.lines():
            with contextlib.suppress(ValueError, KeyError, TypeError):  # a job can write anything there
                facts = strictjson.loads(line)
                if facts["kind"] == Signal.CHECKPOINT.value:
                    self._save_seconds = float(facts["seconds"])
                elif facts["kind"] == Signal.DISK_FULL.value and self._waits_since is None:
                    self._waits_since = float(facts["mono"])
                elif facts["kind"] == Signal.DISK_ROOM.value and self._waits_since is not None:
                    # Several processes that wait together wait once.
                    self._waits_since, self._waited = None, self._waited + float(facts["seconds"])
        beat = read_beat(self._folder.heartbeat)
        if beat is not None and self._beat is not None and beat.step > self._beat.step:
            took = (beat.mono - self._beat.mono) / (beat.step - self._beat.step)
            self._longest_step = max(self._longest_step, took)
        self._beat = beat


def _worked_before(folder: AttemptFolder, order: Order) -> float:
    """Return for how long earlier attempts of the run have worked, by their streams on the disk."""
    campaign = CampaignFolder(Path(order.campaign_folder))
    earlier = (campaign.stream(stream_of_attempt(order.run, number)) for number in range(1, folder.number))
    return sum(worked_seconds(read_stream(path).events) or 0.0 for path in earlier if path.exists())


@cache
def _beginning() -> tuple[float, datetime]:
    """Return when this supervisor began to measure: one moment for all its attempts, by both clocks."""
    return steady(), datetime.now(timezone.utc)


def releases(cause: Cause, lease: Lease | None = None, *, held: bool = False) -> bool:
    """Tell whether the machine ends itself after this cause: a limit has ended the work on it.

    While a person decides after a pilot it stays where it is a lot, which is paid to its end, or where
    somebody has a shell open on it (`held`).
    """
    stays = held or (lease is not None and lease.kind is LeaseKind.LOT)
    return cause.end is End.LIMIT and not (stays and cause.limit == LimitKind.PILOT.value)


def release_after(cause: Cause, lease: Lease | None = None, *, held: bool = False) -> None:
    """Ask the machine to end itself when a limit has ended the work on it, where the machine listens."""
    if releases(cause, lease, held=held):
        let_machine_go(str(cause.limit).replace("_", " "))


def can_let_go() -> bool:
    """Tell whether this machine listens when it is asked to end: then it names a file in LASTRO_RELEASE."""
    return bool(os.environ.get(RELEASE))


def let_machine_go(why: str) -> None:
    """Ask the machine to end itself, where it listens.

    What was said in the journal is durable by then; this process may be ended by what it asks for.
    """
    named = os.environ.get(RELEASE)
    if not named:
        return
    # A machine whose own storage takes no more is let go by home, which has the end of the run.
    with contextlib.suppress(StorageError, OSError):
        atomic.write_text(Path(named), strictjson.pretty({"why": why}))
