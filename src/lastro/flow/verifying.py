"""Checks the journal of a campaign: each stream's chain, and everything that was recorded of it elsewhere.

A chain shows what was changed or removed inside; that its end was cut off, or that a whole stream is
missing, only another record shows. Streams hold each other's heads: home's those of the machines' that it
has copied, a machine's the one of home's that it began with. The closing manifest holds all of them, and
home's stream the root digest of that manifest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from lastro.closeout.last_manifest import ClosedStreams, read_closed_streams
from lastro.closeout.seal import held_ends
from lastro.errors import JournalDamaged, StorageError
from lastro.flow.session import Session
from lastro.journal.events import EventType
from lastro.journal.streams import Event, Reading, read_journal
from lastro.locale import _
from lastro.paths import CampaignFolder
from lastro.records import dataclass


@dataclass(frozen=True)
class Checked:
    """One stream file, or the closing manifest. `why` None: it is believable."""

    path: str
    events: int
    why: str | None


@dataclass(frozen=True)
class Anchor:
    """What was recorded of a stream elsewhere: the digest of its event `seq`, or of some event (None)."""

    stream: str
    seq: int | None
    digest: str
    where: str


def verify_folder(folder: Path) -> list[Checked]:
    """Check a journal folder by itself, and by the closing manifest beside it if there is one."""
    return _verify(folder, list(_recorded(read_journal(folder))))


def loose_ends(folder: CampaignFolder) -> list[str]:
    """Return the streams whose last event nothing else holds: not the seal, no other stream, no manifest.

    Every other event is held by the one after it.
    """
    readings = read_journal(folder.journal)
    held = {(anchor.stream, anchor.digest) for anchor in _recorded(readings)}
    held |= {(name, digest) for name, (_seq, digest) in held_ends(folder).items()}
    closed, _problem = _closed(folder.journal)
    held |= {(head.name, head.digest) for head in closed.heads} if closed is not None else set()
    return [name for name, one in readings.items() if one.head.seq and (name, one.head.digest) not in held]


def verify_session(session: Session) -> list[Checked]:
    """Check home's copies and those on the disk, each by what is recorded in both."""
    folders = (session.at_home.journal, session.on_disk.journal)
    # A copy may lag behind what it is copied from; home's is the original of its own stream.
    before = [read_journal(folder) for folder in folders]
    own = before[0].get(session.stream_name)
    known = list(_anchors(own.events if own is not None else ()))
    return [
        checked
        for folder, found in zip(folders, before, strict=True)
        if folder.is_dir()
        for checked in _verify(folder, [*known, *_recorded(found)])
    ]


def require_whole(session: Session) -> None:
    """See that every stream of a campaign can be believed to its end. Raises JournalDamaged."""
    damaged = [checked for checked in verify_session(session) if checked.why is not None]
    if damaged:
        raise JournalDamaged(
            _("the journal cannot be believed: {places}").format(
                places="; ".join(f"{checked.path}: {checked.why}" for checked in damaged)
            ),
            hint=_("`lastro journal verify` shows all of it; put the whole copy in place of the damaged one"),
        )


def _recorded(readings: Mapping[str, Reading]) -> Iterator[Anchor]:
    for reading in readings.values():
        yield from _anchors(reading.events)


def _verify(folder: Path, anchors: list[Anchor]) -> list[Checked]:
    """Check the streams of a folder as they are now.

    `anchors`: what was recorded of streams when these were read before. Streams only grow, and they may be
    growing now: what one of them has said of another was there before it was said, and is there after it.
    """
    closed, problem = _closed(folder)
    if closed is not None:
        where = _("the closing manifest")
        anchors = [*anchors, *(Anchor(head.name, head.seq, head.digest, where) for head in closed.heads)]
    readings = read_journal(folder)
    names = dict.fromkeys([*readings, *sorted(anchor.stream for anchor in anchors)])
    checked = [_check(folder, name, readings.get(name), anchors) for name in names]
    if problem is None and closed is not None:
        problem = _other_root(closed, readings)
    if problem is not None:
        path = CampaignFolder(folder.parent).close_manifest
        checked.append(Checked(str(path), 0, problem))
    return checked


def _closed(folder: Path) -> tuple[ClosedStreams | None, str | None]:
    try:
        return read_closed_streams(CampaignFolder(folder.parent)), None
    except FileNotFoundError:
        return None, None
    except StorageError as error:
        return None, error.message


def _other_root(closed: ClosedStreams, readings: Mapping[str, Reading]) -> str | None:
    """Say whether the manifest is the one that home has closed the campaign with."""
    if not closed.root_is_right:
        return _("its root digest is not that of what it lists: it was changed")
    roots = [
        str(event.facts["root_digest"])
        for reading in readings.values()
        for event in reading.events
        if event.type is EventType.CAMPAIGN_CLOSED
    ]
    if roots and roots[-1] != closed.root:
        return _("its root digest is {found}, home's stream was closed with {recorded}").format(
            found=closed.root[:12], recorded=roots[-1][:12]
        )
    return None


def _anchors(events: Iterable[Event]) -> Iterator[Anchor]:
    for event in events:
        if event.type is EventType.STREAM_INGESTED:
            facts = event.facts
            yield Anchor(facts["source"], facts["events"], facts["head"], event.stream)
        elif event.type is EventType.STREAM_OPENED and event.facts.get("home_head"):
            yield Anchor(event.facts["home_stream"], None, event.facts["home_head"], event.stream)


def _check(folder: Path, name: str, reading: Reading | None, anchors: Iterable[Anchor]) -> Checked:
    path = str(folder / f"{name}.jsonl")
    of_it = [anchor for anchor in anchors if anchor.stream == name]
    if reading is None:
        why = _("it is not there, but {where} holds something of it").format(where=of_it[0].where)
        return Checked(path, 0, why)
    if reading.damage is not None:
        why = _("damaged at line {line}: {why}").format(line=reading.damage.line, why=reading.damage.why)
        return Checked(path, reading.head.seq, why)
    for anchor in of_it:
        why_not = _contradiction(reading, anchor)
        if why_not is not None:
            return Checked(path, reading.head.seq, why_not)
    return Checked(path, reading.head.seq, None)


def _contradiction(reading: Reading, anchor: Anchor) -> str | None:
    """Say in what a stream contradicts what was recorded of it; None when it does not."""
    digests = reading.digests
    if anchor.seq is None:
        if anchor.digest in digests:
            return None
        return _(
            "it lacks the event that {where} began after: its end was cut off, or it is another one"
        ).format(where=anchor.where)
    if anchor.seq > len(digests):
        return _("it has {have} events, but {where} has seen {seq}: its end was cut off").format(
            have=len(digests), where=anchor.where, seq=anchor.seq
        )
    # A stream whose writer was ended before its first line was whole has a head, and no event, to look at.
    if anchor.seq > 0 and digests[anchor.seq - 1] != anchor.digest:
        return _("it is not what {stream} recorded of it (event {seq})").format(
            stream=anchor.where, seq=anchor.seq
        )
    return None
