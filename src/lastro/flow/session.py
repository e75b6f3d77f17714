"""One campaign as home holds it: the right to write, the streams, and the view folded from them."""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from lastro import __version__, atomic, strictjson
from lastro.clock import Clock
from lastro.closeout.seal import hold_end, is_final, write_seal
from lastro.disk.facts import read_disk
from lastro.errors import JournalDamaged, StorageError, UsageError
from lastro.flow.alone import locked
from lastro.flow.presence import supervisors
from lastro.journal.events import EventType
from lastro.journal.projections import project
from lastro.journal.streams import Event, Head, StreamWriter, believed, ingest, parse_stream
from lastro.journal.views import CampaignView
from lastro.locale import _
from lastro.paths import CampaignFolder, Disk, Home, HomeCampaign, stream_of_home
from lastro.providers.base import Link
from lastro.providers.registry import far_provider, is_far
from lastro.providers.ssh.replica import WHERE
from lastro.records import dataclass
from lastro.storage.home import home_id, read_record

#: What stands in the stream of the home that has closed a campaign.
_CLOSED = f'"type":"{EventType.CAMPAIGN_CLOSED.value}"'.encode()


@dataclass(frozen=True)
class Facts:
    """`campaign.json`: where a campaign's parts are, so that `status` and `logs` find them."""

    name: str
    campaign_file: str
    disk: str
    provider: str
    key: str


_KEYS = tuple(each.name for each in fields(Facts))


