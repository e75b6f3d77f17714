"""Which machines are late, by a clock of the test."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

from lastro.flow.lateness import Lateness
from lastro.providers.base import Machine, MachineState
from lastro.rules import MoveOn

RULES = MoveOn(boot_seconds=600, queue_seconds=3600)


def machine(queued: str | None = None, state: MachineState = MachineState.BOOTING) -> Machine:
    return Machine(
        id="m-1",
        node="n",
        tag="t",
        state=state,
        workdir=Path("/work"),
        created_at=datetime(2026, 11, 30, tzinfo=timezone.utc),
        queued=queued,
    )


def late(rules: MoveOn, first: Machine, then: Machine, seconds: float, *, other: bool) -> str | None:
    """Return the code with which a machine is late that was looked at twice; None: it is not."""
    lateness = Lateness(rules)
    lateness.look([first], 1000.0, has_other=other)
    found = lateness.look([then], 1000.0 + seconds, has_other=other)
    return found["m-1"].what if found else None


def test_a_boot_has_its_time_and_no_more_whether_or_not_there_is_another_offer() -> None:
    for other in (True, False):
        assert late(RULES, machine(), machine(), 600.0, other=other) is None
        assert late(RULES, machine(), machine(), 600.1, other=other) == "boot"


def test_a_place_in_a_queue_is_given_up_for_another_offer_only() -> None:
    waiting = machine("it waits in the queue (Priority)")

    assert late(RULES, waiting, waiting, 3600.0, other=True) is None
    assert late(RULES, waiting, waiting, 3600.1, other=True) == "queue"
    assert late(RULES, waiting, waiting, 36_000.0, other=False) is None
    assert late(MoveOn(), waiting, waiting, 1e9, other=True) is None


def test_what_has_waited_for_its_turn_has_all_its_time_to_boot() -> None:
    waiting = machine("it waits in the queue")

    assert late(RULES, waiting, machine(), 3000.0, other=True) is None


def test_what_is_up_is_never_late() -> None:
    assert late(RULES, machine(), machine(state=MachineState.RUNNING), 1e9, other=True) is None


def test_it_says_how_long_it_waited_and_for_what() -> None:
    lateness = Lateness(RULES)
    waiting = machine("it waits in the queue (PartitionDown)")
    lateness.look([waiting], 0.0, has_other=True)

    why = lateness.look([waiting], 7200.0, has_other=True)["m-1"].why

    assert why == "machine m-1 had not begun after 2 h 00 min: it waits in the queue (PartitionDown)"
