from __future__ import annotations

from datetime import timedelta

import pytest

from lastro.checkpoint.interval import SaveCost, choose_interval, wasted_share, young
from lastro.errors import PlanError


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def test_young_by_hand() -> None:
    """30 s stall, interrupted every 6 h: sqrt(2 * 30 * 21600) = 1138.4 s."""
    assert young(seconds(30), timedelta(hours=6)).total_seconds() == pytest.approx(1138.4, abs=0.1)


def test_young_refuses_what_lies_outside_its_range() -> None:
    with pytest.raises(PlanError, match="stops the work for 5 min 00 s"):
        young(timedelta(minutes=5), timedelta(minutes=10))


def cost(blocked: float, durable: float | None = None, slowdown: float | None = None) -> SaveCost:
    return SaveCost(
        blocked=seconds(blocked),
        durable=seconds(blocked if durable is None else durable),
        slowdown=None if slowdown is None else seconds(slowdown),
    )


def test_a_cheap_save_is_made_at_youngs_interval() -> None:
    """0.5 s stall, 4 h assumed: sqrt(2 * 0.5 * 14400) = 120 s."""
    chosen = choose_interval(cost(0.5))

    assert chosen.every.total_seconds() == pytest.approx(120)
    assert "assumed" in chosen.why


def test_what_the_work_loses_beside_a_save_counts_like_standing_still() -> None:
    assert choose_interval(cost(0.2, 3, slowdown=0.3)).every.total_seconds() == pytest.approx(120)


def test_a_rate_of_interruptions_that_was_told_is_used() -> None:
    """sqrt(2 * 0.5 * 3600) = 60 s."""
    chosen = choose_interval(cost(0.5), between_interruptions=timedelta(hours=1))

    assert chosen.every.total_seconds() == pytest.approx(60)
    assert "told" in chosen.why


def test_what_is_in_flight_can_be_lost_too_so_the_bound_holds_for_both() -> None:
    """An interruption right before a save is durable loses the interval, 50 s, and the 10 s of the save."""
    chosen = choose_interval(cost(0.5, 10), max_loss=seconds(60))

    assert chosen.every == seconds(50)
    assert "no more than 1 min 00 s may be lost" in chosen.why


def test_it_is_never_shorter_than_the_time_to_durable() -> None:
    chosen = choose_interval(cost(0.01, 40), max_loss=seconds(60))

    assert chosen.every == seconds(40)
    assert "so up to 1 min 20 s may be lost and not only 1 min 00 s" in chosen.why
    assert choose_interval(cost(0.001, 30)).every == seconds(30)


def test_a_dear_save_is_not_made_all_the_time() -> None:
    """A save of 20 s with a bound of 60 s would take a quarter of the time: 10 stalls win."""
    chosen = choose_interval(cost(20), max_loss=seconds(60))

    assert chosen.every == seconds(200)
    assert "may be lost and not only" in chosen.why


def test_outside_youngs_range_the_work_goes_on() -> None:
    chosen = choose_interval(cost(300), between_interruptions=timedelta(minutes=10))

    assert chosen.every == timedelta(minutes=50)


def test_before_the_first_save_the_bound_is_short() -> None:
    assert choose_interval(None).every == seconds(30)
    assert choose_interval(None, max_loss=seconds(5)).every == seconds(5)


def test_what_is_wasted_by_hand() -> None:
    """0.5 s in 120 s, and every 4 hours half of 120 s and 3 s more: 0.00417 + 63 / 14400 = 0.00854."""
    assert wasted_share(cost(0.5, 3), seconds(120), None) == pytest.approx(0.008542, abs=1e-6)
