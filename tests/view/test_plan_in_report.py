"""The report of a campaign that runs by a plan: what was planned stands beside what happens."""

from __future__ import annotations

from pathlib import Path

from lastro.view.model import page_of
from tests.plan.planning import ARTICLE, LOTS, VARIANTS, plan
from tests.view.plans import cost, option, plan_of, usd
from tests.view.story import Story


def test_the_calendar_of_a_plan_is_that_of_its_report(tmp_path: Path) -> None:
    """48 h: each run has its own bar of 10 h, one after the other, behind 2 h and 2 h."""
    made = plan(tmp_path, ARTICLE + VARIANTS + "budget: 60 USD\n", LOTS)

    calendar = page_of(Story(made.as_json()).view()).calendar

    assert calendar.planned_seconds == 48 * 3600
    lanes = {
        lane.label: [(bar.start / 3600, bar.end / 3600) for bar in lane.planned] for lane in calendar.lanes
    }
    assert lanes["prepare"] == [(0, 2)] and lanes["pilot"] == [(2, 4)]
    assert [lanes[name] for name in ("control", "wide", "deep")] == [[(4, 14)], [(14, 24)], [(24, 34)]]


def test_the_forecast_is_that_of_the_option_that_was_taken(tmp_path: Path) -> None:
    """Two options are of one offer: its name alone does not say which of them was taken."""
    other = option("2 x three days", offer="three days", cost=cost(("machine", "80")))
    mine = option("three days", cost=cost(("machine", "40"), low="38", high="52"))
    made = plan_of(tmp_path, other, mine, option="three days")

    forecast = page_of(Story(made.as_json()).view()).cost.forecast

    assert forecast and (forecast.low, forecast.likely, forecast.high) == (usd("38"), usd("40"), usd("52"))


def test_a_forecast_that_is_unknown_says_why(tmp_path: Path) -> None:
    made = plan_of(tmp_path, option(cost=cost(("machine", "40"), ("disk", None))))

    forecast = page_of(Story(made.as_json()).view()).cost.forecast

    assert forecast and (forecast.likely, forecast.reason) == (None, "nobody gave its price")


def test_nothing_is_forecast_when_nothing_was_taken(tmp_path: Path) -> None:
    assert page_of(Story(plan_of(tmp_path, option(), option=None).as_json()).view()).cost.forecast is None
