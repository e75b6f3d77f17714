from __future__ import annotations

import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lastro.billing import Lease, LeaseKind
from lastro.errors import PlanError, UsageError
from lastro.plan.lifetimes import memoryless, observed_lifetimes
from lastro.plan.spot_lives import SpotEstimate, Work, expect_spot

SPOT = Lease(offer="spot", kind=LeaseKind.SPOT, price=None)


def expect(work: Work, hours: list[float], *, away: float | None = 0.0) -> SpotEstimate:
    return expect_spot(work, SPOT, observed_lifetimes(hours, origin="these"), away=away)


def test_machines_that_outlive_the_work_are_taken_once() -> None:
    """2 h of work, start 0.5 h, saves of 0.1 h every hour: one save between, none at the end: 2.6 h."""
    found = expect(Work(hours=2, start=0.5, restore=9, every=1, stall=0.1), [50.0])

    assert (found.lives, found.starting, found.saving, found.lost) == (1.0, 0.5, 0.1, 0.0)
    assert found.held == found.billed == pytest.approx(2.6)
    assert found.end == pytest.approx(2.6)


def test_two_kinds_of_lives_by_hand() -> None:
    """2 h of work, saved each hour, no start. Half of the machines live for 1.5 h, half for 9 h.

    The first: half end it in 2 h; half save 1 h, lose 0.5 h and pay 1.5 h. Then 1 h is left, which every
    machine outlives: 1 h. Held 0.5 * 2 + 0.5 * (1.5 + 1) = 2.25 h; lives 1.5; lost 0.25 h; waits 0.5 * 3 h.
    """
    found = expect(Work(hours=2, every=1), [1.5, 9.0], away=3.0)

    assert (found.held, found.lives, found.lost) == pytest.approx((2.25, 1.5, 0.25))
    assert found.end == pytest.approx(2.25 + 1.5)


def test_lives_too_short_for_a_save_are_paid_again_and_again() -> None:
    """1 h of work, one life in four outlives it; the others end after 0.2 h: 3 of these on average, 1.6 h."""
    found = expect(Work(hours=1, every=1), [0.2, 0.2, 0.2, 5.0])

    assert (found.lives, found.held, found.lost) == pytest.approx((4.0, 1.6, 0.6))


def test_a_restore_is_paid_only_where_there_is_a_save_to_go_on_from() -> None:
    """Start 0.1 h, restore 0.2 h: the first life saves 1 h of 2 h and ends at 1.15 h; the second needs 1.3 h.

    Lives of 1.15 h are half of all; the second of that length ends before its save and is repeated.
    """
    found = expect(Work(hours=2, start=0.1, restore=0.2, every=1), [1.15, 9.0])

    # The first life: 0.5 ends all in 2.1 h, 0.5 saves one hour. Then on average two lives are begun: one that
    # ends after 1.15 h (0.3 h of start, 0.85 h lost), and one that takes 1.3 h.
    assert found.lives == pytest.approx(1 + 0.5 * 2)
    assert found.starting == pytest.approx(0.1 + 0.5 * 2 * 0.3)
    assert found.lost == pytest.approx(0.5 * 0.05 + 0.5 * 0.85)


def test_billed_units_are_rounded_up_for_each_life() -> None:
    """Started hours: a life of 1.5 h is paid as 2 h, ends after 1 h or 2 h as they are: 0.5 * 2 + 0.5 * 3."""
    lease = Lease(offer="spot", kind=LeaseKind.SPOT, price=None, unit_seconds=3600)

    found = expect_spot(Work(hours=2, every=1), lease, observed_lifetimes([1.5, 9.0], origin="these"))

    assert found.billed == pytest.approx(2.5)
    assert found.end is None


def test_heavy_tailed_lives_end_short_work_otherwise_than_their_mean_says() -> None:
    """Nine lives of 0.3 h and one of 47.3 h have the mean of 5 h, and yet 1 h of work takes ten of them."""
    work = Work(hours=1, every=1)

    tailed = expect(work, [0.3] * 9 + [47.3])
    mean = expect_spot(work, SPOT, memoryless(5.0, origin="told"))

    assert tailed.lives == pytest.approx(10.0)
    assert mean.lives < 1.3


@pytest.mark.parametrize(
    ("mean", "restart", "every", "stall"),
    [(6.0, 0.1, 0.25, 0.01), (2.0, 0.5, 0.5, 0.0), (24.0, 0.0, 1.0, 0.05)],
)
def test_with_a_mean_alone_it_is_the_closed_formula(
    mean: float, restart: float, every: float, stall: float
) -> None:
    """M exp(R/M) (exp((t+s)/M) - 1) for each of ten saved intervals.

    J. T. Daly, FGCS 22(3), 2006. Here the first start is paid too, and the last interval makes no save.
    """
    found = expect_spot(
        Work(hours=10 * every, start=restart, every=every, stall=stall),
        SPOT,
        memoryless(mean, origin="told"),
    )

    saved, last = (
        mean * math.exp(restart / mean) * math.expm1(hours / mean) for hours in (every + stall, every)
    )
    first = mean * math.expm1((restart + every + stall) / mean)
    assert found.held == pytest.approx(first + 8 * saved + last, rel=0.01)


lives = st.lists(st.floats(0.05, 60), min_size=1, max_size=12)


@given(hours=lives, work=st.floats(0.1, 30), start=st.floats(0, 0.5), stall=st.floats(0, 0.1))
@example(hours=[1.0], work=1.0, start=0.0, stall=2.220446049250313e-16)
@settings(max_examples=80, deadline=None)
def test_more_work_takes_more_and_all_hours_are_told(
    hours: list[float], work: float, start: float, stall: float
) -> None:
    try:
        less, more = (
            expect(Work(hours=amount, start=start, every=0.5, stall=stall), hours)
            for amount in (work, work + 0.5)
        )
    except PlanError:
        assert max(hours) < start + 0.5 + stall + work  # nothing that lives so long could have failed
        return
    assert more.held >= less.held
    assert less.held == pytest.approx(work + less.starting + less.saving + less.lost)
    assert less.lives >= 1 and less.lost >= 0
    assert less.billed >= less.held - 1e-6
    assert less.billed <= less.held + less.lives / 3600 + 1e-6  # each life is rounded up to a second


def test_when_no_machine_lives_long_enough_there_is_no_number() -> None:
    with pytest.raises(
        PlanError, match=r"no machine lives for the 1\.5 h that it takes to get to a save \(these\)"
    ):
        expect(Work(hours=4, start=0.5, every=1), [0.2, 1.4])


@pytest.mark.parametrize(
    "values",
    [
        {"hours": 0.0, "every": 1.0},
        {"hours": 1.0, "every": 0.0},
        {"hours": 1.0, "every": 1.0, "start": -1.0},
        {"hours": float("nan"), "every": 1.0},
        {"hours": 1e9, "every": 0.001},
    ],
)
def test_hours_that_cannot_be_are_refused(values: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        Work(**values)  # type: ignore[arg-type]
