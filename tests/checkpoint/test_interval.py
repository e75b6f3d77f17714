from __future__ import annotations

from datetime import timedelta

import pytest

from lastro.checkpoint.due import is_due, schedule
from lastro.checkpoint.interval import choose_interval, young
from lastro.errors import PlanError
from lastro.rules import CheckpointPolicy


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


@pytest.mark.parametrize(
    ("last", "step", "due"),
    [(0, 24, False), (0, 25, True), (25, 49, False), (25, 50, True), (37, 50, True), (50, 50, False)],
)
def test_steps_count_on_a_fixed_grid(last: int, step: int, due: bool) -> None:
    planned = schedule(CheckpointPolicy(every_steps=25), None)

    assert is_due(planned, last, step, 0.0) is due


def test_a_bound_on_the_loss_holds_beside_a_grid_of_steps() -> None:
    planned = schedule(CheckpointPolicy(every_steps=1000, max_loss_seconds=60), None)

    assert not is_due(planned, 0, 5, 59.0)
    assert is_due(planned, 0, 5, 60.0)


def test_seconds_are_kept_to() -> None:
    planned = schedule(CheckpointPolicy(every_seconds=10, max_loss_seconds=60), 3.0)

    assert (planned.every_steps, planned.seconds) == (None, 10)


def test_auto_follows_the_measured_stall() -> None:
    assert schedule(CheckpointPolicy(), 0.5).seconds == pytest.approx(120)
