"""Notices a job that has fallen silent, has its stacks written down, and lets it be started again."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path

from lastro import strictjson
from lastro.journal.events import EventType
from lastro.journal.signals import Beat, LineReader, Signal, read_beat
from lastro.journal.streams import StreamWriter
from lastro.locale import _
from lastro.paths import AttemptFolder
from lastro.procs.usage import TreeUse, tree_use
from lastro.records import dataclass
from lastro.rules import End, Leave, Order, Silence, judge_silence
from lastro.run.seen import Seen
from lastro.run.stacks import dump_stacks

#: Seconds between two looks, and the part of the shortest limit that is used where that is less.
_EVERY, _PART = 1.0, 0.1
#: A job that uses less than this part of one core, and moves fewer bytes a second, does nothing.
_BUSY_CORES, _BUSY_BYTES = 0.05, 1 << 20
#: Work is measured over such a part of the limit, so that a thread that wakes up now and then is none.
_WINDOWS = 20
#: A dump that has not ended by then is left to itself.
_SECONDS_TO_DUMP = 60.0

_Signs = tuple[int, ...]


@dataclass
class HangWatch:
    """Follows one job. Time in which this supervisor itself was frozen counts as no silence."""

    folder: AttemptFolder
    order: Order
    stream: StreamWriter
    _next: float = 0.0
    _looked: float | None = None
    _silent: float = 0.0
    _idle: float = 0.0
    _signs: _Signs = ()
    _step: tuple[int, float] | None = None
    _longest: float | None = None
    _use: tuple[float, TreeUse] | None = None
    _lines: LineReader = field(init=False)
    _heartbeat: Path = field(init=False)
    _files: Sequence[str] = field(init=False)
    _beat: Beat | None = None
    _dump: threading.Thread | None = None
    _dump_ends: float = 0.0
    _reached: list[str] = field(default_factory=list)
    _told: bool = False
    _finished: bool = False

    def __post_init__(self) -> None:
        self._lines = LineReader(self.folder.signals)
        self._heartbeat = self.folder.heartbeat
        self._files = [
            str(path) for path in (self.folder.measurements(), self.folder.signals, self.folder.log)
        ]

    def look(self, seen: Seen) -> Leave | None:
        """Return once that the job hangs, when its stacks are in the log."""
        if self.order.hang.least is None or self._told or seen.now < self._next:
            return None
        every = min(_EVERY, self.order.hang.least * _PART)
        gap = min(seen.now - self._looked, 5 * every) if self._looked is not None else 0.0
        self._next, self._looked = seen.now + every, seen.now
        self._listen(seen, gap)
        why = judge_silence(
            self.order.hang, Silence(silent=self._silent, idle=self._idle, longest=self._longest_step)
        )
        if self._dump is not None:
            return self._after_dump(seen, why)
        if why is not None:
            self._begin_dump(seen, why)
        return None

    # --- listening ------------------------------------------------------------------------------------

    def _listen(self, seen: Seen, gap: float) -> None:
        signs = self._signs_now()
        self._silent += gap
        self._idle += gap
        if signs != self._signs:
            self._signs, self._use = signs, None
            self._silent = self._idle = 0.0
            self._pace()
            self._finished = self._finished or any(map(_is_end, self._lines.lines()))
        elif self._idle >= self._soonest() / 2:
            self._feel(seen)

    def _signs_now(self) -> _Signs:
        """Return what changes when the job does, measures, signals or prints something.

        Once its stacks are being written, its log is no sign any more.
        """
        self._beat = beat = read_beat(self._heartbeat)
        files = self._files if self._dump is None else self._files[:-1]
        return (int(beat.mono * 1e6) if beat else 0, *map(_size, files))

    def _pace(self) -> None:
        """Learn from the interval between two steps; saves and evaluations lie within."""
        beat = self._beat
        if beat is None or (self._step is not None and beat.step <= self._step[0]):
            return
        if self._step is not None:
            self._longest = max(self._longest or 0.0, beat.mono - self._step[1])
        self._step = (beat.step, beat.mono)

    def _soonest(self) -> float:
        hang = self.order.hang
        assert hang.least is not None
        return hang.least if self._longest_step is not None else max(hang.first, hang.least)

    @property
    def _longest_step(self) -> float | None:
        """The pace to judge by: none once the loop has ended, for what follows has shown none."""
        return None if self._finished else self._longest

    def _feel(self, seen: Seen) -> None:
        """See whether a silent job works; asked only of one that has been idle for a while."""
        elapsed = seen.now - self._use[0] if self._use is not None else 0.0
        if self._use is not None and elapsed < self._soonest() / _WINDOWS:
            return
        use = tree_use((seen.job,))
        if self._use is not None:
            before = self._use[1]
            moved = (use.read or 0) + (use.written or 0) - (before.read or 0) - (before.written or 0)
            if use.cpu - before.cpu > _BUSY_CORES * elapsed or moved > _BUSY_BYTES * elapsed:
                self._idle = 0.0
        self._use = (seen.now, use)

    # --- ending ---------------------------------------------------------------------------------------

    def _begin_dump(self, seen: Seen, why: str) -> None:
        text = _("the job hangs: {why}; where it stands:").format(why=why)
        self._signs = self._signs[:-1]
        self._dump_ends = seen.now + _SECONDS_TO_DUMP
        self._dump = threading.Thread(
            target=lambda: self._reached.append(dump_stacks(self.folder, seen.job, text)), daemon=True
        )
        self._dump.start()

    def _after_dump(self, seen: Seen, why: str | None) -> Leave | None:
        assert self._dump is not None
        if self._dump.is_alive() and seen.now < self._dump_ends:
            return None
        if why is None:  # it has come back to life meanwhile: the stacks in its log do no harm
            self._dump, self._reached = None, []
            return None
        self._told = True
        self.stream.append(
            EventType.ATTEMPT_HUNG,
            why=why,
            step=seen.step(),
            silent_seconds=round(self._silent, 1),
            longest_step_seconds=round(self._longest, 3) if self._longest is not None else None,
            stacks=self._reached[0] if self._reached else "none",
        )
        return Leave(
            end=End.HUNG,
            why=_("the job hung: {why}").format(why=why),
            seconds=self.order.grace_seconds,
        )


def _is_end(line: bytes) -> bool:
    try:
        return bool(strictjson.loads(line)["kind"] == Signal.FINISHED.value)
    except (ValueError, KeyError, TypeError):
        return False


def _size(path: str) -> int:
    with contextlib.suppress(OSError):
        return os.stat(path).st_size  # noqa: PTH116 - asked every second
    return 0
