"""When a terminal on a machine has to be left, and when that is told: by hand, around one moment."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from lastro import strictjson
from lastro.clock import iso
from lastro.rules import LimitKind, Limits
from lastro.rules.shell import ShellOrder, must_leave, to_be_told

NOON = datetime(2026, 12, 3, 12, 0, tzinfo=timezone.utc)


def before(seconds: float) -> datetime:
    return NOON - timedelta(seconds=seconds)


@pytest.mark.parametrize(("left", "leaves"), [(60.1, False), (60.0, True), (-3.0, True)])
def test_a_shell_is_ended_a_minute_before_the_first_limit(left: float, leaves: bool) -> None:
    limits = Limits(lease_end_at=iso(NOON + timedelta(hours=1)), deadline_at=iso(NOON))

    leave = must_leave(limits, before(left))

    assert (leave is not None) is leaves
    assert leave is None or leave.limit == LimitKind.DEADLINE.value


def test_idleness_ends_no_shell() -> None:
    assert must_leave(Limits(idle_seconds=0.0), NOON) is None


@pytest.mark.parametrize(
    ("looked", "looks", "word"),
    [
        (662, 661, None),  # ten minutes and a minute before it is not yet
        (661, 660, "10 min"),
        (660, 659, None),  # told once
        (181, 180, "2 min"),
        (700, 50, None),  # too late to be told: it is ended
    ],
)
def test_an_end_that_comes_near_is_told_ten_and_two_minutes_before_once_each(
    looked: float, looks: float, word: str | None
) -> None:
    told = to_be_told(Limits(lease_end_at=iso(NOON)), before(looked), before(looks))

    assert (told is None) is (word is None)
    assert word is None or (told is not None and word in told and "lease" in told)


def test_what_is_asked_for_is_read_as_it_was_written() -> None:
    order = ShellOrder(
        token="t",
        campaign="c",
        machine="m",
        node="n",
        campaign_folder="/d/campaigns/c",
        workdir="/w",
        command=("ls", "-l"),
        home_stream="home-1",
        home_head="0",
        limits=Limits(lease_end_at=iso(NOON)),
    )

    assert ShellOrder.from_json(strictjson.loads(strictjson.dumps(order.as_json()))) == order
