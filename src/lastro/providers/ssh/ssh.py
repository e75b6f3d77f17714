"""A machine that somebody rented by hand, taken over by ssh as it is: nothing is made or wiped there."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lastro import strictjson
from lastro.clock import Clock, elapsed
from lastro.errors import ProviderError
from lastro.locale import _
from lastro.paths import Disk, Home, MachineFolder
from lastro.providers.base import Machine, MachineRequest, MachineState, Made, Trace, Traits
from lastro.providers.machine_ids import (
    checked,
    digest_of,
    digest_of_another,
    not_running,
    takes_no_faults,
    unknown_machine,
)
from lastro.providers.records import End, Record, make_record, read_end, read_record, write_end
from lastro.providers.ssh.channel import Channel, is_away
from lastro.providers.ssh.replica import Replica
from lastro.providers.ssh.share import Share
from lastro.spec.addresses import Target, each_of, parse

_PREFIX = "ssh-"
#: Where the disk lies on a machine of which nothing is said.
DEFAULT_DISK = "lastro-disk"


class Ssh:
    """Runs on one machine at an address. Deleting ends what lastro started under the tag, and no more."""

    traits = Traits(creates=False, own_workdir=True, takes_faults=False, far=True)
    places: tuple[str, ...] = ()

    def __init__(self, spec: str, home: Home, clock: Clock) -> None:
        self._target: Target = parse(spec)
        self.name = self._target.spec
        self._home, self._clock = home, clock
        self._channel = Channel(self._target, clock)
        self._replica: Replica | None = None
        self._works: dict[str, tuple[int, Path]] = {}

    @property
    def channel(self) -> Channel:
        """The connection over which this machine is asked."""
        return self._channel

    # --- the disk -------------------------------------------------------------------------------------

    def replica(self, path: str) -> Replica:
        """Return home's copy of the disk at a path on the machine; the same one for the same path."""
        local = Disk(self._home.replica(replica_key(self.name, path)))
        return self._replica or self.share_of(path, local, None)

    def share_of(self, path: str, local: Disk, share: Share | None) -> Replica:
        """Return the way to the disk at a path there, and to which part of a copy is of it; None: all."""
        self._replica = Replica(self._channel, path, local, self._clock, share)
        return self._replica

    @property
    def node(self) -> str | None:
        """Which machine answers at the address; None before one has."""
        return self._channel.hello.get("node")

    def facts(
        self, machine: Machine, command: Sequence[str], packages: Sequence[str], variables: Sequence[str]
    ) -> Mapping[str, Any]:
        """Return what the machine says of itself, as a job would find it there; see `telling.tell`.

        With `node`, and `at`: its time.
        """
        _none, told = self._channel.ask(
            "facts",
            machine=machine.id,
            node=machine.node,
            command=list(command),
            packages=list(packages),
            variables=list(variables),
        )
        facts: Mapping[str, Any] = strictjson.loads(told)
        return facts

    # --- the contract ---------------------------------------------------------------------------------

    def create(self, request: MachineRequest) -> Machine:
        if request.faults:
            raise takes_no_faults(self.name)
        self._channel.connect()
        node = str(self._channel.hello["node"])
        machine_id = _id(node, digest_of(self._home, request.tag))
        folder = self._home.ssh_machine(machine_id)
        self._channel.ask("machine", machine=machine_id)
        make_record(folder, Record(id=machine_id, node=node, born=self._clock.stamp(), request=request))
        return self.describe(machine_id)

    def describe(self, machine_id: str) -> Machine:
        folder = self._folder(machine_id)
        record, end = read_record(folder), read_end(folder)
        state, cause, work = MachineState.GONE, end.cause if end else None, Path()
        if end is None:
            state, cause, work = self._ask(record)
        here = self._replica
        return Machine(
            id=record.id,
            node=record.node,
            tag=record.request.tag,
            state=state,
            workdir=work,
            created_at=record.born.at,
            born=record.born,
            used_seconds=elapsed(record.born, end.at if end else self._clock.stamp()),
            ready_at=record.born.at,
            gone_at=end.at.at if end else None,
            cause=cause,
            disk=here.there if here is not None else None,
        )

    def _ask(self, record: Record) -> tuple[MachineState, str | None, Path]:
        """Say whether the machine is there, and this one. While it is known to be away it is not asked."""
        if self._replica is not None and self._replica.trouble is not None:
            return MachineState.UNKNOWN, self._replica.trouble, Path()
        connection, work = self._works.get(record.id, (0, Path()))
        if connection and connection == self._channel.connections and self._replica is not None:
            return MachineState.RUNNING, None, work  # the exchange tells when it does not answer any more
        try:
            told, _none = self._channel.ask("machine", machine=record.id)
        except ProviderError as error:
            if not is_away(error):
                raise
            return MachineState.UNKNOWN, error.message, Path()
        self._require_same(record)
        self._works[record.id] = (self._channel.connections, Path(told["work"]))
        return MachineState.RUNNING, None, Path(told["work"])

    def _require_same(self, record: Record) -> None:
        """Check that the machine which answers is the one that was taken; else of that nothing is known."""
        node = self._channel.hello["node"]
        if node != record.node:
            told = _("at {where} another machine answers ({found}) than the one that was taken ({wanted})")
            hint = _("nothing runs on the new one; if the old one is gone: `lastro stop --gone {id}`")
            raise ProviderError(
                told.format(where=self.name, found=node, wanted=record.node), hint=hint.format(id=record.id)
            )

    def machines(self) -> list[Machine]:
        self._channel.connect()  # which of them are at this address only the machine tells
        root = self._home.ssh_machines
        found = [MachineFolder(path) for path in root.iterdir()] if root.is_dir() else []
        mine = [one for one in found if one.record.exists() and _is_at(one, self._channel)]
        return sorted((self.describe(one.root.name) for one in mine), key=lambda machine: machine.created_at)

    def start(self, machine_id: str, argv: Sequence[str]) -> None:
        machine = self.describe(machine_id)
        if machine.state is not MachineState.RUNNING:
            raise not_running(machine)
        python = argv[0] == sys.executable  # which lies elsewhere there
        words = list(argv[1:] if python else argv)
        self._channel.ask("start", machine=machine_id, node=machine.node, argv=words, python=python)

    def delete(self, machine_id: str) -> None:
        folder = self._folder(machine_id)
        record = read_record(folder)
        if read_end(folder) is not None:
            return
        self._channel.connect()
        self._require_same(record)
        self._channel.ask("end", machine=machine_id)
        write_end(folder, End(at=self._clock.stamp(), cause="released"))

    def adopt(self, made: Made) -> Machine:
        self._channel.connect()
        node, now = str(self._channel.hello["node"]), self._clock.stamp()
        machine_id = made.id or _id(made.node or node, digest_of_another(made))
        if (made.node or node) != node:
            why = _("another machine answers at {where}").format(where=self.name)
            return unknown_machine(machine_id, why, now.at, made.request.tag)
        self._channel.ask("machine", machine=machine_id)
        record = Record(id=machine_id, node=node, born=made.born or now, request=made.request)
        make_record(self._home.ssh_machine(machine_id), record)
        return self.describe(machine_id)

    def forget(self, machine_id: str, cause: str) -> None:
        folder = self._folder(machine_id)
        read_record(folder)
        write_end(folder, End(at=self._clock.stamp(), cause=cause))

    def traces(self) -> list[Trace]:
        told, _none = self._channel.ask("traces")
        return [Trace(machine=one["machine"], what=one["what"]) for one in told["found"]]

    def fired(self, campaign_disk: Path, campaign: str) -> frozenset[str]:
        return frozenset()

    def _folder(self, machine_id: str) -> MachineFolder:
        return checked(self._home.ssh_machine(machine_id), machine_id, _PREFIX)


def _id(node: str, digest: str) -> str:
    return f"{_PREFIX}{node[-6:]}-{digest[:8]}"


def _is_at(folder: MachineFolder, channel: Channel) -> bool:
    return bool(read_record(folder).node == channel.hello.get("node"))


def replica_key(spec: str, path: str) -> str:
    """Return the name of home's copy of a disk: by the machine's address and the path there.

    Of several machines the first one's counts, so that others can join and leave.
    """
    return hashlib.sha256(f"{each_of(spec)[0]} {path}".encode()).hexdigest()[:16]
