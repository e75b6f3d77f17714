"""How long an attempt has worked, from events with times that were worked out by hand."""

from __future__ import annotations

from lastro.journal.events import EventType as E
from lastro.journal.streams import Event
from lastro.journal.work import worked_seconds


def event(kind: E, second: int, **facts: object) -> Event:
    at = f"2026-11-30T12:00:{second:02}.000000Z"
    return Event(stream="run-1", seq=second, at=at, type=kind, facts=facts)


def test_waiting_for_room_is_no_work() -> None:
    """20 s by the machine's clock, 8 of them waiting; what was waited after the end is not of it."""
    events = [
        event(E.ATTEMPT_STARTED, 0),
        event(E.DISK_ROOM, 9, seconds=8.0),
        event(E.ATTEMPT_ENDED, 30, seconds=20.0),
        event(E.DISK_ROOM, 50, seconds=19.0),
    ]

    assert worked_seconds(events) == 12.0


def test_one_that_told_no_end_has_worked_at_least_to_the_last_thing_that_it_recorded() -> None:
    events = [event(E.ATTEMPT_STARTED, 5), event(E.CHECKPOINT_COMMITTED, 45)]

    assert worked_seconds(events) == 40.0


def test_a_clock_that_was_set_back_makes_no_negative_work() -> None:
    events = [event(E.ATTEMPT_STARTED, 45), event(E.CHECKPOINT_COMMITTED, 5)]

    assert worked_seconds(events) == 0.0


def test_what_has_not_started_has_not_worked() -> None:
    assert worked_seconds([event(E.STREAM_OPENED, 1)]) is None
