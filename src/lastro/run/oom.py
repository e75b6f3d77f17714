"""Memory that ran out: the supervisor goes last, the job first, and a kill by the kernel is told as one.

The kernel counts whom it killed, in a control group and on the machine. That something was killed does not
say that it was this job: its log has to name a process of the job, or the group has to be the job's own.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Set
from dataclasses import field
from enum import Enum
from pathlib import Path
from typing import Any

from lastro import strictjson
from lastro.locale import _
from lastro.paths import AttemptFolder
from lastro.procs.job import Exit
from lastro.procs.kernel_log import KernelLog
from lastro.procs.memory_group import (
    MemoryGroup,
    machine_kills,
    machine_memory,
    memory_group_of,
    memory_of,
)
from lastro.records import dataclass
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


class Victim(str, Enum):
    """Whom the kernel has killed for want of memory, as far as it can be shown."""

    NOBODY = "nobody"
    JOB = "job"
    SOMEBODY = "somebody"  # this job or another


def victim_of(
    *, counted: bool, by_own_group: bool, logged: frozenset[int] | None, job: frozenset[int], by_signal: bool
) -> Victim:
    """Return whom the kernel has killed while a job lived. Pure.

    Args:
        counted: the counter that decides has grown.
        by_own_group: it is that of a group without the supervisor, so the job's own.
        logged: pids that the kernel's log names; None where it cannot be read.
        job: pids of the job.
        by_signal: it ended as one does that is killed.
    """
    if logged is not None and logged & job:
        return Victim.JOB
    if not counted or not by_signal:
        return Victim.NOBODY
    return Victim.JOB if by_own_group else Victim.SOMEBODY


def kernel_killed(before: Kills, after: Kills, *, by_group: bool) -> bool:
    """Tell whether the kernel has killed something meanwhile. Pure.

    `by_group`: the group counts all that lies below it too, so its word decides against the machine's.
    """
    if _grown(before.group, after.group) or (by_group and after.group is not None):
        return _grown(before.group, after.group)
    return _grown(before.machine, after.machine)


def _grown(before: int | None, after: int | None) -> bool:
    return before is not None and after is not None and after > before


@dataclass
class MemoryWitness:
    """Remembers the counters as they were, for one attempt. Made before its job starts.

    `tree`: pids of the job and what descends from it, kept up to date by somebody else.
    """

    folder: AttemptFolder
    tree: Set[int] = frozenset()
    _own_group: bool = False
    _log: KernelLog = field(default_factory=KernelLog)
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
                self._group, self._before, self._own_group = group, self._now(), True

    def _now(self) -> Kills:
        return Kills(self._group.kills() if self._group else None, machine_kills())

    def tell(self, ended: Exit | None) -> str | None:
        """Return in words what the kernel had to do with the end of a job; None when nothing."""
        if ended is None:
            return None
        victim = self._victim(ended)
        if victim is Victim.NOBODY:
            return None
        total = machine_memory()
        limit = memory_of(self._group)[1] or (total[1] if total else None)
        held = _last_held(self.folder)
        if victim is Victim.JOB:
            text = _("the kernel ran out of memory (limit {limit}; the job was last seen to hold {held})")
        else:
            text = _(
                "the kernel killed something for want of memory meanwhile, and nothing shows that it was "
                "this job (limit {limit}; the job was last seen to hold {held})"
            )
        return text.format(limit=_shown(limit), held=_shown(held))

    def _victim(self, ended: Exit) -> Victim:
        assert self._before is not None
        by_group = self._group is not None and self._group.version == 2
        before, after, logged = self._before, self._now(), self._log.killed()
        self._log.close()
        return victim_of(
            counted=kernel_killed(before, after, by_group=by_group),
            by_own_group=self._own_group and _grown(before.group, after.group),
            logged=logged,
            job=frozenset({*self.tree, *((self._job,) if self._job is not None else ())}),
            by_signal=ended.lost or ended.signal == signal.SIGKILL or ended.code == _SHELL_KILLED,
        )


def _shown(count: int | None) -> str:
    return _("unknown") if count is None else show_bytes(count)


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
