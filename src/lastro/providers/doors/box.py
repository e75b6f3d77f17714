"""Doors of machines that are this box (`here`), or a part of it (`local`)."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence

from lastro.errors import ProviderError
from lastro.locale import _
from lastro.paths import Disk, MachineFolder
from lastro.procs.killtree import Rung, members
from lastro.providers import environment, jail, scratch
from lastro.providers.doors.door import Forward, NearDisk, Way, not_needed
from lastro.providers.records import read_record

#: Into a jail as its own processes are: in its namespaces, and with none of root's rights.
_INTO = ("nsenter", "--mount", "--pid", "--ipc", "--uts", "--net", "--root", "--wd", "--target")
_NO_RIGHTS = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "--")


class HereDoor(NearDisk):
    """This box as it is: a plain shell with the machine's marks."""

    def __init__(self, folder: MachineFolder, disk: Disk) -> None:
        super().__init__(disk)
        self._folder = folder

    def way(self, words: Sequence[str], forwards: Sequence[Forward], *, terminal: bool) -> Way:
        record = read_record(self._folder)
        return Way(
            argv=(sys.executable, *words),
            environment=environment.on_machine(os.environ, record.id, record.node),
            cwd=self._folder.root,
            told=tuple(not_needed(one) for one in forwards),
        )


class LocalDoor(NearDisk):
    """A machine of the local provider: its own home and temporary folder, and its jail where it has one."""

    def __init__(self, folder: MachineFolder, disk: Disk) -> None:
        super().__init__(disk)
        self._folder = folder

    def way(self, words: Sequence[str], forwards: Sequence[Forward], *, terminal: bool) -> Way:
        record, folder = read_record(self._folder), self._folder
        own = environment.in_scratch(os.environ, folder.user_home, scratch.prepare(folder))
        given: Mapping[str, str] = {
            **environment.on_machine(own, record.id, record.node),
            environment.NOTICE: str(folder.notice),
            environment.RELEASE: str(folder.release),
        }
        argv = (sys.executable, *words)
        if record.level != jail.JAILED:
            told = tuple(not_needed(one) for one in forwards)
            return Way(argv=argv, environment=given, cwd=folder.scratch, told=told)
        if forwards:
            raise ProviderError(
                _("machine {id} is jailed, with a network of its own: no port of it is reached").format(
                    id=record.id
                ),
                hint=_("a machine of the level plain needs no forwarding"),
            )
        return Way(
            argv=(*_into(folder), *argv), environment=jail.environment(given), cwd=folder.scratch.absolute()
        )


def _into(folder: MachineFolder) -> tuple[str, ...]:
    """Return the command that enters a machine's jail. Raises ProviderError where that cannot be done."""
    if shutil.which("nsenter") is None or shutil.which("setpriv") is None or os.geteuid() != 0:
        raise ProviderError(
            _("machine {id} is jailed, and only root can enter a jail").format(id=folder.root.name),
            hint=_("look at its files from here: they lie in {folder}").format(folder=folder.scratch),
        )
    inside = members(environment.marker(folder.root.name), rungs=(Rung.ENVIRONMENT,)).all
    apart = [one.pid for one in inside if _namespace(one.pid) not in (None, _namespace(os.getpid()))]
    if not apart:
        raise ProviderError(
            _("the jail of machine {id} is not there any more").format(id=folder.root.name),
            hint=_("`lastro status` tells what became of it"),
        )
    return (*_INTO, str(min(apart)), "--", *_NO_RIGHTS)


def _namespace(pid: int) -> str | None:
    """Return the name of a process's namespace of processes; None when it has gone."""
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")  # noqa: PTH115 - a name, not a path
    except OSError:
        return None
