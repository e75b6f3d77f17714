"""What speaks against a machine, and how sure that is."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastro.clock import Stamp
from lastro.journal.events import EventType as E
from lastro.journal.nodes import NodeRecord, Note, node_records, poisson_interval, uses
from tests.view.story import START, Story, planned

NOW = Stamp(START + timedelta(hours=10))


def records(*stories: Story, notes: dict[str, list[Note]] | None = None) -> dict[str, NodeRecord]:
    found = [use for story in stories for use in uses("digits", story.streams, NOW)]
    return {record.node: record for record in node_records(found, notes or {})}


def checked(story: Story, machine: str, box: str, verdict: str = "pass") -> None:
    story.home(2, E.PREFLIGHT_DONE, machine=machine, verdict=verdict, node_id=box, summary="wrong bits")


def gone(story: Story, machine: str, cause: str, hours: float = 2.0) -> None:
    story.home(130, E.MACHINE_GONE, machine=machine, cause=cause, seconds=hours * 3600)


def lost(story: Story, machine: str) -> None:
    story.home(
        129, E.ATTEMPT_LOST, run="id-control", attempt=1, machine=machine, why="no sign of life", step=3,
        committed_step=None, items=None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("count", "low", "high"),
    [(0, 0.0, 3.689), (1, 0.0253, 5.572), (3, 0.619, 8.767), (10, 4.795, 18.39), (100, 81.36, 121.6)],
)
def test_the_exact_interval_is_that_of_the_tables(count: int, low: float, high: float) -> None:
    """Garwood's table, 95 %."""
    assert list(poisson_interval(count)) == pytest.approx([low, high], rel=1e-3, abs=1e-9)


@settings(deadline=None, max_examples=30)
@given(count=st.integers(0, 60))
def test_the_interval_holds_what_was_seen_and_grows_with_it(count: int) -> None:
    low, high = poisson_interval(count)
    next_low, next_high = poisson_interval(count + 1)

    assert low <= count < high
    assert low < next_low and high < next_high


def test_a_machine_without_a_fault_in_ten_hours_may_still_have_one_in_three_hours() -> None:
    story = Story(planned())
    story.machine("m-1", 0)
    gone(story, "m-1", "deleted", hours=10)

    (record,) = records(story).values()

    assert (record.hours, record.low, record.bad) == (10.0, 0.0, None)
    assert record.high == pytest.approx(0.3689, abs=1e-4)


def test_the_same_box_under_two_names_in_two_campaigns_is_one_machine() -> None:
    first, second = Story(planned()), Story(planned())
    first.machine("m-1", 0)
    checked(first, "m-1", "box")
    gone(first, "m-1", "deleted", hours=1)
    second.machine("m-9", 0)
    checked(second, "m-9", "box", verdict="fail")
    gone(second, "m-9", "deleted", hours=3)

    (record,) = records(first, second).values()

    assert (record.node, record.machines, record.hours) == ("box", 2, 4.0)
    assert "preflight failed: wrong bits" in str(record.bad)


@pytest.mark.parametrize(
    ("cause", "faults"),
    [
        ("preempted without notice", 0),
        ("preempted with notice", 0),
        ("lease over", 0),
        ("its process is gone", 1),
        ("the box was started anew", 1),
    ],
)
def test_what_a_provider_takes_away_is_no_fault_of_the_machine(cause: str, faults: int) -> None:
    story = Story(planned())
    story.machine("m-1", 0)
    story.start("control", 1, 1)
    lost(story, "m-1")
    gone(story, "m-1", cause)

    (record,) = records(story).values()

    assert len(record.faults) == faults and (record.bad is not None) == bool(faults)


def test_a_job_that_hung_there_counts() -> None:
    story = Story(planned())
    story.machine("m-1", 0)
    story.start("control", 1, 1)
    story.end("control", 1, 5, "hung", 7, "no step for 300 s")

    (record,) = records(story).values()

    assert [fault.what for fault in record.faults] == ["a job hung: no step for 300 s"]


def test_a_note_names_a_machine_that_nothing_else_speaks_against_and_one_that_was_never_used() -> None:
    story = Story(planned())
    story.machine("m-1", 0)
    note = Note(at="2026-11-30T00:00:00.000000Z", text="its fan howls")

    found = records(story, notes={"n": [note], "elsewhere": [note]})

    assert found["n"].bad == "note: its fan howls"
    assert (found["elsewhere"].machines, found["elsewhere"].hours) == (0, None)


def test_hours_that_nobody_knows_leave_no_bound() -> None:
    story = Story(planned())
    story.machine("m-1", 0)
    story.home(1, E.MACHINE_GONE, machine="m-1", cause="its process is gone", seconds=None)
    lost(story, "m-1")

    (record,) = records(story).values()

    assert (record.hours, record.high, len(record.faults)) == (None, None, 1)
    assert "unknown time" in str(record.bad)
