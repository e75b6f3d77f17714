"""Hash-chained streams of events, one writer each.

A line is one event as strict JSON. `prev` is the SHA-256 of the line before (for the first line: of the
stream's name), so a changed, removed or inserted line breaks the chain at its place. A torn last line was
never acknowledged: the next writer cuts it and says so. Standard library only.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lastro import atomic, strictjson
from lastro.clock import Clock, iso
from lastro.errors import JournalDamaged
from lastro.journal.events import DURABLE, EventType
from lastro.journal.signals import LineWriter, OnFull, refuse
from lastro.locale import _
from lastro.records import dataclass
from lastro.storage.secrets import all_redacted

_FRAME = ("seq", "prev", "at", "type")


@dataclass(frozen=True)
class Event:
    """One event. `facts` are the keys beside the frame."""

    stream: str
    seq: int
    at: str
    type: EventType
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Head:
    """The end of a chain: number of events, and digest of the last line."""

    seq: int
    digest: str


@dataclass(frozen=True)
class Damage:
    """Where a stream stops being believable. `line` counts from 1."""

    stream: str
    line: int
    why: str


@dataclass(frozen=True)
class Reading:
    """What a stream holds: its believable events, its head, bytes of a torn last line, and damage.

    `digests`: of each believable line, so that a head that was recorded elsewhere can be found again.
    """

    events: tuple[Event, ...]
    head: Head
    torn: int
    damage: Damage | None
    digests: tuple[str, ...]


def _digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()


def _parse(stream: str, line: bytes, head: Head) -> Event | str:
    """Return the event of one line, or why it cannot be believed."""
    try:
        value = strictjson.loads(line)
        seq, prev, at, kind = (value.pop(key) for key in _FRAME)
        event = Event(stream, seq, at, EventType(kind), value)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return _("not an event: {error}").format(error=error)
    if seq != head.seq + 1:
        return _("event {seq} follows event {before}").format(seq=seq, before=head.seq)
    if prev != head.digest:
        return _("the line before it is not the one that it was written after")
    return event


def parse_stream(name: str, data: bytes) -> Reading:
    """Read the bytes of a stream and check its chain. Pure."""
    whole = data.rfind(b"\n") + 1
    head = Head(0, _digest(name.encode()))
    events: list[Event] = []
    digests: list[str] = []
    for line in data[:whole].split(b"\n")[:-1]:
        event = _parse(name, line, head)
        if isinstance(event, str):
            damage = Damage(name, head.seq + 1, event)
            return Reading(tuple(events), head, 0, damage, tuple(digests))
        events.append(event)
        head = Head(event.seq, _digest(line))
        digests.append(head.digest)
    return Reading(tuple(events), head, len(data) - whole, None, tuple(digests))


def read_stream(path: Path) -> Reading:
    """Read a stream; one that is not there is empty."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        data = b""
    return parse_stream(path.stem, data)


def believed(reading: Reading) -> Reading:
    """Return a reading that has no damage. Raises JournalDamaged for one that has."""
    if reading.damage is None:
        return reading
    raise JournalDamaged(
        _("stream {name} is damaged at line {line}: {why}").format(
            name=reading.damage.stream, line=reading.damage.line, why=reading.damage.why
        ),
        hint=_("run `lastro journal verify`, and restore the stream from the disk or from home's copy"),
    )


def read_journal(folder: Path) -> dict[str, Reading]:
    """Read all streams of a journal folder, by name."""
    return {path.stem: read_stream(path) for path in sorted(folder.glob("*.jsonl"))}


class StreamWriter:
    """The one writer of a stream. Who may be it is decided outside: a claim, or home's lock."""

    def __init__(
        self, path: Path, clock: Clock, opening: Mapping[str, Any], on_full: OnFull = refuse
    ) -> None:
        """Open a stream, cutting a torn last line; a new one starts with an event that holds `opening`.

        `on_full` is asked when an event finds no room.

        Raises:
            JournalDamaged: a line in the middle was changed. Nothing is written to such a stream.
        """
        self.path = path
        self._clock = clock
        atomic.make_folder(path.parent)
        is_new = not path.exists()
        reading = read_stream(path)
        if reading.damage is not None:
            raise JournalDamaged(
                _("{path} is damaged at line {line}: {why}").format(
                    path=path, line=reading.damage.line, why=reading.damage.why
                ),
                hint=_(
                    "run `lastro journal verify`, and restore the stream from the disk or from home's copy"
                ),
            )
        if reading.torn:
            os.truncate(path, path.stat().st_size - reading.torn)
        self.head = reading.head
        self._lines = LineWriter(path, on_full)
        if is_new:
            atomic.sync_folder(path.parent)
        if reading.torn:
            self.append(EventType.STREAM_CUT, bytes=reading.torn)
        if reading.head.seq == 0:
            self.append(EventType.STREAM_OPENED, stream=path.stem, **opening)

    def append(self, kind: EventType, **facts: Any) -> Event:
        """Append one event; what looks like a secret in its facts is replaced.

        When this returns, no kill of this process can lose it; if its type is in DURABLE, no power cut
        either.
        """
        seq, at = self.head.seq + 1, iso(self._clock.now())
        frame = {"seq": seq, "prev": self.head.digest, "at": at, "type": kind.value}
        clash = frame.keys() & facts.keys()
        if clash:
            raise ValueError(f"{kind.value}: facts cannot be named like the frame: {sorted(clash)}")
        facts = all_redacted(facts)
        line = strictjson.dumps({**frame, **facts}).encode()
        self._lines.write(line + b"\n")
        if kind in DURABLE:
            self._lines.sync()
        self.head = Head(seq, _digest(line))
        return Event(self.path.stem, seq, at, kind, facts)

    def close(self) -> None:
        self._lines.close()


def ingest(source: Path, copy: Path) -> Reading | None:
    """Bring the copy of a stream up to date with its source; the copy is durable when this returns.

    Returns:
        What the copy holds now, or None when nothing was new.

    Raises:
        JournalDamaged: the source is not a continuation of what was copied before, or is damaged.
    """
    try:
        data = source.read_bytes()
    except FileNotFoundError:
        return None
    have = copy.read_bytes() if copy.exists() else b""
    whole = data[: data.rfind(b"\n") + 1]
    if whole == have:
        return None
    reading = parse_stream(source.stem, whole)
    if not whole.startswith(have) or reading.damage is not None:
        why = reading.damage.why if reading.damage else _("it does not continue what was copied before")
        raise JournalDamaged(
            _("{path} cannot be believed: {why}").format(path=source, why=why),
            hint=_("the copy at {copy} is kept; compare both with `lastro journal verify`").format(copy=copy),
        )
    atomic.make_folder(copy.parent)
    atomic.write_bytes(copy, whole)
    return reading
