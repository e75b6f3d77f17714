"""The supervisor and its disk: last words on a full one, waiting for room, and whether it is there at all."""

from __future__ import annotations

import os
import time
from dataclasses import field

from lastro.clock import Clock
from lastro.disk.facts import other_disk
from lastro.disk.reserve import keep_reserve, release_reserve, room_on
from lastro.errors import StorageError
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.locale import _
from lastro.paths import Disk, RunFolder
from lastro.records import dataclass
from lastro.rules import End, Leave
from lastro.run.seat import Seat
from lastro.run.seen import Seen

#: With less than this nothing useful can be written; a job that crashes then has crashed of that.
SHORT_BYTES = 64 * 1024
#: What claim, order, streams and logs of a few attempts take.
BEGINNING_BYTES = 2**20
#: Seconds between two looks for room, the first and the longest.
LOOK_SECONDS = (0.2, 5.0)
#: Seconds that an event waits for room before its supervisor gives up.
PATIENCE_SECONDS = 600.0
#: Seconds between two looks at the reserve.
RESERVE_SECONDS = 5.0
#: A disk may be away for a moment, as a network's; it is gone when it was away for so many seconds.
GONE_SECONDS = 2.0


def require_disk(disk: Disk, uuid: str | None) -> None:
    """See that the disk is the one that home has sent this supervisor to. Raises StorageError."""
    why = None if uuid is None else other_disk(disk, uuid)
    if why is not None:
        raise StorageError(why, hint=_("attach the disk of the campaign; nothing is begun without it"))


def make_way(disk: Disk) -> None:
    """Let the reserve go when there is no room to begin: an attempt that is recorded can wait for room."""
    if room_on(disk).free < BEGINNING_BYTES:
        release_reserve(disk)


def is_short(disk: Disk) -> bool:
    """Tell whether a disk takes next to nothing any more."""
    try:
        return room_on(disk).for_work < SHORT_BYTES
    except OSError:
        return False


@dataclass
class LastWords:
    """What the attempt's stream asks when its disk is full: first the reserve goes, then it waits."""

    disk: Disk
    clock: Clock

    def __call__(self, error: OSError) -> bool:
        if release_reserve(self.disk):
            return True
        began, pause = self.clock.monotonic(), LOOK_SECONDS[0]
        while self.clock.monotonic() - began < PATIENCE_SECONDS:
            self.clock.sleep(pause)
            pause = min(2 * pause, LOOK_SECONDS[1])
            if room_on(self.disk).free >= SHORT_BYTES:
                return True
        return False


def wait_for_room(folder: RunFolder, disk: Disk, seat: Seat, stream: StreamWriter, clock: Clock) -> None:
    """Wait until more fits than what was not enough; at once when somebody wants something else."""
    began, pause = clock.monotonic(), LOOK_SECONDS[0]
    free = room_on(disk).for_work
    needed = free + SHORT_BYTES
    stream.append(EventType.DISK_FULL, what=_("the next attempt"), free=free, needed=needed)
    while room_on(disk).for_work < needed:
        if folder.stop_request.exists() or not seat.is_mine():
            return
        clock.sleep(pause)
        pause = min(2 * pause, LOOK_SECONDS[1])
    keep_reserve(disk)
    seconds = round(clock.monotonic() - began, 3)
    free = room_on(disk).for_work
    stream.append(EventType.DISK_ROOM, what=_("the next attempt"), free=free, seconds=seconds)


@dataclass
class DiskWatch:
    """Sees whether the disk is still there, and keeps its reserve. Without it nothing can be saved."""

    disk: Disk
    uuid: str | None
    away_since: float | None = None
    kept: float = field(default_factory=time.monotonic)
    _path: str = field(init=False)
    _read: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        self._path = os.fspath(self.disk.facts)

    def look(self, seen: Seen) -> Leave | None:
        if self.uuid is None:
            return None
        why = self._why_not(self.uuid)
        if why is None:
            self.away_since = None
            self._keep(seen.now)
            return None
        self.away_since = seen.now if self.away_since is None else self.away_since
        if seen.now - self.away_since < GONE_SECONDS:
            return None
        return Leave(end=End.DISK_GONE, why=why, seconds=0.0)

    def _why_not(self, uuid: str) -> str | None:
        """Return why this is not the disk of that uuid; its mark is read again when it has changed."""
        try:
            found = os.stat(self._path)  # noqa: PTH116 - asked at every look
            mark = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        except OSError:
            mark = None
        if mark is not None and mark == self._read:
            return None
        why = other_disk(self.disk, uuid)
        self._read = mark if why is None else None
        return why

    def _keep(self, now: float) -> None:
        if now - self.kept >= RESERVE_SECONDS:
            self.kept = now
            keep_reserve(self.disk)
