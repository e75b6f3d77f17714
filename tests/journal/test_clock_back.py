"""A clock that is set back, again and again: no event is lost, and no length of time is below zero."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from lastro.clock import ManualClock, iso
from lastro.journal.events import EventType
from lastro.journal.projections import project
from lastro.journal.streams import StreamWriter, read_stream
from lastro.journal.views import AttemptView
from lastro.view.model import page_of
from tests.view.story import START, adopted


class BackwardsClock(ManualClock):
    """Each look at it shows an earlier hour; what it measures goes on."""

    def now(self) -> datetime:
        self._now -= timedelta(hours=1)
        return self._now


def test_a_stream_keeps_the_order_in_which_it_was_written(tmp_path: Path) -> None:
    writer = StreamWriter(tmp_path / "a-1.jsonl", BackwardsClock(), {"campaign": "c"})
    for number in range(5):
        writer.append(EventType.RUN_DISPATCHED, run="a", machine=f"m-{number}", why="it is next")

    reading = read_stream(tmp_path / "a-1.jsonl")

    assert reading.damage is None
    assert [event.facts.get("machine") for event in reading.events[1:]] == [f"m-{n}" for n in range(5)]
    times = [event.at for event in reading.events]
    assert times == sorted(times, reverse=True)


def _backwards() -> dict[str, Any]:
    """Return a campaign in which each event was written at an earlier hour than the one before."""
    hours = count()
    return {
        name: [replace(event, at=iso(START - timedelta(hours=next(hours)))) for event in events]
        for name, events in adopted().streams.items()
    }


def _numbers(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _numbers(item, f"{path}.{key}")
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _numbers(item, f"{path}[{index}]")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value


#: How far something was from what was planned: less is less.
_DIFFERENCES = (".deviation", ".slack_used")


def _told(life: AttemptView) -> tuple[object, ...]:
    return (life.number, life.end, life.lost_steps, len(life.checkpoints))


def test_what_happened_is_told_the_same_and_nothing_lasts_less_than_nothing() -> None:
    straight = adopted().view()
    now = START - timedelta(days=300)

    view = project(_backwards(), now)

    assert [(run.name, run.status) for run in view.runs] == [(run.name, run.status) for run in straight.runs]
    for run, same in zip(view.runs, straight.runs, strict=True):
        assert [_told(life) for life in run.attempts] == [_told(life) for life in same.attempts]
    assert view.conclusion == straight.conclusion
    assert replace(view.cost, idle=None) == replace(straight.cost, idle=None)  # by what the provider measured
    assert view.cost.idle is not None
    assert view.cost.idle.seconds is None, "an attempt that ended before it began: nobody knows for how long"
    (interruption,) = view.interruptions
    assert interruption.seconds_to_next_step is None  # unknown, not negative
    page = page_of(view)
    below = [item for item in _numbers({"view": asdict(view), "page": asdict(page)}) if item[1] < 0]
    assert [path for path, _number in below if not path.endswith(_DIFFERENCES)] == []


def test_how_long_a_machine_that_still_runs_was_used_is_unknown_and_not_nothing() -> None:
    streams = _backwards()
    streams["home-1"] = [e for e in streams["home-1"] if e.type is not EventType.MACHINE_GONE]

    view = project(streams, START - timedelta(days=300))

    assert [machine.seconds for machine in view.machines] == [None]
    assert view.cost.total is None and view.cost.reason is not None
