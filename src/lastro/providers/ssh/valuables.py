"""The guard on a machine that is reached by ssh: what of value lies beside its disk is copied to the disk.

Lastro wipes nothing there. Whoever deletes the machine at its provider would lose what lies elsewhere on it,
and lastro is not asked then, so it is copied when the campaign is done with the machine.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lastro.clock import SystemClock
from lastro.disk.guard.find import Found, Scope, find, spelled
from lastro.disk.guard.rescue import Rescued, rescue
from lastro.paths import Disk

#: How many files are named.
_NAMED = 20


def rescue_here(machine: str, work: Path, own: Path, disk: Disk, seconds: float) -> Mapping[str, Any]:
    """Copy what of value was made here lately to the disk, and say so.

    Args:
        machine: whose storage it is.
        work: the folder in which its jobs worked.
        own: lastro's own folder here, which holds nothing of the user's but `work`.
        disk: the campaign's.
        seconds: what is older was here before, and is nobody's work.
    """
    scope = scope_here(machine, (Path.home(), work), own, disk, seconds)
    if scope is None:
        return _told(None, [], disk.rescued(machine))
    found = find(scope)
    return _told(found, rescue(found.items, disk, machine, SystemClock()), disk.rescued(machine))


def scope_here(machine: str, folders: Iterable[Path], own: Path, disk: Disk, seconds: float) -> Scope | None:
    """Return what is looked at: these folders, as far as they lie on another file system than the disk.

    None where all lie on the disk's: they live as long as it does.
    """
    there = os.stat(disk.root).st_dev  # noqa: PTH116 - beside the others
    roots = sorted({os.path.realpath(path) for path in folders if path.is_dir()})
    apart = [root for root in roots if os.stat(root).st_dev != there]  # noqa: PTH116
    if not apart:
        return None
    return Scope(
        machine=machine,
        roots=tuple(apart),
        since_ns=time.time_ns() - int(seconds * 1e9),
        disk=disk,
        leave_out=frozenset({os.path.realpath(disk.root), os.path.realpath(own)}),
    )


def _told(found: Found | None, done: list[Rescued], folder: Path) -> Mapping[str, Any]:
    safe = [one for one in done if one.safe]
    return {
        "looked": found is not None,
        "files": len(safe),
        "bytes": sum(one.item.size for one in safe),
        "folder": str(folder),
        "what": [spelled(one.item.path) for one in safe[:_NAMED]],
        "left": [{"path": spelled(one.item.path), "problem": one.problem} for one in done if not one.safe],
    }
