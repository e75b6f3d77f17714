from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastro.checkpoint.interval import SaveCost
from lastro.plan.interruption import judge_tolerance, plan_saves
from lastro.plan.lifetimes import Lifetimes, memoryless, observed_lifetimes


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def saving(stall: float, durable: float | None = None) -> SaveCost:
    return SaveCost(blocked=seconds(stall), durable=seconds(stall if durable is None else durable))


NO_RESTART = timedelta()


@pytest.mark.parametrize(
    ("mean", "minutes", "wasted"), [(0.8, 5.67, 0.119), (6.0, 15.5, 0.0427), (24.0, 31.0, 0.0214)]
)
def test_a_save_of_twenty_seconds_by_hand(mean: float, minutes: float, wasted: float) -> None:
    """sqrt(2 * 20 s * 0.8 h) = 339 s = 5.66 min, and about sqrt(2 * 20 s / 0.8 h) = 11.8 % are wasted."""
    planned = plan_saves(saving(20, 0), memoryless(mean, origin="told"), restart=NO_RESTART)

    assert planned.every is not None and planned.wasted is not None
    assert planned.every / timedelta(minutes=1) == pytest.approx(minutes, abs=0.05)
    assert planned.wasted == pytest.approx(wasted, abs=0.006)


def test_what_is_wasted_by_the_formula_by_hand() -> None:
    """Saves of 36 s, lives of 2 h, restart 0.2 h: t = sqrt(2 * 36 * 7200) = 720 s = 0.2 h.

    2 exp(0.21 / 2) (exp(0.21 / 2) - 1) = 2 * 1.11071 * 0.11071 = 0.24594 h for 0.2 h of work: 18.7 %
    are no work; an interruption loses 0.1 h and the 0.01 h until a save is durable.
    """
    planned = plan_saves(saving(36), memoryless(2.0, origin="told"), restart=timedelta(hours=0.2))

    assert planned.wasted == pytest.approx(0.1868, abs=0.0005)
    assert planned.loss == seconds(360 + 36)


def test_outside_the_range_of_the_formula_it_says_so_instead_of_a_number() -> None:
    planned = plan_saves(saving(1800), memoryless(1.0, origin="told"), restart=NO_RESTART)

    assert (planned.every, planned.loss, planned.wasted) == (None, None, None)
    assert planned.why == (
        "a save takes 30 min 00 s and work goes on for 1 h 00 min between interruptions: Young's formula "
        "holds for saves that take less than half of that, so no interval is given"
    )


@pytest.mark.parametrize(
    "lifetimes",
    [memoryless(0.1, origin="told"), observed_lifetimes([0.1, 0.12], origin="seen")],
    ids=["a mean", "observed"],
)
def test_a_restart_that_takes_longer_than_any_life_keeps_no_work(lifetimes: Lifetimes) -> None:
    planned = plan_saves(saving(1), lifetimes, restart=timedelta(hours=9))

    assert (planned.every, planned.wasted) == (None, None)
    assert "so no work is kept" in planned.why


def test_lives_that_end_before_work_begins_do_not_shorten_the_interval() -> None:
    """Nine lives of 0.5 h end in a restart of 1 h; the tenth, of 46 h, works for 45 h: sqrt(2 * 20 s * 45 h).

    That is 2545.6 s. Of 50.5 h, 46 - 1 - 20 s make 44.994 h: 63.14 times 2565.6 s, less half an interval,
    62.64 * 2545.6 s = 44.29 h are kept.
    """
    planned = plan_saves(
        saving(20), observed_lifetimes([0.5] * 9 + [46.0], origin="seen"), restart=timedelta(hours=1)
    )

    assert planned.every is not None
    assert planned.every.total_seconds() == pytest.approx(2545.6, abs=0.1)
    assert planned.wasted == pytest.approx(1 - 44.29 / 50.5, abs=0.001)


@given(mean=st.floats(1, 200), stall=st.floats(1, 120), restart=st.floats(0, 1800))
@settings(max_examples=60, deadline=None)
def test_counted_on_lives_without_memory_it_is_what_the_formula_says(
    mean: float, stall: float, restart: float
) -> None:
    told = memoryless(mean, origin="told")
    seen = observed_lifetimes(told.hours, origin="seen")
    by_formula, counted = (
        plan_saves(saving(stall), lives, restart=seconds(restart)) for lives in (told, seen)
    )

    assert by_formula.wasted is not None and counted.wasted is not None
    assert counted.wasted == pytest.approx(by_formula.wasted, abs=0.02)


def test_a_bound_on_the_loss_shortens_the_interval() -> None:
    planned = plan_saves(
        saving(20), memoryless(24.0, origin="told"), restart=NO_RESTART, max_loss=timedelta(minutes=10)
    )

    assert planned.every == timedelta(minutes=10) - seconds(20)


def test_a_loss_that_is_tolerated_and_kept() -> None:
    """Saves of 6 s, at most 10 min lost: every 594 s, which takes 1 % of the time."""
    judged = judge_tolerance(timedelta(minutes=10), saving(6), between=timedelta(hours=24))

    assert (judged.kept, judged.worst) == (True, timedelta(minutes=10))
    assert judged.stalled == pytest.approx(0.01)


def test_a_loss_that_costs_too_much_to_keep_is_told_with_what_is_kept() -> None:
    """Saves of 60 s are made every 600 s at most: 660 s may be lost, and not 120 s."""
    judged = judge_tolerance(seconds(120), saving(60))

    assert (judged.kept, judged.worst) == (False, seconds(660))
    assert "up to 11 min 00 s may be lost and not only 2 min 00 s" in judged.why


def test_before_the_first_save_nothing_is_claimed() -> None:
    judged = judge_tolerance(seconds(120), None)

    assert (judged.kept, judged.worst, judged.stalled) == (None, None, None)
    assert "no save has been measured" in judged.why
