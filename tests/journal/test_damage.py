"""Everything that can happen to the streams of a campaign: each is named, and nothing is built on it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from lastro import atomic, strictjson
from lastro.clock import ManualClock
from lastro.closeout.last_manifest import write_close_manifest
from lastro.disk.facts import open_disk
from lastro.errors import JournalDamaged
from lastro.flow.session import Facts, Session, session_key
from lastro.flow.verifying import require_whole, verify_folder, verify_session
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.paths import CampaignFolder, Disk, Home, stream_of_home
from lastro.storage.home import home_id

RUN = "0123456789abcdef"


@dataclass
class Told:
    """A small campaign: home's stream, two attempts', copies of all of them, and a closing."""

    session: Session

    @property
    def home(self) -> Path:
        return self.session.at_home.journal

    @property
    def disk(self) -> Path:
        return self.session.on_disk.journal

    @property
    def own(self) -> str:
        return f"{self.session.stream_name}.jsonl"

    def said(self) -> dict[str, str]:
        """Return what is wrong, by place and file."""
        places = {str(self.home): "home", str(self.disk): "disk"}
        return {
            f"{places.get(str(Path(each.path).parent), 'close')}/{Path(each.path).name}": each.why
            for each in verify_session(self.session)
            if each.why is not None
        }


@pytest.fixture
def told(tmp_path: Path) -> Told:
    clock = ManualClock()
    home, disk = Home(tmp_path / "home"), Disk(tmp_path / "disk")
    facts = Facts(
        name="c",
        campaign_file=str(tmp_path / "campaign.yaml"),
        disk=str(disk.root),
        provider="local",
        key=session_key("c", open_disk(disk).uuid),
    )
    session = Session(home, facts, clock)
    writer = StreamWriter(session.at_home.stream(stream_of_home(home_id(home))), clock, {"campaign": "c"})
    for number in (1, 2):
        opening = {"home_stream": session.stream_name, "home_head": writer.head.digest}
        writer.append(EventType.RUN_DISPATCHED, run=RUN, machine=f"m-{number}", why="it is next")
        machine = StreamWriter(session.on_disk.stream(f"{RUN}-{number}"), clock, opening)
        machine.append(EventType.ATTEMPT_ADOPTED, found=True)
        machine.append(EventType.RUN_ENDED, verdict="interrupted", why="weather")
        machine.close()
        for source, head in session.ingest().items():
            writer.append(EventType.STREAM_INGESTED, source=source, events=head.seq, head=head.digest)
    session.mirror()
    root = write_close_manifest(session.on_disk)
    writer.append(EventType.CAMPAIGN_CLOSED, exit_code=0, root_digest=root, report_html="", report_json="")
    session.mirror()
    writer.close()
    return Told(session)


def _lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def _cut(path: Path, lines: int) -> int:
    return path.write_bytes(b"".join(_lines(path)[:-lines]))


def _edit(path: Path, old: bytes, new: bytes) -> None:
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new, 1))


def test_a_whole_journal_is_believed(told: Told) -> None:
    assert told.said() == {}
    require_whole(told.session)
    assert [each.why for each in verify_folder(told.disk)] == [None] * 3


FIRST, SECOND = f"{RUN}-1.jsonl", f"{RUN}-2.jsonl"


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        # one line changed: in the middle, the first, and the last, which no following line holds on to
        (lambda t: _edit(t.disk / FIRST, b"true", b"null"), {f"disk/{FIRST}": "damaged at line 3"}),
        (lambda t: _edit(t.disk / FIRST, b'"seq":1', b'"seq":7'), {f"disk/{FIRST}": "damaged at line 1"}),
        (lambda t: _edit(t.disk / FIRST, b"weather", b"whether"), {f"disk/{FIRST}": "it is not what"}),
        (lambda t: _edit(t.home / SECOND, b"weather", b"whether"), {f"home/{SECOND}": "it is not what"}),
        # a line removed, doubled, two exchanged
        (
            lambda t: (t.disk / FIRST).write_bytes(b"".join(_lines(t.disk / FIRST)[::2])),
            {f"disk/{FIRST}": "damaged at line 2: event 3 follows event 1"},
        ),
        (
            lambda t: (t.disk / FIRST).write_bytes(
                b"".join([*_lines(t.disk / FIRST), _lines(t.disk / FIRST)[-1]])
            ),
            {f"disk/{FIRST}": "damaged at line 4"},
        ),
        (
            lambda t: (t.disk / FIRST).write_bytes(b"".join(reversed(_lines(t.disk / FIRST)))),
            {f"disk/{FIRST}": "damaged at line 1"},
        ),
        # the tail cut off, at a line's end: the chain itself is whole
        (
            lambda t: _cut(t.disk / FIRST, 1),
            {f"disk/{FIRST}": "it has 2 events, but home-"},
        ),
        (lambda t: _cut(t.home / SECOND, 2), {f"home/{SECOND}": "its end was cut off"}),
        (lambda t: (t.disk / FIRST).write_bytes(b""), {f"disk/{FIRST}": "it has 0 events"}),
        # home's own stream, cut in both places before the second attempt: that attempt holds its head
        (
            lambda t: [_cut(folder / t.own, 4) for folder in (t.home, t.disk)],
            {"home/HOME": "its end was cut off", "disk/HOME": "its end was cut off"},
        ),
        # torn in the middle of a line: the rest is believed, and what is missing is told
        (
            lambda t: (t.disk / FIRST).write_bytes((t.disk / FIRST).read_bytes()[:-30]),
            {f"disk/{FIRST}": "it has 2 events"},
        ),
        # a stream missing, in one place or in both
        (lambda t: (t.disk / SECOND).unlink(), {f"disk/{SECOND}": "it is not there, but"}),
        (lambda t: (t.home / FIRST).unlink(), {f"home/{FIRST}": "it is not there, but"}),
        (
            lambda t: [(folder / SECOND).unlink() for folder in (t.home, t.disk)],
            {f"home/{SECOND}": "it is not there", f"disk/{SECOND}": "it is not there"},
        ),
        (lambda t: (t.disk / t.own).unlink(), {"disk/HOME": "it is not there"}),
        # one stream under the name of another
        (
            lambda t: shutil.copy(t.disk / FIRST, t.disk / SECOND),
            {f"disk/{SECOND}": "damaged at line 1"},
        ),
        # no text at all
        (lambda t: (t.disk / FIRST).write_bytes(b"\x93\xff\x00\n"), {f"disk/{FIRST}": "damaged at line 1"}),
        (
            lambda t: (t.disk / FIRST).write_bytes(b"[" * 99_999 + b"\n"),
            {f"disk/{FIRST}": "damaged at line 1"},
        ),
        (lambda t: (t.disk / FIRST).write_bytes(b"null\n"), {f"disk/{FIRST}": "damaged at line 1"}),
        # the closing manifest
        (
            lambda t: _edit(t.session.on_disk.close_manifest, b'"seq": 3', b'"seq": 2'),
            {"close/manifest.json": "its root digest is not that", f"disk/{FIRST}": "the closing manifest"},
        ),
        (lambda t: t.session.on_disk.close_manifest.write_text("{"), {"close/manifest.json": "not the JSON"}),
        (lambda t: t.session.on_disk.close_manifest.write_text("[]"), {"close/manifest.json": "manifest"}),
    ],
)
def test_damage_is_named_at_its_place_and_nothing_is_closed_over_it(
    told: Told, damage: Callable[[Told], object], found: dict[str, str]
) -> None:
    damage(told)

    said = {key.replace(told.own, "HOME"): why for key, why in told.said().items()}

    assert said.keys() == found.keys(), said
    for place, words in found.items():
        assert words in said[place]
    with pytest.raises(JournalDamaged, match="cannot be believed"):
        require_whole(told.session)


def test_a_closing_that_was_made_again_over_a_cut_stream_is_not_what_home_recorded(told: Told) -> None:
    """Whoever cuts a stream can make a fitting manifest for the rest; its root digest is another one."""
    for folder in (told.home, told.disk):
        _cut(folder / told.own, 1)  # the closing itself
    data = (told.disk / told.own).read_bytes()
    _cut(told.disk / FIRST, 1)
    write_close_manifest(told.session.on_disk)
    (told.disk / told.own).write_bytes(data)

    assert "it has 2 events" in told.said()[f"disk/{FIRST}"]


@pytest.mark.parametrize("later", [0, 1])
def test_a_stream_that_was_empty_at_the_closing_is_believed(tmp_path: Path, later: int) -> None:
    """A supervisor that is killed between making its stream and the first line leaves an empty one."""
    stream = CampaignFolder(tmp_path).stream(f"{RUN}-1")
    stream.parent.mkdir()
    stream.write_bytes(b"")
    write_close_manifest(CampaignFolder(tmp_path))
    if later:
        StreamWriter(stream, ManualClock(), {"campaign": "c"}).close()

    assert [(each.events, each.why) for each in verify_folder(stream.parent)] == [(later, None)]


def test_a_mirror_that_lags_behind_is_no_damage(told: Told) -> None:
    """Home's stream is copied every few seconds: its copy may end early, but not before an attempt began."""
    told.session.on_disk.close_manifest.unlink()
    _cut(told.disk / told.own, 2)

    assert told.said() == {}


