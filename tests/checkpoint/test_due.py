from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from lastro.checkpoint.due import is_due, schedule
from lastro.checkpoint.interval import SaveCost
from lastro.rules import CheckpointPolicy
from lastro.units import Money


def _cost(blocked: float, durable: float = 0.5) -> SaveCost:
    return SaveCost(blocked=timedelta(seconds=blocked), durable=timedelta(seconds=durable))


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
    planned = schedule(CheckpointPolicy(every_seconds=10, max_loss_seconds=60), _cost(3.0))

    assert (planned.every_steps, planned.seconds) == (None, 10)


def test_auto_follows_the_measured_stall() -> None:
    assert schedule(CheckpointPolicy(), _cost(0.5)).seconds == pytest.approx(120)


def test_auto_uses_what_was_told_of_interruptions() -> None:
    told = CheckpointPolicy(interruption_seconds=3600)

    assert schedule(told, _cost(0.5)).seconds == pytest.approx(60)


@pytest.mark.parametrize("policy", [CheckpointPolicy(every_steps=9), CheckpointPolicy(every_seconds=500)])
def test_the_bound_leaves_room_for_what_is_in_flight(policy: CheckpointPolicy) -> None:
    bounded = replace(policy, max_loss_seconds=60)

    assert schedule(bounded, _cost(0.1, durable=10)).seconds == 50
    assert schedule(bounded, _cost(0.1, durable=45)).seconds == 45


def test_where_an_hour_has_a_price_the_reason_says_what_is_wasted() -> None:
    """0.5 s in 120 s and 60.5 s in 4 hours: 0.84 % of 2 USD."""
    planned = schedule(CheckpointPolicy(), _cost(0.5), Money(Decimal(2), "USD"))

    assert "waste about 0.017 USD an hour" in planned.why
