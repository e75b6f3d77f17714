"""The index is a cache: whatever is done to its file, it tells the truth or nothing."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastro.journal.index import made_from, read_index, write_index

ROWS = {"a-1": ("f1", '{"question": "é?"}'), "b-2": ("f2", "x" * 9000)}


@pytest.fixture
def index(tmp_path: Path) -> Path:
    path = tmp_path / "index.sqlite"
    assert write_index(path, ROWS)
    return path


def test_what_was_written_is_read(index: Path) -> None:
    assert read_index(index) == ROWS


def test_rows_that_are_not_given_again_are_gone(index: Path) -> None:
    write_index(index, {"a-1": ROWS["a-1"]})

    assert read_index(index) == {"a-1": ROWS["a-1"]}


def test_without_a_file_it_holds_nothing_and_makes_none(tmp_path: Path) -> None:
    assert read_index(tmp_path / "none.sqlite") == {}
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_a_damaged_file_gives_rows_as_they_were_or_none(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Any bytes changed, or the end cut off: no row is ever another one."""
    path = tmp_path_factory.mktemp("index") / "index.sqlite"
    write_index(path, ROWS)
    content = bytearray(path.read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=40)):
        content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(bytes(content[: data.draw(st.integers(0, len(content)))]))

    found = read_index(path)

    assert all(ROWS.get(key) == row for key, row in found.items())
    assert write_index(path, ROWS)
    assert read_index(path) == ROWS


def test_a_row_of_other_content_than_its_sum_is_not_believed(index: Path) -> None:
    with sqlite3.connect(index) as connection:
        connection.execute("UPDATE folded SET document = '{}' WHERE key = 'a-1'")
    connection.close()

    assert read_index(index) == {"b-2": ROWS["b-2"]}


def test_another_version_is_begun_anew(index: Path) -> None:
    with sqlite3.connect(index) as connection:
        connection.execute("PRAGMA user_version = 99")
        connection.execute("ALTER TABLE folded RENAME COLUMN document TO other")
    connection.close()

    assert read_index(index) == {}
    assert write_index(index, ROWS)
    assert read_index(index) == ROWS


def test_one_that_another_process_holds_is_passed_by(index: Path) -> None:
    holder = sqlite3.connect(index, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        assert read_index(index) == {}
        assert not write_index(index, {})
    finally:
        holder.execute("ROLLBACK")
        holder.close()

    assert read_index(index) == ROWS


def test_where_nothing_can_be_written_nothing_is(tmp_path: Path) -> None:
    assert not write_index(tmp_path / "no such folder" / "index.sqlite", ROWS)


def test_a_folder_in_its_place_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "index.sqlite").mkdir()

    assert read_index(tmp_path / "index.sqlite") == {}
    assert not write_index(tmp_path / "index.sqlite", ROWS)


def _write_for_ever(path: Path) -> None:
    while True:
        write_index(path, ROWS)


def test_killed_writers_leave_an_index_that_is_true(tmp_path: Path) -> None:
    """Four writers at once, each killed in the middle of its work."""
    path = tmp_path / "index.sqlite"
    fork = multiprocessing.get_context("fork")
    writers = [fork.Process(target=_write_for_ever, args=(path,)) for _number in range(4)]
    for writer in writers:
        writer.start()
    time.sleep(0.3)
    for writer in writers:
        assert writer.pid is not None
        os.kill(writer.pid, signal.SIGKILL)
        writer.join()

    assert all(ROWS.get(key) == row for key, row in read_index(path).items())
    assert write_index(path, ROWS)
    assert read_index(path) == ROWS


def test_what_a_row_was_made_from_is_another_after_any_event(tmp_path: Path) -> None:
    stream = tmp_path / "home-1.jsonl"
    stream.write_bytes(b"x" * 5000 + b"\n")
    before = made_from((tmp_path,), "en")
    stream.write_bytes(b"x" * 5000 + b"\ny\n")

    assert made_from((tmp_path,), "en") != before
    assert made_from((tmp_path,), "pt_BR") != made_from((tmp_path,), "en")
    assert made_from((tmp_path, tmp_path / "none"), "en") != made_from((tmp_path / "none", tmp_path), "en")
