"""Memory that ran out: the supervisor goes last, the job first, and a kill by the kernel is told as one.

The kernel tells whom it killed in counters alone: its control group's, and the machine's. Both are read when
an attempt begins and when it has ended by a signal 9.
"""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lastro import strictjson
from lastro.locale import _
from lastro.paths import AttemptFolder
from lastro.procs.job import Exit
from lastro.procs.memory_group import (
    MemoryGroup,
    machine_kills,
    machine_memory,
    memory_group_of,
    memory_of,
)
from lastro.run.seen import Seen
from lastro.units import show_bytes

#: The supervisor's place in the order of killing (-1000 to 1000): behind all that is as it was.
_SELF = -500
#: How shells tell that a command was ended by signal 9.
_SHELL_KILLED = 128 + signal.SIGKILL
#: The samples of the last minutes: what a job held long before its end does not explain it.
_TAIL_BYTES, _SAMPLES = 1 << 15, 20


def protect_self() -> None:
    """Ask to be killed late. Lowering the score needs a right that containers often refuse."""
    score = score_of("self")
    if score is not None and score > _SELF:
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text(str(_SELF))


def score_of(pid: int | str) -> int | None:
    """Return a process's own part of its score; None where there is none."""
    with contextlib.suppress(OSError, ValueError):
        return int(Path(f"/proc/{pid}/oom_score_adj").read_text())
    return None


@dataclass(frozen=True)
class Kills:
    """How many processes the kernel has killed for want of memory: in one group, on the machine."""

    group: int | None
    machine: int | None


def kernel_killed(before: Kills, after: Kills, *, by_group: bool) -> bool:
    """Tell whether the kernel has killed something meanwhile. Pure.

    `by_group`: the group counts all that lies below it too, so its word decides against the machine's.
    """
    grown = before.group is not None and after.group is not None and after.group > before.group
    if grown or (by_group and after.group is not None):
        return grown
    return before.machine is not None and after.machine is not None and after.machine > before.machine


@dataclass
class MemoryWitness:
    """Remembers the counters as they were, for one attempt. Made before its job starts."""

    folder: AttemptFolder
    _group: MemoryGroup | None = field(default_factory=memory_group_of)
    _before: Kills | None = None
    _job: int | None = None

    def __post_init__(self) -> None:
        self._before = self._now()

    def look(self, seen: Seen) -> None:
        """Follow a job into a group of its own, once: its first act may be to move there."""
        if self._job is None:
            self._job = seen.job
            group = memory_group_of(seen.job)
            if group != self._group and group is not None:
                self._group, self._before = group, self._now()

    def _now(self) -> Kills:
        return Kills(self._group.kills() if self._group else None, machine_kills())

    def tell(self, ended: Exit | None) -> str | None:
        """Return in words that it was the kernel, when a job was killed and memory had run out."""
        if ended is None or not (ended.lost or ended.signal == signal.SIGKILL or ended.code == _SHELL_KILLED):
            return None
        assert self._before is not None
        by_group = self._group is not None and self._group.version == 2
        if not kernel_killed(self._before, self._now(), by_group=by_group):
            return None
        total = machine_memory()
        limit = memory_of(self._group)[1] or (total[1] if total else None)
        held = _last_held(self.folder)
        if limit is None or held is None:
            return _("the kernel ran out of memory")
        return _("the kernel ran out of memory (limit {limit}; the job was last seen to hold {held})").format(
            limit=show_bytes(limit), held=show_bytes(held)
        )


def _last_held(folder: AttemptFolder) -> int | None:
    """Return the most resident memory that telemetry has seen of the job; None where it has seen nothing."""
    most: int | None = None
    with contextlib.suppress(OSError), folder.telemetry.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL_BYTES))
        for line in file.read().splitlines()[-_SAMPLES:]:
            with contextlib.suppress(ValueError, TypeError, KeyError):
                sample: dict[str, Any] = strictjson.loads(line)
                most = max(most or 0, int(sample["rss"]))
    return most
