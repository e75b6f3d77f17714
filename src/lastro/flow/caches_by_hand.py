"""Caches at a person's request: for the programs that a shell starts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lastro.clock import Clock
from lastro.disk.caches.carried import Carried, carry_in, carry_out, kernel_key
from lastro.disk.caches.point import carried_folder, point
from lastro.disk.caches.settings import Settings
from lastro.disk.facts import read_disk
from lastro.errors import StorageError, UsageError
from lastro.flow.session import known_sessions
from lastro.locale import _
from lastro.paths import Disk, Home


def point_caches(
    disk: Path | None, home: Home, clock: Clock, environment: Mapping[str, str]
) -> tuple[Settings, Carried]:
    """Return the variables for a shell, and bring compiled kernels to this machine.

    Raises:
        UsageError, StorageError: there is no disk, or it cannot be read.
    """
    found, key = disk_or_last(disk, home, clock), kernel_key()
    carried = carry_in(found, key, carried_folder(_user_home(environment), key))
    return point(found, environment, key), carried


def save_kernels(disk: Path | None, home: Home, clock: Clock, environment: Mapping[str, str]) -> Carried:
    """Write what this machine has compiled to the disk. Raises as `point_caches`."""
    found, key = disk_or_last(disk, home, clock), kernel_key()
    return carry_out(found, key, carried_folder(_user_home(environment), key))


def disk_or_last(disk: Path | None, home: Home, clock: Clock) -> Disk:
    """Return the disk that is named, else that of the campaign that was used last.

    Raises:
        UsageError: none is named, and none was used.
        StorageError: no disk is there.
    """
    if disk is None:
        sessions = known_sessions(home, clock)
        if not sessions:
            raise UsageError(_("no disk was named, and none was used here"), hint=_("name it with --disk"))
        disk = sessions[-1].disk.root
    found = Disk(disk.absolute())
    try:
        read_disk(found)
    except OSError as error:
        raise StorageError(
            _("{path} has no mark of a disk: it is not attached, or new").format(path=disk),
            hint=_("attach it; a new one is marked by `lastro disk prove {path}`").format(path=disk),
        ) from error
    return found


def _user_home(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("HOME") or Path.home())
