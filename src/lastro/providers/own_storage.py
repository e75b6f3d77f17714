"""A machine's own storage: what is gone when it is deleted, and what lastro itself keeps there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from lastro.disk.guard.find import Scope
from lastro.paths import Disk, Home, MachineFolder
from lastro.providers.environment import MACHINE, RELEASE
from lastro.providers.who import LOCAL_MACHINE, WITH_SCRATCH


def scope_of(machine: str, home: Home, disk: Disk | None) -> Scope | None:
    """Return what is wiped when home deletes a machine, as far as home can look at it.

    None where nothing is wiped (`here`), it is gone, or it lies on another computer, which looks by itself.

    Args:
        machine: its id.
        home: whose machine it is.
        disk: where equal copies may lie.
    """
    if not machine.startswith(LOCAL_MACHINE):
        return None
    return _scope(machine, home.local_machine(machine), disk)


def scope_within(environment: Mapping[str, str], disk: Disk | None) -> Scope | None:
    """Return the storage of the machine that this process runs on, where it is told by the environment."""
    machine, release = environment.get(MACHINE, ""), environment.get(RELEASE)
    if not release or not machine.startswith(WITH_SCRATCH):
        return None
    return _scope(machine, MachineFolder(Path(release).parent.parent), disk)


def _scope(machine: str, folder: MachineFolder, disk: Disk | None) -> Scope | None:
    if not folder.scratch.is_dir():
        return None
    root = os.path.realpath(folder.scratch)
    ours = (folder.notice, folder.release, folder.jail_ready, folder.scratch / "jail.log")
    kept = frozenset({os.path.realpath(disk.root)}) if disk is not None else frozenset()
    return Scope(
        machine=machine,
        roots=(root,),
        disk=disk,
        leave_out=kept,
        ours=frozenset(f"{root}/{path.name}" for path in ours),
    )
