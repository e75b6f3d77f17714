"""What this home knows of machines over its campaigns: provisioning times, faults, a person's notes."""

from __future__ import annotations

import contextlib
import hashlib
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lastro import atomic, strictjson
from lastro.clock import Clock, iso
from lastro.errors import LastroError, UsageError
from lastro.flow.session import known_sessions
from lastro.journal.nodes import NodeRecord, Note, Use, node_records, uses
from lastro.journal.provisioning import Provision, provisions
from lastro.journal.streams import Event, believed, read_stream
from lastro.journal.waits import Group, grouped
from lastro.locale import _
from lastro.paths import Home
from lastro.records import dataclass

_LONGEST = 500
_NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, kw_only=True)
class Memory:
    """What the journals say. `unread`: campaigns whose journals cannot be believed, with the reason."""

    provisions: tuple[Provision, ...]
    nodes: tuple[NodeRecord, ...]
    unread: tuple[str, ...]

    @property
    def groups(self) -> tuple[Group, ...]:
        return grouped(self.provisions)

    def of(self, name: str) -> NodeRecord | None:
        """Return what is known of a machine under any of its names; None: it was never seen."""
        return next((one for one in self.nodes if name in one.names), None)

    def as_json(self) -> dict[str, Any]:
        return {
            "provisions": [one.as_json() for one in self.provisions],
            "groups": [group.as_json() for group in self.groups],
            "nodes": [node.as_json() for node in self.nodes],
            "unread": list(self.unread),
        }


def remember(home: Home, clock: Clock) -> Memory:
    """Read the journals of all campaigns of a home, and the notes."""
    found: list[Provision] = []
    used: list[Use] = []
    unread: list[str] = []
    for campaign, streams in _campaigns(home, clock, unread):
        found += provisions(campaign, streams)
        used += uses(campaign, streams, clock.stamp())
    return Memory(
        provisions=tuple(sorted(found, key=lambda one: one.asked_at)),
        nodes=node_records(used, _notes(home)),
        unread=tuple(unread),
    )


def _campaigns(
    home: Home, clock: Clock, unread: list[str]
) -> Iterator[tuple[str, Mapping[str, Sequence[Event]]]]:
    for session in known_sessions(home, clock):
        try:
            streams = session.events()
        except (LastroError, OSError) as error:
            unread.append(_("{campaign}: {why}").format(campaign=session.facts.name, why=error))
            continue
        yield session.facts.name, streams
    try:
        probes = believed(read_stream(home.probes)).events
    except LastroError as error:
        unread.append(str(error))
        return
    yield _("probe"), {home.probes.stem: probes}


def bad_record(home: Home, clock: Clock, name: str) -> NodeRecord | None:
    """Return what is known of a machine if anything speaks against it; None otherwise.

    What cannot be read says nothing: a machine is not held up by an old journal.
    """
    with contextlib.suppress(LastroError, OSError):
        record = remember(home, clock).of(name)
        return record if record is not None and record.bad is not None else None
    return None


# --- notes --------------------------------------------------------------------------------------------


def write_note(home: Home, clock: Clock, node: str, text: str) -> Note:
    """Keep what a person says of a machine; it need not have been seen yet.

    Raises:
        UsageError: it is no node id, or there is no text, or too much of it.
    """
    if not _NODE.fullmatch(node):
        raise UsageError(
            _("{node!r} is not the id of a node").format(node=node),
            hint=_("`lastro preflight --history` shows those that are known"),
        )
    if not text.strip() or len(text) > _LONGEST:
        raise UsageError(
            _("a note has 1 to {most} characters, this one has {count}").format(
                most=_LONGEST, count=len(text.strip())
            )
        )
    note = Note(at=iso(clock.now()), text=text.strip())
    folder = home.notes(_key(node))
    atomic.make_folder(folder)
    kept = {"node": node, "at": note.at, "text": note.text}
    stem = f"{note.at.replace(':', '')}-{secrets.token_hex(4)}"
    atomic.write_text(folder / f"{stem}.json", strictjson.pretty(kept))
    return note


def _key(node: str) -> str:
    return hashlib.sha256(node.encode()).hexdigest()[:16]


def _notes(home: Home) -> Mapping[str, Sequence[Note]]:
    found: dict[str, list[Note]] = {}
    for path in home.all_notes():
        with contextlib.suppress(LastroError, OSError, ValueError, KeyError, TypeError):
            value = strictjson.read(path)
            found.setdefault(str(value["node"]), []).append(
                Note(at=str(value["at"]), text=str(value["text"]))
            )
    return found
