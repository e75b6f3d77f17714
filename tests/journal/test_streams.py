"""Streams of events: chained, torn, changed, copied."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lastro import strictjson
from lastro.clock import ManualClock
from lastro.errors import JournalDamaged
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter, ingest, parse_stream, read_stream


def _writer(path: Path) -> StreamWriter:
    return StreamWriter(path, ManualClock(), {"campaign": "digits"})


def _three(path: Path) -> None:
    writer = _writer(path)
    writer.append(EventType.RUN_SUPERSEDED, run="a", name="control")
    writer.append(EventType.RUN_SUPERSEDED, run="b", name="shift")
    writer.close()


def test_what_was_written_is_read_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "home-1.jsonl"
    _three(path)

    reading = read_stream(path)

    assert [event.type for event in reading.events] == [
        EventType.STREAM_OPENED,
        EventType.RUN_SUPERSEDED,
        EventType.RUN_SUPERSEDED,
    ]
    assert [event.seq for event in reading.events] == [1, 2, 3]
    assert reading.events[2].facts["name"] == "shift"
    assert reading.damage is None


def test_a_writer_goes_on_where_the_last_one_stopped(tmp_path: Path) -> None:
    path = tmp_path / "home-1.jsonl"
    _three(path)

    _writer(path).append(EventType.RUN_SUPERSEDED, run="c", name="wide")

    reading = read_stream(path)
    assert reading.damage is None
    assert reading.head.seq == 4


@pytest.mark.parametrize("line", [0, 1, 2])
def test_a_changed_line_is_found_at_its_place(tmp_path: Path, line: int) -> None:
    path = tmp_path / "home-1.jsonl"
    _three(path)
    lines = path.read_bytes().split(b"\n")
    lines[line] = lines[line].replace(b'"at":"2026', b'"at":"2025')
    path.write_bytes(b"\n".join(lines))

    reading = read_stream(path)

    if line < 2:  # the next line's link no longer fits
        assert reading.damage is not None
        assert reading.damage.line == line + 2
    else:  # only a head kept elsewhere can show a change of the last line
        assert reading.damage is None
        assert (
            reading.head.digest
            != parse_stream("home-1", _bytes_of(tmp_path / "again" / "home-1.jsonl")).head.digest
        )


def _bytes_of(path: Path) -> bytes:
    _three(path)
    return path.read_bytes()


def test_a_removed_line_is_found(tmp_path: Path) -> None:
    path = tmp_path / "home-1.jsonl"
    _three(path)
    lines = path.read_bytes().split(b"\n")
    del lines[1]
    path.write_bytes(b"\n".join(lines))

    damage = read_stream(path).damage

    assert damage is not None
    assert damage.line == 2


def test_a_torn_last_line_is_cut_and_told(tmp_path: Path) -> None:
    path = tmp_path / "home-1.jsonl"
    _three(path)
    with path.open("ab") as file:
        file.write(b'{"seq":4,"prev":"abc')

    writer = _writer(path)
    writer.append(EventType.RUN_SUPERSEDED, run="c", name="wide")

    reading = read_stream(path)
    assert reading.damage is None
    assert [event.type for event in reading.events[-2:]] == [EventType.STREAM_CUT, EventType.RUN_SUPERSEDED]
    assert reading.events[-2].facts["bytes"] == 20


def test_nothing_is_written_to_a_damaged_stream(tmp_path: Path) -> None:
    path = tmp_path / "home-1.jsonl"
    _three(path)
    path.write_bytes(path.read_bytes().replace(b"shift", b"shirt").replace(b"control", b"kontrol"))
    before = path.read_bytes()

    with pytest.raises(JournalDamaged, match="line 3"):
        _writer(path)

    assert path.read_bytes() == before


def test_a_copy_grows_with_its_source(tmp_path: Path) -> None:
    source, copy = tmp_path / "disk" / "a-1.jsonl", tmp_path / "home" / "a-1.jsonl"
    writer = _writer(source)
    first = ingest(source, copy)
    writer.append(EventType.RUN_SUPERSEDED, run="a", name="control")
    second = ingest(source, copy)

    assert first is not None and first.head.seq == 1
    assert second is not None and second.head.seq == 2
    assert ingest(source, copy) is None
    assert copy.read_bytes() == source.read_bytes()


def test_a_source_that_was_rewritten_is_refused_and_the_copy_kept(tmp_path: Path) -> None:
    source, copy = tmp_path / "disk" / "a-1.jsonl", tmp_path / "home" / "a-1.jsonl"
    _three(source)
    ingest(source, copy)
    kept = copy.read_bytes()
    source.unlink()
    writer = _writer(source)
    for name in ("x", "y", "z", "w"):
        writer.append(EventType.RUN_SUPERSEDED, run=name, name=name)

    with pytest.raises(JournalDamaged, match="does not continue"):
        ingest(source, copy)

    assert copy.read_bytes() == kept


def test_numbers_that_json_cannot_hold_are_marked(tmp_path: Path) -> None:
    path = tmp_path / "a-1.jsonl"
    _writer(path).append(EventType.STOP_RULED, rule="non_finite", value=float("nan"))

    line = path.read_bytes().splitlines()[-1]

    assert strictjson.loads(line)["value"] == "NaN"


_APPENDER = """
import os, sys
from pathlib import Path
from lastro.clock import SystemClock
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
writer = StreamWriter(Path(sys.argv[1]), SystemClock(), {"campaign": "c"})
while True:
    event = writer.append(EventType.RUN_SUPERSEDED, run="a", name="n" * 300)
    os.write(1, b"%d\\n" % event.seq)
"""


def test_no_acknowledged_event_is_lost_to_kill_9(tmp_path: Path) -> None:
    """Five writers one after another are killed in the middle; the chain holds all that they announced."""
    path = tmp_path / "home-1.jsonl"
    for _round in range(5):
        process = subprocess.Popen([sys.executable, "-c", _APPENDER, str(path)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        announced = process.stdout.read().split(b"\n")[:-1]
        process.wait()
        reading = read_stream(path)
        assert reading.damage is None
        assert reading.head.seq >= int(announced[-1]) if announced else True
