from __future__ import annotations

from datetime import timedelta

import pytest

from lastro.checkpoint.interval import choose_interval, young
from lastro.errors import PlanError


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def test_young_by_hand() -> None:
    """30 s stall, interrupted every 6 h: sqrt(2 * 30 * 21600) = 1138.4 s."""
    assert young(seconds(30), timedelta(hours=6)).total_seconds() == pytest.approx(1138.4, abs=0.1)


def test_young_refuses_what_lies_outside_its_range() -> None:
    with pytest.raises(PlanError, match="stops the work for 5 min 00 s"):
        young(timedelta(minutes=5), timedelta(minutes=10))


def test_a_cheap_save_is_made_at_youngs_interval() -> None:
    """0.5 s stall, 4 h assumed: sqrt(2 * 0.5 * 14400) = 120 s."""
    chosen = choose_interval(seconds(0.5))

    assert chosen.every.total_seconds() == pytest.approx(120)
    assert "assumed" in chosen.why


def test_no_more_is_lost_than_may_be() -> None:
    assert choose_interval(seconds(0.5), max_loss=seconds(60)).every == seconds(60)


def test_a_dear_save_is_not_made_all_the_time() -> None:
    """A save of 20 s with a bound of 60 s would take a quarter of the time: 10 stalls win."""
    chosen = choose_interval(seconds(20), max_loss=seconds(60))

    assert chosen.every == seconds(200)
    assert "only every 10 times" in chosen.why


def test_outside_youngs_range_the_work_goes_on() -> None:
    chosen = choose_interval(timedelta(minutes=5), between_interruptions=timedelta(minutes=10))

    assert chosen.every == timedelta(minutes=50)


def test_before_the_first_save_the_bound_is_short() -> None:
    assert choose_interval(None).every == seconds(30)
    assert choose_interval(None, max_loss=seconds(5)).every == seconds(5)
