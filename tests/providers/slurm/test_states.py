"""What squeue prints, and what it means for the machine that a job is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastro.providers.base import MachineState
from lastro.providers.slurm.states import Job, meaning_of, parse_jobs, parse_used

LISTED = """\
7|PENDING|Resources||0:00|2026-11-30T18:00:00|lastro-a-1
8|RUNNING|None|n[1-2]|1-02:03:04|2026-11-30T12:00:00|lastro-b-2
3|CANCELLED|None||0:00|N/A|lastro-b-2
9|RUNNING|None|n1|5:07|2026-11-30T12:00:00|somebody's|job|with|bars
words of a login message
"""


def job(state: str) -> Job:
    return Job(number=1, name="x", state=state, reason=None, nodes="", used_seconds=0.0, expected=None)


def test_jobs_are_read_by_number_and_lines_that_are_not_of_that_form_are_passed_over() -> None:
    """26 h 3 min 4 s are 93,784 s."""
    found = parse_jobs(LISTED)
    assert {number: one.name for number, one in found.items()} == {
        7: "lastro-a-1",
        8: "lastro-b-2",
        3: "lastro-b-2",
    }
    assert found[7].expected == "2026-11-30T18:00:00"
    assert (found[8].used_seconds, found[8].reason, found[8].expected) == (93784.0, None, None)


@given(
    days=st.integers(0, 30), hours=st.integers(0, 23), minutes=st.integers(0, 59), seconds=st.integers(0, 59)
)
def test_any_time_used_is_read_as_it_is_written(days: int, hours: int, minutes: int, seconds: int) -> None:
    text = f"{days}-{hours:02}:{minutes:02}:{seconds:02}"
    assert parse_used(text) == ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def test_a_time_that_is_none_is_nothing_used() -> None:
    assert [parse_used("INVALID"), parse_used(""), parse_used("0:00")] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("state", "seated", "meant"),
    [
        ("PENDING", False, MachineState.BOOTING),
        ("CONFIGURING", False, MachineState.BOOTING),
        ("RUNNING", False, MachineState.BOOTING),
        ("RUNNING", True, MachineState.RUNNING),
        ("SUSPENDED", True, MachineState.RUNNING),
        ("COMPLETING", True, MachineState.LEAVING),
        ("COMPLETED", True, MachineState.GONE),
        ("CANCELLED", False, MachineState.GONE),
        ("NODE_FAIL", True, MachineState.GONE),
        ("A_STATE_OF_TOMORROW", True, MachineState.UNKNOWN),
    ],
)
def test_each_state_has_one_meaning(state: str, seated: bool, meant: MachineState) -> None:
    assert meaning_of(job(state), seated=seated).state is meant


def test_only_what_waits_for_its_turn_is_queued_and_says_why() -> None:
    waiting = parse_jobs(LISTED)[7]
    meaning = meaning_of(waiting, seated=False)
    assert meaning.queued
    assert meaning.cause == (
        "it waits in the queue (Resources), Slurm expects it to begin at 2026-11-30T18:00:00"
    )
    assert not meaning_of(job("RUNNING"), seated=False).queued
