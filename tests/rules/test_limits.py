"""Limits, worked out by hand around one moment."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest

from lastro import strictjson
from lastro.billing import Lease, LeaseKind, affordable_seconds
from lastro.clock import iso
from lastro.rules import (
    Cause,
    End,
    Ended,
    Leave,
    Life,
    LimitKind,
    Limits,
    RestartPolicy,
    Verdict,
    after_attempt,
    cause_of,
    judge_limits,
    leaving_seconds,
)
from lastro.units import Money

NOON = datetime(2026, 12, 3, 12, 0, tzinfo=timezone.utc)
HOURLY = Lease(offer="box", kind=LeaseKind.HOURLY, price=Money(Decimal("0.60"), "USD"), unit_seconds=60)


def usd(text: str) -> Money:
    return Money(Decimal(text), "USD")


def before(seconds: float) -> datetime:
    return NOON - timedelta(seconds=seconds)


def test_a_save_twice_as_long_as_the_last_one_still_fits() -> None:
    """Twice 40 s, the step in work of 10 s, and 5 s for the end."""
    assert leaving_seconds(40.0, 10.0, grace_seconds=30.0) == 95.0
    assert leaving_seconds(None, 0.0, grace_seconds=30.0) == 35.0


@pytest.mark.parametrize(("left", "leaves"), [(95.1, False), (95.0, True), (20.0, True), (-3.0, True)])
def test_a_job_leaves_when_the_lease_lasts_no_longer_than_its_save(left: float, leaves: bool) -> None:
    leave = judge_limits(Limits(lease_end_at=iso(NOON)), before(left), leaving=95.0)

    assert (leave is not None) is leaves
    if leave is not None:
        assert (leave.end, leave.limit) == (End.LIMIT, LimitKind.LEASE_END.value)


def test_the_last_words_come_before_the_machine_goes() -> None:
    limits = Limits(lease_end_at=iso(NOON))

    assert judge_limits(limits, before(60), leaving=95.0).seconds == 55.0  # type: ignore[union-attr]
    assert judge_limits(limits, before(2), leaving=95.0).seconds == 95.0  # type: ignore[union-attr]


def test_a_budget_ends_when_the_next_billed_unit_would_exceed_it() -> None:
    """0.60 USD an hour are 0.01 a minute: 0.105 USD last ten whole minutes, from 11:50 to 12:00."""
    limits = Limits(budget=usd("0.105"), lease=HOURLY, billed_since=iso(before(600)))

    assert affordable_seconds(HOURLY, usd("0.105")) == 600
    assert limits.budget_end_at == NOON
    assert judge_limits(limits, before(31), leaving=30.0) is None
    leave = judge_limits(limits, before(30), leaving=30.0)
    assert leave is not None
    assert (leave.limit, leave.seconds) == ("budget", 30.0)
    assert "0.10 USD" in leave.why or "0.11 USD" in leave.why


@pytest.mark.parametrize(
    "lease",
    [
        replace(HOURLY, kind=LeaseKind.LOT),
        replace(HOURLY, price=None),
        replace(HOURLY, price=Money(Decimal("0.60"), "BRL")),
        replace(HOURLY, price=usd("0")),
    ],
)
def test_time_does_not_use_up_a_budget_that_it_does_not_touch(lease: Lease) -> None:
    assert affordable_seconds(lease, usd("1")) is None
    assert Limits(budget=usd("1"), lease=lease, billed_since=iso(NOON)).budget_end_at is None


def test_less_than_the_least_that_is_billed_lasts_for_nothing() -> None:
    assert affordable_seconds(replace(HOURLY, minimum_seconds=3600), usd("0.59")) == 0
    assert affordable_seconds(HOURLY, usd("-1")) == 0


def test_of_several_limits_the_one_reached_first_is_told() -> None:
    limits = Limits(deadline_at=iso(NOON), lease_end_at=iso(before(-10)))

    assert judge_limits(limits, before(20), leaving=60.0).limit == "deadline"  # type: ignore[union-attr]


@pytest.mark.parametrize(("idle", "leaves"), [(None, False), (9.9, False), (10.0, True)])
def test_a_job_that_does_nothing_leaves_when_it_has_done_so_long_enough(
    idle: float | None, leaves: bool
) -> None:
    leave = judge_limits(Limits(idle_seconds=10.0), NOON, leaving=30.0, idle_for=idle)

    assert (leave is not None) is leaves


def test_without_limits_nothing_is_reached() -> None:
    assert judge_limits(Limits(), NOON, leaving=1e9, idle_for=1e9) is None


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [
        (LimitKind.LEASE_END, Verdict.INTERRUPTED),
        (LimitKind.DEADLINE, Verdict.PAUSED),
        (LimitKind.BUDGET, Verdict.PAUSED),
        (LimitKind.IDLE, Verdict.PAUSED),
        (LimitKind.PILOT, Verdict.PAUSED),
    ],
)
def test_a_run_goes_on_elsewhere_after_a_lease_and_waits_for_a_person_after_the_others(
    kind: LimitKind, verdict: Verdict
) -> None:
    leave = Leave(end=End.LIMIT, why="because", seconds=1.0, limit=kind.value)
    cause = cause_of(Ended(exit_code=85, signal=None, step=9, leave=leave))
    life = Life(number=1, cause=cause, progress_before=None, progress_after=None)

    assert cause.limit == kind.value
    assert after_attempt([life], RestartPolicy()).verdict is verdict


def test_a_job_that_was_done_meanwhile_reached_no_limit() -> None:
    leave = Leave(end=End.LIMIT, why="because", seconds=1.0, limit="budget")

    assert cause_of(Ended(exit_code=0, signal=None, step=9, leave=leave)) == Cause(
        end=End.DONE, why="the command ended with exit code 0", exit_code=0, step=9
    )


def test_limits_survive_their_file() -> None:
    limits = Limits(
        lease_end_at=iso(NOON),
        deadline_at=iso(NOON),
        budget=usd("1.5"),
        lease=replace(HOURLY, order="4711", ends_at=iso(NOON)),
        billed_since=iso(NOON),
        idle_seconds=60.0,
    )

    assert Limits.from_json(strictjson.loads(strictjson.dumps(limits.as_json()))) == limits
    assert Limits.from_json(strictjson.loads(strictjson.dumps(Limits().as_json()))) == Limits()
