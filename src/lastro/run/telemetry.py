"""What the machine does while a job runs: a line of `telemetry.jsonl` every few seconds.

Costs little by construction: the pace slows down with the age of the attempt, so that weeks make no heap of
lines, and with the price of a look, so that a machine with thousands of processes is looked at less often.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import field
from typing import Any

from lastro import strictjson
from lastro.journal.signals import LineWriter
from lastro.paths import AttemptFolder
from lastro.procs.identity import ProcessId, is_alive
from lastro.procs.job import adopt
from lastro.procs.memory_group import MemoryGroup, memory_group_of, memory_of
from lastro.procs.usage import TreeUse, tree_use
from lastro.records import dataclass
from lastro.run.gpus import Gpus, gpus_of_this_machine
from lastro.run.seen import Seen

#: Seconds between two samples: at the very start, soon after it, and at most.
FIRST_SECONDS, USUAL_SECONDS, SLOWEST_SECONDS = 0.5, 5.0, 60.0
#: From this age on, in units of the usual pace, an attempt is looked at less and less often.
_AGE_OVER_PACE = 720.0
#: A sample may cost this part of the time until the next: 0.2 % of one core.
_SHARE = 1 / 500
#: Every so many samples all processes of the machine are looked at, and not the new ones alone.
_FRESH_EVERY = 12


def pause(age: float, cost: float) -> float:
    """Return the seconds until the next sample. Pure.

    Args:
        age: seconds since the attempt began.
        cost: processor seconds that the last sample took.
    """
    if age < USUAL_SECONDS:
        return max(age, FIRST_SECONDS)
    return max(USUAL_SECONDS, min(age / _AGE_OVER_PACE, SLOWEST_SECONDS), cost / _SHARE)


@dataclass
class Telemetry:
    """Samples one attempt. Never a reason to leave: a disk that takes no line loses the line.

    `tree`: brought up to date with each sample: pids of the job, its parent and what descends from them.
    """

    folder: AttemptFolder
    tree: set[int] = field(default_factory=set)
    gpus: Gpus = field(default_factory=gpus_of_this_machine)
    _next: float = 0.0
    _before: tuple[float, TreeUse] | None = None
    _held: dict[str, Any] | None = None
    _lines: LineWriter | None = None
    _shim: ProcessId | None = None
    _group: MemoryGroup | None = None
    _told_level: str | None = None
    _strangers: set[int] = field(default_factory=set)
    _samples: int = 0

    def look(self, seen: Seen) -> None:
        """Take a sample when one is due; write it once the GPUs have answered, or with the next."""
        if self._held is not None and self._answered(seen.now):
            self._flush()
        if seen.now < self._next:
            return
        self._flush()
        began = time.process_time()
        self._held = self._sample(seen)
        cost = time.process_time() - began
        self.gpus.ask(seen.now)
        if not self.gpus.waiting:
            self._flush()
        self._next = seen.now + pause(seen.now - seen.started, cost)

    def _sample(self, seen: Seen) -> dict[str, Any]:
        if self._before is None:
            found = adopt(self.folder)
            self._shim = found.shim if found else None
            self._group = memory_group_of(seen.job)
        # Orphans of the job come to the shim; without it, what has come away from the job is not counted.
        shim = self._shim.pid if self._shim is not None and is_alive(self._shim) else seen.job
        self._samples += 1
        if self._samples % _FRESH_EVERY == 0:
            self._strangers.clear()
        use = tree_use((shim, seen.job), self._strangers)
        self.tree.clear()
        self.tree.update(use.pids)
        cores = None
        if self._before is not None and seen.now > self._before[0]:
            cores = max(0.0, use.cpu - self._before[1].cpu) / (seen.now - self._before[0])
        self._before = (seen.now, use)
        used, limit = memory_of(self._group)
        return {
            "t": round(seen.now - seen.started, 2),
            "cpu": round(cores, 3) if cores is not None else None,
            "processes": use.processes,
            "rss": use.resident,
            "memory": used,
            "limit": limit,
            "read": use.read,
            "written": use.written,
            "free": _free(self.folder),
        }

    def _answered(self, now: float) -> bool:
        """Take in what the GPUs have told; say whether nothing more is to come."""
        told = self.gpus.answer(now)
        if told is not None and self._held is not None:
            if "devices" in told:
                self._write({"t": self._held["t"], "devices": told["devices"]})
            self._held["gpus"] = told.get("gpus")
        return not self.gpus.waiting

    def _flush(self) -> None:
        if self._held is None:
            return
        if self.gpus.level is not None and self.gpus.level != self._told_level:
            self._told_level = self.gpus.level
            self._write({"t": self._held["t"], "gpu_level": self.gpus.level})
        self._write(self._held)
        self._held = None

    def _write(self, line: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            if self._lines is None:
                self._lines = LineWriter(self.folder.telemetry)
            self._lines.write(strictjson.dumps(line).encode() + b"\n")


def _free(folder: AttemptFolder) -> int | None:
    """Return the bytes that an ordinary user may still write on the disk."""
    with contextlib.suppress(OSError):
        facts = os.statvfs(folder.root)
        return facts.f_bavail * facts.f_frsize
    return None