class Session:
    """A campaign of this home. Reading needs nothing; writing needs `owned`."""

    def __init__(self, home: Home, facts: Facts, clock: Clock, link: Link | None = None) -> None:
        self.home, self.facts, self._clock, self._link = home, facts, clock, link
        self.at_home: HomeCampaign = home.campaign(facts.key)
        self.disk = Disk(Path(facts.disk))
        self.on_disk: CampaignFolder = self.disk.campaign(facts.name)
        self.stream_name = stream_of_home(home_id(home))
        self._parsed: dict[str, tuple[bytes, Sequence[Event]]] = {}

    @property
    def link(self) -> Link | None:
        """The way to a disk that lies on another computer; nobody is called before it is used."""
        if self._link is None and is_far(self.facts.provider):
            provider = far_provider(self.facts.provider, self.home, self._clock)
            self._link = provider.replica(str(strictjson.read(self.disk.root / WHERE)["path"]))
        return self._link

    @contextlib.contextmanager
    def owned(self) -> Iterator[StreamWriter | None]:
        """Give the writer of home's stream; None when another living process has it."""
        atomic.make_folder(self.at_home.root)
        descriptor = os.open(self.at_home.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            if not locked(descriptor):
                yield None
                return
            used = 1 + max(map(_used, _records(self.home)), default=0)
            atomic.write_text(self.at_home.facts, strictjson.pretty({**vars(self.facts), "used": used}))
            self._restore()
            opening = {"campaign": self.facts.name, "lastro": __version__, "host": platform.node()}
            writer = StreamWriter(self.at_home.stream(self.stream_name), self._clock, opening)
            try:
                yield writer
            finally:
                writer.close()
        finally:
            os.close(descriptor)

    def is_closed(self) -> bool:
        """Tell whether this home has seen the closing of the campaign, without folding its streams."""
        streams = sorted(self.at_home.journal.glob("home-*.jsonl"))
        return any(_CLOSED in path.read_bytes() for path in streams)

    def is_driven(self) -> bool:
        """Tell whether a living process, such as a `lastro run`, has the right to write now."""
        try:
            descriptor = os.open(self.at_home.lock, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            return not locked(descriptor)
        finally:
            os.close(descriptor)

    def _restore(self) -> None:
        """Take home's stream back from the disk where home has lost the end of it, or all.

        Raises:
            JournalDamaged: home and disk tell two different stories.
        """
        here, there = self.at_home.stream(self.stream_name), self.on_disk.stream(self.stream_name)
        kept, mirrored = whole_lines(here), whole_lines(there)
        if kept.startswith(mirrored):
            return
        if not mirrored.startswith(kept):
            raise JournalDamaged(
                _("{here} and its copy {there} tell different stories").format(here=here, there=there),
                hint=_("`lastro journal verify` says which is whole; put that one in place of the other"),
            )
        believed(parse_stream(self.stream_name, mirrored))
        atomic.make_folder(here.parent)
        atomic.write_bytes(here, mirrored)

    def require_disk(self) -> None:
        """Check that the disk of this campaign is there.

        Raises:
            StorageError: it is not, or another disk lies at its path.
        """
        try:
            found = session_key(self.facts.name, read_disk(self.disk).uuid)
        except OSError as error:
            found = str(error.strerror)
        if found != self.facts.key:
            raise StorageError(
                _("the disk of this campaign is not at {path} (found: {found}, expected: {key})").format(
                    path=self.disk.root, found=found, key=self.facts.key
                ),
                hint=_("mount it there; nothing was changed"),
            )

    # --- streams --------------------------------------------------------------------------------------

    def ingest(self) -> dict[str, Head]:
        """Bring home's copies of what others write up to date; return the new heads by stream."""
        self.exchange()
        new = {}
        for source in self._streams_of_others():
            copy = self.at_home.stream(source.stem)
            if copy.exists() and copy.stat().st_size == source.stat().st_size:
                continue
            reading = ingest(source, copy)
            if reading is not None:
                new[source.stem] = reading.head
        return new

    def mirror(self) -> None:
        """Copy home's stream to the disk, so that the disk alone tells the whole campaign.

        Its end is held by the seal, from the first time on; what is told after the closing is sealed again.
        """
        source, target = self.at_home.stream(self.stream_name), self.on_disk.stream(self.stream_name)
        data = source.read_bytes()
        if not target.exists() or target.stat().st_size != len(data):
            atomic.make_folder(target.parent)
            atomic.write_bytes(target, data)
            # Another home may have closed it; and a manifest alone is left by a closing that was killed.
            if _CLOSED in data or is_final(self.on_disk):
                write_seal(self.on_disk)
            else:
                hold_end(self.on_disk, self.stream_name, data)
        self.exchange(now=True)

    def exchange(self, *, now: bool = False, reading: bool = False) -> None:
        """Where the disk lies on another computer: bring home's copy of it, and that disk, up to date.

        `reading`: the copy only.
        """
        if self.link is not None:
            asked = supervisors(self.on_disk)
            self.link.exchange(self.on_disk, self.stream_name, asked, now=now, reading=reading)

    def fetch(self) -> None:
        """Where the disk lies on another computer: bring here, whole, what runs have delivered."""
        if self.link is not None:
            self.link.fetch(self.on_disk)

    def _streams_of_others(self) -> list[Path]:
        """Return the streams on the disk that this home does not write: of machines, and of other homes."""
        return [
            path for path in sorted(self.on_disk.journal.glob("*.jsonl")) if path.stem != self.stream_name
        ]

    def events(self) -> Mapping[str, Sequence[Event]]:
        """Return the events of every stream, from home's copy or the disk, whichever has more.

        Raises:
            JournalDamaged: a stream cannot be believed to its end.
        """
        longest: dict[str, bytes] = {}
        for folder in (self.at_home.journal, self.on_disk.journal):
            for path in sorted(folder.glob("*.jsonl")):
                data = path.read_bytes()
                if len(data) > len(longest.get(path.stem, b"")):
                    longest[path.stem] = data
        return {name: self._parse(name, data) for name, data in longest.items()}

    def _parse(self, name: str, data: bytes) -> Sequence[Event]:
        """Return the events of a stream; home looks ten times a second, and mostly nothing is new."""
        known = self._parsed.get(name)
        if known is None or known[0] != data:
            known = self._parsed[name] = (data, believed(parse_stream(name, data)).events)
        return known[1]

    def view(self) -> CampaignView:
        """Return the campaign as its streams tell it now."""
        now = self._clock.stamp()
        return project(self.events(), now.at, now)


def whole_lines(path: Path) -> bytes:
    """Return a stream's complete lines; a stream that is not there has none."""
    data = path.read_bytes() if path.exists() else b""
    return data[: data.rfind(b"\n") + 1]


# --- finding campaigns --------------------------------------------------------------------------------


def session_key(name: str, disk_uuid: str) -> str:
    """Return the name of home's folder of a campaign: the same campaign on another disk is another one."""
    return f"{name}-{disk_uuid[:8]}"


def known_sessions(home: Home, clock: Clock) -> list[Session]:
    """Return the campaigns of this home, the one used last at the end."""
    records = sorted(_records(home), key=_used)
    return [Session(home, Facts(**{key: record[key] for key in _KEYS}), clock) for record in records]


def _records(home: Home) -> list[dict[str, Any]]:
    return [read_record(path, *_KEYS) for path in sorted(home.campaigns.glob("*/campaign.json"))]


def _used(record: Mapping[str, Any]) -> int:
    """Return the number of a campaign's last use, which is counted: a file's time goes with a clock."""
    return int(record.get("used", 0))


def find_session(home: Home, clock: Clock, campaign_file: Path) -> Session:
    """Return the campaign of this file; without one there, the one used last in its folder, else at all.

    Raises:
        UsageError: this home knows no such campaign.
    """
    known = known_sessions(home, clock)
    wanted = campaign_file.absolute()
    sessions = [session for session in known if session.facts.campaign_file == str(wanted)]
    if not sessions and not campaign_file.exists():
        # A command that was run without a file in this folder comes before what was used last elsewhere.
        beside = [one for one in known if Path(one.facts.campaign_file).parent == wanted.parent]
        sessions = beside or known
    if not sessions:
        raise UsageError(
            _("no campaign was started from {file}").format(file=wanted),
            hint=_("start it with `lastro run`, or go to the folder of its campaign file"),
        )
    return sessions[-1]
