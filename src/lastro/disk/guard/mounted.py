"""Which file systems of this machine are looked at: each that is not known to outlive it, once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from lastro.disk.facts import read_disk
from lastro.disk.guard.find import Scope
from lastro.disk.mounts import Mount, device_of, read_mounts, visible
from lastro.errors import StorageError
from lastro.locale import _
from lastro.paths import Disk


def this_machine(
    machine: str, since_ns: int, disk: Disk | None, mounts: Sequence[Mount] | None = None
) -> Scope:
    """Return the scope of this machine: all that is mounted and may go with it.

    Args:
        machine: what it is called.
        since_ns: files that were there before are nobody's work.
        disk: where equal copies may lie; it is not looked at itself.
        mounts: of the machine; None: asked.
    """
    reachable = visible(read_mounts() if mounts is None else mounts)
    roots: dict[str, Mount] = {}
    skipped: list[tuple[str, str]] = []
    kept = {os.path.realpath(disk.root)} if disk is not None else set()
    for mount in sorted(reachable, key=lambda each: (each.root != "/", len(each.point))):
        # A file can be a mount too; below /sys there are windows of the kernel on a tmpfs.
        if mount.is_kernel or mount.point.startswith("/sys/") or not os.path.isdir(mount.point):  # noqa: PTH112
            continue
        why = _why_not(mount)
        if why is not None:
            skipped.append((mount.point, why))
        elif mount.point in kept or _is_disk(mount):
            skipped.append((mount.point, _("a disk of lastro")))
        elif not _is_shown_by(mount, roots.values()):
            roots[mount.point] = mount
    return Scope(
        machine=machine,
        roots=tuple(roots),
        since_ns=since_ns,
        disk=disk,
        leave_out=frozenset({mount.point for mount in reachable} | kept),
        system_root="/",
        not_looked_at=tuple(skipped),
    )


def _why_not(mount: Mount) -> str | None:
    if mount.read_only:
        return _("read-only: nothing was written there")
    if mount.is_remote:
        return _("{type} from {source}: not on this machine").format(type=mount.fs_type, source=mount.source)
    return None


def _is_disk(mount: Mount) -> bool:
    """Tell whether a mount is a marked disk; a folder of the machine's root that is marked is none."""
    try:
        marked = bool(read_disk(Disk(Path(mount.point))).uuid)
        return marked and device_of(os.stat(mount.point)) != device_of(os.stat("/"))  # noqa: PTH116
    except (OSError, StorageError):
        return False


def _is_shown_by(mount: Mount, others: Iterable[Mount]) -> bool:
    """Tell whether another mount shows the same files: a folder bound elsewhere is looked at in its place."""
    same = tuple(other.root.rstrip("/") + "/" for other in others if other.device == mount.device)
    return f"{mount.root}/".startswith(same)


def machine_began_ns() -> int:
    """Return when the first process of this machine (or container) began; 0 when that is not told."""
    try:
        fields = Path("/proc/1/stat").read_text().rpartition(")")[2].split()
        booted = next(
            int(line.split()[1])
            for line in Path("/proc/stat").read_text().splitlines()
            if line.startswith("btime")
        )
    except (OSError, StopIteration, ValueError, IndexError):
        return 0
    # Field 22 of proc_pid_stat(5), the 20th after the name: ticks since boot.
    return int((booted + int(fields[19]) / os.sysconf("SC_CLK_TCK")) * 1e9)
