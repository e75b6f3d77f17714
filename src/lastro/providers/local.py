"""Machines on this box for rehearsals, examples and tests: real processes, own scratch, real losses."""

from __future__ import annotations

import os
import platform
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from lastro import atomic, strictjson
from lastro.clock import Clock, elapsed, from_iso, wait_until
from lastro.errors import LastroError, ProviderError
from lastro.locale import _
from lastro.paths import Home, MachineFolder
from lastro.procs.detach import start_detached
from lastro.procs.identity import ProcessId, entry_of, is_alive, send
from lastro.providers import faults, jail
from lastro.providers.base import Machine, MachineRequest, MachineState, Made, Trace, Traits
from lastro.providers.ending import bury, end_machine
from lastro.providers.local_disks import require_attachable
from lastro.providers.machine_ids import checked, digest_of, digest_of_another, not_running, unknown_machine
from lastro.providers.records import End, Record, make_record, read_end, read_or_none, read_record, write_end
from lastro.providers.spool import ask
from lastro.providers.traces import hosted_folder, traces_on_this_box
from lastro.providers.who import LOCAL_MACHINE

_LOOK_EVERY = 0.01
#: How long a machine's process may take to start, to answer, and to end everything, on a loaded box.
_SECONDS_TO_ANSWER = 60.0
#: How long a process that is being started may not be in the table yet under its own command line.
_SECONDS_TO_BE_SEEN = 2.0