def test_a_journal_that_grows_while_it_is_read_is_believed(told: Told) -> None:
    """Before each stream is opened to be read, all have grown, home has recorded it, and one has begun."""
    clock = ManualClock()
    home = StreamWriter(told.home / told.own, clock, {})
    machine = StreamWriter(told.disk / FIRST, clock, {})
    reading, begun = False, 2

    def grow(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal reading, begun
        if not reading or event != "open" or not str(arguments[0]).endswith(".jsonl"):
            return
        reading, begun = False, begun + 1
        machine.append(EventType.ATTEMPT_ADOPTED, found=True)
        opening = {"home_stream": told.session.stream_name, "home_head": home.head.digest}
        StreamWriter(told.session.on_disk.stream(f"{RUN}-{begun}"), clock, opening).close()
        for source, head in told.session.ingest().items():
            home.append(EventType.STREAM_INGESTED, source=source, events=head.seq, head=head.digest)
        told.session.mirror()
        reading = True

    sys.addaudithook(grow)
    reading = True
    said = told.said()
    reading = False

    assert said == {}
    assert begun > 10


def test_a_disk_alone_can_be_verified_by_a_stranger(told: Told) -> None:
    _cut(told.disk / SECOND, 1)

    (bad,) = [each for each in verify_folder(told.disk) if each.why is not None]

    assert bad.path.endswith(SECOND)
    assert "its end was cut off" in str(bad.why)


def test_a_source_that_lost_its_end_is_not_taken_for_news(told: Told) -> None:
    """Home's copy has more than the disk: what was acknowledged once is not forgotten."""
    before = (told.home / FIRST).read_bytes()
    _cut(told.disk / FIRST, 1)

    with pytest.raises(JournalDamaged, match="does not continue"):
        told.session.ingest()

    assert (told.home / FIRST).read_bytes() == before


def test_a_fresh_journal_without_anything_recorded_elsewhere_is_believed(tmp_path: Path) -> None:
    atomic.make_folder(tmp_path / "journal")
    StreamWriter(tmp_path / "journal/a-1.jsonl", ManualClock(), {"campaign": "c"}).close()

    assert [each.why for each in verify_folder(tmp_path / "journal")] == [None]
    assert strictjson.loads((tmp_path / "journal/a-1.jsonl").read_bytes())["type"] == "stream.opened"
