"""Room on the disk that is held for what is sure to come, by blocks that are really allocated.

Only what leaves enough for everything else is held: a hold must not fill the disk that it is to keep from
being full. Whoever needs the room lets it go; a hold is nothing but room. Standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
from pathlib import Path

from lastro.disk.reserve import Room, room_on
from lastro.locale import _
from lastro.paths import Disk
from lastro.records import dataclass
from lastro.units import show_bytes

#: What has to stay free beside a hold: so much, or this part of a smaller disk.
BESIDE_BYTES = 1 << 30
_BESIDE_PART = 10
_BLOCK = 512  # what st_blocks counts, whatever the file system's own blocks are
#: A file system that has compressed, or only promised, a hold has allocated less than this part of it.
_REALLY_THERE = 0.95


@dataclass(frozen=True, kw_only=True)
class Held:
    """What is held: `bytes`, and why that is not all that was wanted; None: it is."""

    bytes: int
    why_not: str | None = None


def hold(disk: Disk, path: Path, wanted: int) -> Held:
    """Hold so many bytes by the file at `path`: more or fewer than before. Raises no OSError.

    Args:
        disk: what the file lies on.
        path: of the hold; who holds the same is the same hold, in whatever process.
        wanted: bytes in all; what cannot be had is not held in part.
    """
    if wanted <= 0:
        release_hold(path)
        return Held(bytes=0)
    try:
        return _hold(disk, path, wanted)
    except OSError as error:
        release_hold(path)
        return Held(bytes=0, why_not=_without(error))


def _hold(disk: Disk, path: Path, wanted: int) -> Held:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        before = os.fstat(descriptor).st_size
        if wanted <= before:
            os.ftruncate(descriptor, wanted)
            return Held(bytes=wanted)
        why_not = judge(room_on(disk), _total(disk), wanted - before)
        if why_not is not None:
            return _as_before(path, before, why_not)
        _allocate(descriptor, before, wanted - before)
        if os.fstat(descriptor).st_blocks * _BLOCK < wanted * _REALLY_THERE:
            release_hold(path)
            return Held(bytes=0, why_not=_("this file system promises room and allocates none"))
        return Held(bytes=wanted)
    finally:
        os.close(descriptor)


def judge(room: Room, total: int, more: int) -> str | None:
    """Return why so many bytes more are not held; None when they are. Pure.

    Args:
        room: on the disk.
        total: bytes of the whole disk.
        more: bytes.
    """
    beside = min(BESIDE_BYTES, total // _BESIDE_PART)
    if room.for_work >= more + beside:
        return None
    return _("{more} more are needed, {free} are free, and {beside} have to stay free beside them").format(
        more=show_bytes(more), free=show_bytes(room.for_work), beside=show_bytes(beside)
    )


def _as_before(path: Path, before: int, why_not: str) -> Held:
    if before == 0:
        release_hold(path)
    return Held(bytes=before, why_not=why_not)


def _total(disk: Disk) -> int:
    found = os.statvfs(disk.root)
    return found.f_frsize * found.f_blocks


def _allocate(descriptor: int, start: int, count: int) -> None:
    """Allocate blocks, by the system call itself: a library may write to each block where there is none."""
    allocate = getattr(ctypes.CDLL(None, use_errno=True), "fallocate", None)
    if allocate is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if allocate(descriptor, 0, ctypes.c_int64(start), ctypes.c_int64(count)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _without(error: OSError) -> str:
    if error.errno in (errno.EOPNOTSUPP, errno.ENOSYS):
        return _("this file system cannot hold room (it has no fallocate)")
    return _("the disk refuses it: {error}").format(error=error.strerror)


def held(path: Path) -> int:
    """Return the bytes that are held; 0 when none are."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def release_hold(path: Path) -> bool:
    """Let a hold go; tell whether there was one that held something."""
    there = held(path) > 0
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
    return there
