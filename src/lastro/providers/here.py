"""This box is the rented machine: nothing is created, nothing is wiped."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Sequence
from pathlib import Path

from lastro.clock import Clock, elapsed
from lastro.errors import UsageError
from lastro.locale import _
from lastro.paths import Home, MachineFolder
from lastro.procs.detach import start_detached
from lastro.procs.killtree import end_tree
from lastro.providers import environment
from lastro.providers.base import Machine, MachineRequest, MachineState, Made, Trace, Traits
from lastro.providers.machine_ids import checked, digest_of, digest_of_another, not_running, unknown_machine
from lastro.providers.records import End, Record, make_record, read_end, read_record, write_end
from lastro.providers.traces import traces_on_this_box

_MACHINE_ID_FILES = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))


class Here:
    """Runs in the user's own folder on this box. Deleting ends what lastro started under the tag."""

    name = "here"
    traits = Traits(creates=False, own_workdir=False, takes_faults=False)
    places: tuple[str, ...] = ()

    def __init__(self, home: Home, clock: Clock) -> None:
        self._home, self._clock = home, clock

    def create(self, request: MachineRequest) -> Machine:
        if request.faults:
            raise UsageError(
                _("this box cannot be taken away by a script: --faults needs machines that can be lost"),
                hint=_("use --on local"),
            )
        if request.workdir is None or not request.workdir.is_dir():
            raise UsageError(
                _("there is no folder {folder} to run in").format(folder=request.workdir),
                hint=_("run lastro in the folder of the campaign"),
            )
        node = host_node()
        machine_id = _id(node, digest_of(self._home, request.tag))
        folder = self._home.here_machine(machine_id)
        born = self._clock.stamp()
        make_record(folder, Record(id=machine_id, node=node, born=born, request=request))
        return self.describe(machine_id)

    def describe(self, machine_id: str) -> Machine:
        folder = self._folder(machine_id)
        record = read_record(folder)
        end = read_end(folder)
        workdir = record.request.workdir
        assert workdir is not None
        return Machine(
            id=record.id,
            node=record.node,
            tag=record.request.tag,
            state=MachineState.GONE if end else MachineState.RUNNING,
            workdir=workdir.absolute(),
            created_at=record.born.at,
            born=record.born,
            used_seconds=elapsed(record.born, end.at if end else self._clock.stamp()),
            ready_at=record.born.at,
            gone_at=end.at.at if end else None,
            cause=end.cause if end else None,
        )

    def machines(self) -> list[Machine]:
        root = self._home.here_machines
        found = [MachineFolder(path) for path in root.iterdir()] if root.is_dir() else []
        described = [self.describe(folder.root.name) for folder in found if folder.record.exists()]
        return sorted(described, key=lambda machine: machine.created_at)

    def start(self, machine_id: str, argv: Sequence[str]) -> None:
        machine = self.describe(machine_id)
        if machine.state is not MachineState.RUNNING:
            raise not_running(machine)
        folder = self._folder(machine_id)
        marked = environment.on_machine(os.environ, machine.id, machine.node)
        start_detached(argv, cwd=folder.root, env=marked, log=folder.log)

    def delete(self, machine_id: str) -> None:
        folder = self._folder(machine_id)
        read_record(folder)
        if read_end(folder) is None:
            end_tree(environment.marker(machine_id))
            write_end(folder, End(at=self._clock.stamp(), cause="released"))
        # Again: what was being started while it ended is not left either.
        end_tree(environment.marker(machine_id))

    def fired(self, campaign_disk: Path, campaign: str) -> frozenset[str]:
        return frozenset()

    def adopt(self, made: Made) -> Machine:
        node, now = host_node(), self._clock.stamp()
        machine_id = made.id or _id(made.node or node, digest_of_another(made))
        if (made.node or node) != node:
            return unknown_machine(
                machine_id, _("it is another computer than this one"), now.at, made.request.tag
            )
        record = Record(id=machine_id, node=node, born=made.born or now, request=made.request)
        make_record(self._home.here_machine(machine_id), record)
        return self.describe(machine_id)

    def traces(self) -> list[Trace]:
        return traces_on_this_box("here-")

    def _folder(self, machine_id: str) -> MachineFolder:
        return checked(self._home.here_machine(machine_id), machine_id, "here-")


def _id(node: str, digest: str) -> str:
    return f"here-{node[-6:]}-{digest[:8]}"


def host_node() -> str:
    """Return the node id of this box: a digest of its machine id, or of its name where it has none."""
    for path in _MACHINE_ID_FILES:
        try:
            text = path.read_text().strip()
        except OSError:
            continue
        if text:
            return _node(text)
    return _node(platform.node())


def _node(text: str) -> str:
    return "node-" + hashlib.sha256(f"lastro node {text}".encode()).hexdigest()[:12]
