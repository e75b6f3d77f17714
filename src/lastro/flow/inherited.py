"""Machines that other homes of a campaign have asked for: taken over where their provider can, else unknown.

Only the home that drives a campaign now takes any over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lastro.billing import Lease
from lastro.clock import Clock, Stamp
from lastro.errors import ProviderError
from lastro.flow.session import Session
from lastro.journal.events import EventType
from lastro.journal.streams import Event
from lastro.providers.base import Adopts, Machine, MachineRequest, Made, Provider
from lastro.providers.machine_ids import unknown_machine

_HOME = "home-"
#: Seconds after which a machine that could not be asked from here is asked again.
_ASKED_AGAIN = 30.0


class Inherited:
    """What other homes have made, by its tag and its id."""

    def __init__(self, session: Session, provider: Provider, clock: Clock) -> None:
        self._provider, self._clock = provider, clock
        self._made = made_by_others(session)
        self._tags = {made.id: tag for tag, made in self._made.items() if made.id is not None}
        self._unknown: dict[str, tuple[float, Machine]] = {}

    @property
    def machines(self) -> frozenset[str]:
        """Return the ids of all of them that are known to be made."""
        return frozenset(self._tags)

    def describe(self, machine_id: str, error: ProviderError) -> Machine:
        """Return a machine of which this home had no record; `error` says so, and is raised for others."""
        if machine_id not in self._tags:
            raise error
        asked_at, known = self._unknown.get(machine_id, (0.0, None))
        if known is None or self._clock.monotonic() - asked_at >= _ASKED_AGAIN:
            known = self._adopted(self._tags[machine_id]) or unknown_machine(
                machine_id, error.message, self._clock.now()
            )
            self._unknown[machine_id] = (self._clock.monotonic(), known)
        return known

    def recover(self, tag: str) -> Machine | None:
        """Return the machine of another home's intent, whatever became of it; None: the intent is not theirs.

        Raises ProviderError when nobody answers.
        """
        machine = self._adopted(tag)
        if machine is not None:
            self._tags[machine.id] = tag
        return machine

    def _adopted(self, tag: str) -> Machine | None:
        made = self._made.get(tag)
        if made is None or not isinstance(self._provider, Adopts):
            return None
        return self._provider.adopt(made)


def made_by_others(session: Session) -> Mapping[str, Made]:
    """Return what other homes have asked for and not seen gone, by its tag. Reads the journal only."""
    found: dict[str, Made] = {}
    for name, events in session.events().items():
        if name.startswith(_HOME) and name != session.stream_name:
            found |= _of_home(name.removeprefix(_HOME), events, session)
    return found


def _of_home(home: str, events: Sequence[Event], session: Session) -> Mapping[str, Made]:
    host, found = None, dict[str, Made]()
    tags: dict[str, str] = {}
    for event in events:
        facts = event.facts
        if event.type is EventType.STREAM_OPENED:
            host = facts.get("host")
        elif event.type is EventType.MACHINE_INTENDED:
            request = MachineRequest(
                tag=facts["tag"],
                campaign=session.facts.name,
                disk=session.disk.root,
                lease=Lease.from_json(facts["lease"]) if facts["lease"] else None,
                place=facts["provider"],
            )
            found[request.tag] = Made(home=home, host=host, id=None, node=None, born=None, request=request)
        elif event.type is EventType.MACHINE_CREATED and facts["tag"] in found:
            tags[facts["machine"]] = facts["tag"]
            found[facts["tag"]] = replace(
                found[facts["tag"]],
                id=facts["machine"],
                node=facts["node"],
                born=Stamp.from_json(facts["born"]) if facts.get("born") else None,
            )
        elif event.type is EventType.MACHINE_REFUSED:
            found.pop(facts["tag"], None)
        elif event.type is EventType.MACHINE_GONE:
            found.pop(tags.get(facts["machine"], ""), None)
    return found
