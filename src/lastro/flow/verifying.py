"""Checks the journal of a campaign: each stream's chain, the copies against each other, the anchors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lastro.flow.session import Session
from lastro.journal.events import EventType
from lastro.journal.streams import Reading, read_journal
from lastro.locale import _


@dataclass(frozen=True)
class Checked:
    """One stream file. `why` None: it is believable."""

    path: str
    events: int
    why: str | None


def verify_folder(folder: Path) -> list[Checked]:
    """Check every stream of a journal folder, and what home's stream has recorded of the others."""
    readings = read_journal(folder)
    return [
        Checked(str(folder / f"{name}.jsonl"), reading.head.seq, _why(name, reading, readings))
        for name, reading in readings.items()
    ]


def verify_session(session: Session) -> list[Checked]:
    """Check home's copies and those on the disk."""
    return [*verify_folder(session.at_home.journal), *verify_folder(session.on_disk.journal)]


def _why(name: str, reading: Reading, readings: Mapping[str, Reading]) -> str | None:
    if reading.damage is not None:
        return _("damaged at line {line}: {why}").format(line=reading.damage.line, why=reading.damage.why)
    anchors = (
        event
        for other in readings.values()
        for event in other.events
        if event.type is EventType.STREAM_INGESTED and event.facts["source"] == name
    )
    for event in anchors:
        if not _holds(reading, event.facts["events"], event.facts["head"]):
            return _("it is not what {stream} recorded of it (event {seq})").format(
                stream=event.stream, seq=event.facts["events"]
            )
    return None


def _holds(reading: Reading, seq: int, head: str) -> bool:
    """Tell whether a stream still holds the event that was its head once."""
    return reading.digests[seq - 1] == head if seq <= len(reading.digests) else False
