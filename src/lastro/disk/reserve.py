"""Room on the disk that is held for last words: a full disk can still record why everything stands still.

Home makes the reserve when it takes the disk into use, the supervisor makes it again when there is room.
Whoever finds the disk full lets it go before it says so. Standard library only.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from lastro import atomic
from lastro.paths import Disk
from lastro.records import dataclass

#: Some 8,000 events, or a hundred records of attempts.
RESERVE_BYTES = 4 * 2**20
#: A small disk holds no more than this part of itself back.
_SMALLEST_PART = 32
_BLOCK = 512  # what st_blocks counts, whatever the file system's own blocks are


@dataclass(frozen=True)
class Room:
    """How much fits on a disk. `free`: bytes that can be written now; `held`: of the reserve, still held.

    `wanted`: what the reserve should hold.
    """

    free: int
    held: int
    wanted: int

    @property
    def for_work(self) -> int:
        """Bytes beside a whole reserve: what is free because the reserve was let go is not for work."""
        return max(0, self.free - max(0, self.wanted - self.held))


def room_on(disk: Disk) -> Room:
    """Return how much fits on a disk. Raises OSError when it cannot be asked, as when it is gone."""
    found = os.statvfs(disk.root)
    total = found.f_frsize * found.f_blocks
    return Room(
        free=found.f_frsize * found.f_bavail,
        held=_held(disk.reserve),
        wanted=min(RESERVE_BYTES, total // _SMALLEST_PART),
    )


def _held(path: Path) -> int:
    try:
        return path.stat().st_blocks * _BLOCK
    except FileNotFoundError:
        return 0


def keep_reserve(disk: Disk) -> bool:
    """Make the reserve when it is missing and leaves as much room again; tell whether it is held now.

    Its blocks are really allocated. Where a file system cannot promise blocks (ZFS, some network disks),
    the file is written full of bytes that do not compress.
    """
    room = room_on(disk)
    if room.held >= room.wanted:
        return True
    if room.free < 2 * room.wanted:
        return False
    aside = disk.reserve.with_name(f"{atomic.TEMPORARY}{disk.reserve.name}-{secrets.token_hex(6)}")
    try:
        with aside.open("xb") as file:
            try:
                os.posix_fallocate(file.fileno(), 0, room.wanted)
            except OSError as error:
                if atomic.is_full(error):
                    raise
                file.write(os.urandom(room.wanted))
                file.flush()
            os.fsync(file.fileno())
        aside.replace(disk.reserve)
    except OSError:  # somebody was faster, or the disk refuses: without a reserve everything else works
        aside.unlink(missing_ok=True)
        return False
    return True


def release_reserve(disk: Disk) -> bool:
    """Let the reserve go; tell whether there was one."""
    with contextlib.suppress(OSError):
        disk.reserve.unlink()
        return True
    return False
