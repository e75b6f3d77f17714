from __future__ import annotations

import pytest

from lastro.checkpoint.due import is_due, schedule
from lastro.rules import CheckpointPolicy


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
