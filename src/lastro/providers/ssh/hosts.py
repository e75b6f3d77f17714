"""Several machines at several addresses as one provider: each is taken over by ssh, as one alone is."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from lastro.clock import Clock
from lastro.errors import CapacityRefused, ProviderError, UsageError
from lastro.locale import _
from lastro.paths import Disk, Home
from lastro.providers.base import Machine, MachineRequest, Made, Trace
from lastro.providers.machine_ids import checked
from lastro.providers.records import read_record
from lastro.providers.ssh.links import Links
from lastro.providers.ssh.share import Part
from lastro.providers.ssh.ssh import Ssh, replica_key
from lastro.spec.addresses import SEPARATOR, each_of, parse

_PREFIX = "ssh-"


class Hosts:
    """Machines at these addresses, in the order in which they are taken. `place` of a request says which."""

    traits = Ssh.traits

    def __init__(self, spec: str, home: Home, clock: Clock) -> None:
        self.name = name_of(spec)
        self._home, self._clock = home, clock
        self._members = {one: Ssh(one, home, clock) for one in each_of(self.name)}
        self.places: tuple[str, ...] = tuple(self._members)
        self._barred: dict[str, ProviderError] = {}
        self._links: Links | None = None

    def replica(self, path: str) -> Links:
        """Return home's copy of the disks at a path on each machine; the same one for the same path."""
        if self._links is None:
            local = Disk(self._home.replica(replica_key(self.name, path)))
            members = {
                place: member.share_of(
                    path, local, Part(local.marker_of(_short(place)), place, self.place_of)
                )
                for place, member in self._members.items()
            }
            self._links = Links(local, members, self.place_of, self._clock)
        return self._links

    def place_of(self, machine_id: str) -> str | None:
        """Return the address of a machine; None where neither its record nor its name tell it."""
        if not machine_id.startswith(_PREFIX):
            return None
        try:
            return read_record(self._home.ssh_machine(machine_id)).request.place
        except ProviderError:  # another home has taken it
            node = machine_id.split("-")[1]
            near = [place for place, one in self._members.items() if (one.node or "").endswith(node)]
            return near[0] if len(near) == 1 else None

    def facts(
        self, machine: Machine, command: Sequence[str], packages: Sequence[str], variables: Sequence[str]
    ) -> Mapping[str, Any]:
        """Return what a machine says of itself; see `Ssh.facts`."""
        return self.at(machine.id).facts(machine, command, packages, variables)

    # --- the contract ---------------------------------------------------------------------------------

    def create(self, request: MachineRequest) -> Machine:
        if request.place not in self._members:
            raise UsageError(
                _("{place} is none of the hosts").format(place=request.place),
                hint=_("they are: {names}").format(names=", ".join(self.places)),
            )
        try:
            machine = self._members[request.place].create(request)
        except ProviderError as error:
            self._barred[request.place] = error
            if len(self._barred) == len(self._members):
                raise
            raise CapacityRefused(error.message, hint=error.hint) from error
        self._barred.pop(request.place, None)
        return machine

    def describe(self, machine_id: str) -> Machine:
        return self.at(machine_id).describe(machine_id)

    def machines(self) -> list[Machine]:
        return [machine for member in self._members.values() for machine in member.machines()]

    def start(self, machine_id: str, argv: Sequence[str]) -> None:
        self.at(machine_id).start(machine_id, argv)

    def delete(self, machine_id: str) -> None:
        self.at(machine_id).delete(machine_id)

    def adopt(self, made: Made) -> Machine:
        place = made.request.place
        if place is None or place not in self._members:
            raise _left(made.id or made.request.tag, place)
        return self._members[place].adopt(made)

    def forget(self, machine_id: str, cause: str) -> None:
        self.at(machine_id).forget(machine_id, cause)

    def traces(self) -> list[Trace]:
        return [trace for member in self._members.values() for trace in member.traces()]

    def fired(self, campaign_disk: object, campaign: str) -> frozenset[str]:
        return frozenset()

    def at(self, machine_id: str) -> Ssh:
        """Return the one host that a machine is at. Raises ProviderError where it is none of these."""
        checked(self._home.ssh_machine(machine_id), machine_id, _PREFIX)
        place = read_record(self._home.ssh_machine(machine_id)).request.place
        if place is None or place not in self._members:
            raise _left(machine_id, place)
        return self._members[place]


def _left(machine: str, place: str | None) -> ProviderError:
    return ProviderError(
        _("machine {id} is at {place}, which is none of the hosts any more").format(id=machine, place=place),
        hint=_("add it to `hosts:` again, and let the machine go by `lastro stop --release`"),
    )


def name_of(spec: str) -> str:
    """Return the name of several addresses as it stands in the journal. Raises UsageError."""
    found = [parse(one).spec for one in each_of(spec)]
    twice = sorted({one for one in found if found.count(one) > 1})
    if twice:
        raise UsageError(
            _("{place} stands twice among the hosts").format(place=twice[0]), hint=_("name it once")
        )
    return SEPARATOR.join(found)


def _short(place: str) -> str:
    return hashlib.sha256(place.encode()).hexdigest()[:16]
