"""A drill takes a part of the pilot, unless somebody says otherwise."""

from __future__ import annotations

import pytest

from lastro.drill.budget import budget_of
from lastro.plan.pilot import Pilot

TWO_HOURS = Pilot(hours=2.0, why="the stage pilot")


@pytest.mark.parametrize(
    ("asked", "full", "seconds"), [(None, False, 360.0), (60.0, False, 60.0), (None, True, None)]
)
def test_five_per_cent_of_two_hours_are_six_minutes(
    asked: float | None, full: bool, seconds: float | None
) -> None:
    assert budget_of(asked, TWO_HOURS, full=full).seconds == seconds


def test_it_says_where_it_comes_from() -> None:
    assert budget_of(None, TWO_HOURS, full=False).why == "5% of the pilot of 2 h 00 min: the stage pilot"


def test_without_a_pilot_the_usual_kills_are_made_and_that_is_said() -> None:
    budget = budget_of(None, Pilot(hours=None, why="no stage of the plan is a pilot"), full=False)

    assert (budget.seconds, budget.why) == (None, "the usual kills: no stage of the plan is a pilot")
