"""What is recorded when a machine has the disk: who has seen it, and how well it is known to outlive them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lastro.clock import Clock
from lastro.disk.prove import prove
from lastro.disk.verdict import State
from lastro.flow.session import Session
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.locale import _
from lastro.providers.base import Machine
from lastro.providers.who import who_of


def note_attached(
    session: Session, writer: StreamWriter, machine: Machine, clock: Clock, tell: Callable[[str], None]
) -> None:
    """Mark the disk as seen by a machine and record how well it is known to outlive it.

    A disk that cannot be marked does not stop the campaign: that it takes what is written to it was checked,
    and that it outlives the machine stays unproven.
    """
    if session.link is not None:
        told = session.link.proof(machine.id)
        writer.append(
            EventType.DISK_ATTACHED, machine=machine.id, disk=session.link.uuid(machine.id), **_facts(told)
        )
        _tell_unproven(machine, str(told["state"]), str(told["why"]), tell)
        return
    found = prove(session.disk.root, session.home, clock, who_of(machine), probing=False)
    me = found.me
    writer.append(
        EventType.DISK_ATTACHED,
        machine=machine.id,
        disk=found.uuid,
        state=found.verdict.state.value,
        why=found.verdict.why,
        fs_type=me.fs_type,
        source=me.source,
        on_root=me.on_root,
        troubles=[each.as_json() for each in found.verdict.troubles],
    )
    _tell_unproven(machine, found.verdict.state.value, found.verdict.why, tell)


def _facts(told: Mapping[str, Any]) -> Mapping[str, Any]:
    names = ("state", "why", "fs_type", "source", "on_root", "troubles")
    return {name: told[name] for name in names}


def _tell_unproven(machine: Machine, state: str, why: str, tell: Callable[[str], None]) -> None:
    if state != State.PROVEN.value:
        tell(_("that the disk outlives {id} is not proven: {why}").format(id=machine.id, why=why))
