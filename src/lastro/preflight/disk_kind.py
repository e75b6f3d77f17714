"""Is the disk a disk, or the machine's own storage that goes with it?"""

from __future__ import annotations

import os
from collections.abc import Iterator

from lastro.disk.mounts import Mount, mount_of, promised_points, read_mounts
from lastro.locale import _
from lastro.preflight.check import Finding, Level, Subject
from lastro.preflight.disk_space import existing


def check(subject: Subject) -> Iterator[Finding]:
    """Look at what the path of the disk lies on; nothing where it is as it should be told."""
    place = os.path.realpath(existing(subject.disk))
    mounts = read_mounts()
    mounted = {each.point for each in mounts}
    inside = [point for point in promised_points() if point != "/" and _holds(point, str(subject.disk))]
    finding = judge(
        mount_of(place, mounts),
        next((point for point in inside if point not in mounted), None),
        rented=subject.offered is not None,
    )
    if finding is not None:
        yield finding


def _holds(point: str, path: str) -> bool:
    return path == point or path.startswith(point.rstrip("/") + "/")


def judge(mount: Mount | None, promised: str | None, *, rented: bool) -> Finding | None:
    """Return the finding for a disk on storage that goes with the machine; None when nothing says so.

    Args:
        mount: that the path lies on; None: not told.
        promised: a mount point around it that /etc/fstab promises and that is not mounted.
        rented: whether this machine will be given back.
    """
    if promised is not None:
        value = _("{point} is not mounted: what is written goes to the machine's own storage")
        value, level = value.format(point=promised), Level.FAIL
    elif mount is not None and mount.is_temporary:
        value = _("it lies on {type}, which goes with the machine").format(type=mount.fs_type)
        level = Level.FAIL if rented else Level.WARN
    else:
        return None
    return Finding(
        code="disk_is_scratch",
        level=level,
        fact=_("the disk"),
        value=value,
        expected=_("storage that outlives the machine"),
        consequence=_("every checkpoint and output is lost with the machine"),
        next_step=_("mount the disk there, or name its folder; `lastro disk prove` says what is there"),
    )
