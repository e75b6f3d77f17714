"""What is recorded of a machine when it begins, and when it is gone."""

from __future__ import annotations

from lastro.clock import iso
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.providers.base import Machine, Provider


def note_created(writer: StreamWriter, tag: str, machine: Machine) -> None:
    """Record that the machine of an intent is there."""
    writer.append(
        EventType.MACHINE_CREATED,
        tag=tag,
        machine=machine.id,
        node=machine.node,
        requested_at=iso(machine.created_at),
        level=machine.level,
        level_why=machine.level_why,
        born=machine.born.as_json() if machine.born else None,
        queued=machine.queued,
    )


def note_gone(writer: StreamWriter, provider: Provider, machine_id: str, why: str) -> None:
    """Record the end of a machine, with the time that it was used by its provider's clock."""
    machine = provider.describe(machine_id)
    writer.append(EventType.MACHINE_GONE, machine=machine.id, cause=why, seconds=machine.used_seconds)
