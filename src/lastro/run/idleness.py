"""Whether a job does anything at all: progress, output, processor time, bytes read or written.

A long download, a compilation or an evaluation is no idleness, although no step is done meanwhile.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import field
from pathlib import Path

from lastro.paths import AttemptFolder
from lastro.procs.killtree import members
from lastro.records import dataclass

#: Less than this is what waiting costs: timers of an interpreter, a thread that polls.
_BUSY_SHARE = 0.01
_BYTES_A_SECOND = 1024.0
#: How often the tree is looked at: this many times within the limit, and at most so many seconds apart.
_LOOKS = 5
_SECONDS_APART = 30.0


@dataclass(frozen=True)
class Use:
    """What one process has used so far: seconds of processors (its waited-for children too), bytes moved."""

    cpu: float
    moved: int


@dataclass
class Idleness:
    """Follows the processes of one attempt. `limit`: seconds, from which the pace of the looks is taken."""

    folder: AttemptFolder
    limit: float
    _next: float = 0.0
    _looked: float | None = None
    _last_active: float = 0.0
    _marks: tuple[tuple[int, int], ...] = ()
    _uses: dict[int, Use] = field(default_factory=dict)

    def seconds(self, now: float) -> float:
        """Return for how long nothing was seen of the job. `now`: monotonic seconds."""
        if now >= self._next:
            self._next = now + min(self.limit / _LOOKS, _SECONDS_APART)
            if self._looked is None or self._active(now - self._looked):
                self._last_active = now
            self._looked = now
        return now - self._last_active

    def _active(self, elapsed: float) -> bool:
        marks, before_marks = _marks(self.folder), self._marks
        uses, before = _uses(self.folder), self._uses
        self._marks, self._uses = marks, uses
        if marks != before_marks:
            return True
        cpu = sum(use.cpu - before[pid].cpu if pid in before else use.cpu for pid, use in uses.items())
        moved = sum(
            use.moved - before[pid].moved if pid in before else use.moved for pid, use in uses.items()
        )
        return cpu > _BUSY_SHARE * elapsed or moved > _BYTES_A_SECOND * elapsed


def _marks(folder: AttemptFolder) -> tuple[tuple[int, int], ...]:
    """Return size and time of change of everything in which a job shows that it goes on."""
    marks = []
    for path in (folder.heartbeat, folder.measurements(), folder.signals, folder.log):
        with contextlib.suppress(OSError):
            facts = path.stat()
            marks.append((facts.st_size, facts.st_mtime_ns))
    return tuple(marks)


def _uses(folder: AttemptFolder) -> dict[int, Use]:
    """Return what each living process of the attempt has used; one that may not be asked has used nothing."""
    pids = [process.pid for process in members(("LASTRO_ATTEMPT", str(folder.root))).all]
    return {pid: use for pid in pids if (use := use_of(pid)) is not None}


def use_of(pid: int) -> Use | None:
    """Return what a process has used, from /proc; None when it has gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    fields = text[text.rindex(")") + 2 :].split()
    ticks = sum(int(fields[place]) for place in (11, 12, 13, 14))  # proc(5): utime, stime, cutime, cstime
    moved = 0
    with contextlib.suppress(OSError, ValueError):
        counts = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text().splitlines())
        moved = int(counts["rchar"]) + int(counts["wchar"])
    return Use(cpu=ticks / os.sysconf("SC_CLK_TCK"), moved=moved)
