"""The caches of a job: pointed to the disk before it starts, read back from it; its kernels are kept."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from lastro.disk.caches.carried import Carried, carry_in, carry_out, kernel_key
from lastro.disk.caches.point import carried_folder, lives_longer, point
from lastro.disk.caches.settings import Settings, differences
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.paths import AttemptFolder, Disk
from lastro.procs.killtree import Rung, members
from lastro.providers.own_storage import scope_within
from lastro.records import dataclass
from lastro.run.seen import Seen

#: Seconds after the start at which the environment of what runs is read: programs start others.
LOOKS = (3.0, 60.0)


def point_caches(disk: Disk, given: Mapping[str, str], stream: StreamWriter) -> dict[str, str]:
    """Return the variables that point a job's caches to the disk, and record them.

    Empty where the disk lives no longer than home does: then nothing is won, and models are where they were.
    """
    home = Path(given.get("HOME") or Path.home())
    if not _worth_it(disk, home):
        return {}
    key = kernel_key()
    carried = carry_in(disk, key, carried_folder(home, key))
    settings: Settings = point(disk, given, key)
    stream.append(
        EventType.CACHES_POINTED,
        variables=dict(settings.variables),
        findings=[finding.as_json() for finding in settings.findings],
        compiled=vars(carried),
    )
    return dict(settings.variables)


def keep_kernels(disk: Disk, stream: StreamWriter) -> None:
    """Write what a job has compiled to the disk; told when that was something new."""
    home = Path.home()
    if not _worth_it(disk, home):
        return
    key = kernel_key()
    folder = carried_folder(home, key)
    if not folder.is_dir():
        return
    try:
        kept: Carried = carry_out(disk, key, folder)
    except OSError as error:  # a full disk: kernels can be compiled again
        kept = Carried(key=key, why=str(error.strerror or error))
    stream.append(EventType.CACHES_KEPT, **vars(kept))


def _worth_it(disk: Disk, home: Path) -> bool:
    scope = scope_within(os.environ, None)
    own = Path(scope.roots[0]) if scope is not None else None
    return lives_longer(disk, home, own=own)


@dataclass
class EnvironmentWatch:
    """Reads what a job and its processes really have in their environment; never a reason to leave."""

    folder: AttemptFolder
    stream: StreamWriter
    told: Mapping[str, str]
    began: float
    _left: list[float] = field(default_factory=lambda: list(LOOKS))
    _known: set[tuple[str, str | None]] = field(default_factory=set)

    def look(self, seen: Seen) -> None:
        if not self.told or not self._left or seen.now - self.began < self._left[0]:
            return
        self._left.pop(0)
        found = []
        marker = ("LASTRO_ATTEMPT", str(self.folder.root))
        for process in members(marker, rungs=(Rung.ENVIRONMENT,)).all:
            for name, value in differences(self.told, environment_of(process.pid, self.told)).items():
                if (name, value) not in self._known:
                    self._known.add((name, value))
                    found.append({"variable": name, "told": self.told[name], "found": value})
        if found:
            self.stream.append(EventType.ENVIRONMENT_DIFFERS, differences=found)


def environment_of(pid: int, otherwise: Mapping[str, str]) -> Mapping[str, str]:
    """Return the environment that a process was started with; `otherwise` when it cannot be read any more."""
    try:
        data = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return otherwise
    pairs = (entry.partition(b"=") for entry in data.split(b"\0") if entry)
    return {os.fsdecode(name): os.fsdecode(value) for name, _equal, value in pairs} or otherwise