class Local:
    """A machine is a detached process (`local_machine`) with a scratch of its own; the disk is a folder."""

    name = "local"
    traits = Traits(creates=True, own_workdir=True, takes_faults=True, ends_itself=True, takes_offers=True)
    places: tuple[str, ...] = ()

    def __init__(self, home: Home, clock: Clock) -> None:
        self._home, self._clock = home, clock

    def create(self, request: MachineRequest) -> Machine:
        digest = digest_of(self._home, request.tag)
        machine_id, node = _id(digest), _node(digest)
        folder = self._home.local_machine(machine_id)
        born = self._clock.stamp()
        if not folder.record.exists():
            require_attachable(self._home, self._clock, request.disk)
        finding = None
        if request.faults and not folder.record.exists():
            fault = faults.befalls(self._home, request, self._made_for(request), self._clock)
            if fault is not None:
                finding = fault.finding
                request = replace(request, boot_seconds=faults.NEVER) if fault.never_up else request
        level, why = jail.level_for(os.environ)
        record = Record(
            id=machine_id,
            node=node,
            born=born,
            request=request,
            level=level,
            level_why=why,
            finding=finding,
        )
        make_record(folder, record)
        # The record is durable, so a crash from here on is repaired by calling again with the same tag.
        if not folder.host.exists():
            self._boot(folder)
        return self.describe(machine_id)

    def _made_for(self, request: MachineRequest) -> list[MachineRequest]:
        """Return what was asked for each machine that this campaign on this disk has had, gone ones too."""
        root = self._home.local_machines
        records = [MachineFolder(path) for path in root.iterdir()] if root.is_dir() else []
        asked = [read_record(folder).request for folder in records if folder.record.exists()]
        return [one for one in asked if (one.disk, one.campaign) == (request.disk, request.campaign)]

    def _boot(self, folder: MachineFolder) -> None:
        """Start a process to be this machine. Of several, the one that claims `host.json` is it."""
        atomic.make_folder(folder.requests)
        argv = [sys.executable, "-m", "lastro.providers.local_machine", str(folder.root)]
        process = start_detached(argv, cwd=folder.root, env=os.environ, log=folder.log)
        if not self._until(lambda: folder.host.exists() or not is_alive(process)) or not folder.host.exists():
            raise ProviderError(
                _("the process of machine {id} did not start; see {log}").format(
                    id=folder.root.name, log=folder.log
                ),
                hint=_("mend this and run the same command again: the machine will be found by its tag"),
            )

    def describe(self, machine_id: str) -> Machine:
        folder = self._folder(machine_id)
        record = read_record(folder)
        state = read_or_none(folder.state) or {}
        told, cause = MachineState(state.get("state", MachineState.BOOTING)), state.get("cause")
        end = read_end(folder)
        host = _host(folder)
        if end is None and host is not None and not is_alive(host):
            try:
                end = bury(folder, self._clock)
            except LastroError as error:
                told, cause = MachineState.UNKNOWN, error.message
        return Machine(
            id=record.id,
            node=record.node,
            tag=record.request.tag,
            state=MachineState.GONE if end else told,
            workdir=folder.work.absolute(),
            created_at=record.born.at,
            born=record.born,
            used_seconds=elapsed(record.born, end.at if end else self._clock.stamp()),
            ready_at=from_iso(state["ready_at"]) if state.get("ready_at") else None,
            gone_at=end.at.at if end else None,
            cause=end.cause if end else cause,
            level=record.level,
            level_why=record.level_why,
            finding=record.finding,
        )

    def machines(self) -> list[Machine]:
        root = self._home.local_machines
        found = [MachineFolder(path) for path in root.iterdir()] if root.is_dir() else []
        described = [self.describe(folder.root.name) for folder in found if folder.record.exists()]
        return sorted(described, key=lambda machine: machine.created_at)

    def start(self, machine_id: str, argv: Sequence[str]) -> None:
        machine = self.describe(machine_id)
        if machine.state is not MachineState.RUNNING:
            raise not_running(machine)
        folder = self._folder(machine_id)
        ask(folder, argv, lambda answered: self._until(lambda: answered() or not _lives(folder)))

    def delete(self, machine_id: str) -> None:
        folder = self._folder(machine_id)
        read_record(folder)
        if read_end(folder) is not None:
            return
        _forbid_boot(folder)
        host = _host(folder)
        if host is None:
            write_end(folder, End(at=self._clock.stamp(), cause="deleted"))
            return
        atomic.claim(folder.deletion, strictjson.dumps({"cause": "deleted"}).encode())
        self._until(lambda: read_end(folder) is not None or not _lives(folder) or _is_frozen(host))
        if read_end(folder) is None:
            # It hangs or has died: end it from outside, and then what it was the host of.
            send(host, signal.SIGKILL)
            self._until(lambda: not is_alive(host))
            bury(folder, self._clock)

    def adopt(self, made: Made) -> Machine:
        digest, now = digest_of_another(made), self._clock.stamp()
        machine_id, born = made.id or _id(digest), made.born or now
        if made.host != platform.node() or (born.boot and born.boot != now.boot):
            why = _("it is a process of another computer, or of an earlier boot of this one")
            return unknown_machine(machine_id, why, now.at, made.request.tag)
        folder = self._home.local_machine(machine_id)
        if not folder.root.exists():
            atomic.make_folder(folder.root.parent)
            if (theirs := self._seen(machine_id)) is not None:
                folder.root.symlink_to(theirs.root.absolute())  # records and requests stay where they are
            else:
                node = made.node or _node(digest)
                make_record(folder, Record(id=machine_id, node=node, born=born, request=made.request))
                _forbid_boot(folder)
                end_machine(folder, "its process was gone when another home took over", self._clock)
        return self.describe(machine_id)

    def _seen(self, machine_id: str) -> MachineFolder | None:
        """Return where another home has a machine whose process lives; None when two looks do not find it."""
        if (found := hosted_folder(machine_id)) is None:
            self._clock.sleep(_SECONDS_TO_BE_SEEN)
            found = hosted_folder(machine_id)
        return found

    def traces(self) -> list[Trace]:
        return traces_on_this_box(LOCAL_MACHINE)

    def fired(self, campaign_disk: Path, campaign: str) -> frozenset[str]:
        return faults.fired(self._home, campaign_disk, campaign)

    def _until(self, condition: Callable[[], bool]) -> bool:
        return wait_until(self._clock, condition, _SECONDS_TO_ANSWER, _LOOK_EVERY)

    def _folder(self, machine_id: str) -> MachineFolder:
        return checked(self._home.local_machine(machine_id), machine_id, LOCAL_MACHINE)


def _id(digest: str) -> str:
    return f"{LOCAL_MACHINE}{digest[:10]}"


def _node(digest: str) -> str:
    return f"node-{digest[10:22]}"


def _forbid_boot(folder: MachineFolder) -> None:
    """Take the place of the process that is this machine, if none has it yet: from then on none will."""
    atomic.claim(folder.host, strictjson.dumps({"process": None}).encode())


def _host(folder: MachineFolder) -> ProcessId | None:
    value = read_or_none(folder.host)
    return ProcessId.from_json(value["process"]) if value and value["process"] else None


def _is_frozen(host: ProcessId) -> bool:
    """Tell whether a machine's process is stopped: it will not do what it is asked to."""
    entry = entry_of(host.pid)
    return entry is not None and entry.state in "Tt"


def _lives(folder: MachineFolder) -> bool:
    host = _host(folder)
    return host is not None and is_alive(host)
