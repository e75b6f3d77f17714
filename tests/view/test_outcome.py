"""Forecast and actual, from events alone."""

from __future__ import annotations

from typing import Any

import pytest

from lastro.journal.events import EventType as E
from lastro.view.outcome import outcome_of
from lastro.view.outcome_parts import Outcome, StageRow
from lastro.view.outcome_text import outcome_lines
from tests.view.story import Story, planned


def slot(stage: str, run: str | None, start: float, *hours: float) -> dict[str, Any]:
    low, likely, high = hours
    return {
        "stage": stage, "run": run, "lane": None, "origin": "declared",
        "start_hours": start, "end_hours": start + likely,
        "start_low_hours": start, "end_low_hours": start + low,
        "start_high_hours": start, "end_high_hours": start + high,
    }  # fmt: skip


def plan(**changed: Any) -> dict[str, Any]:
    calendar = [slot("run", "control", 0, 0.4, 0.5, 0.6), slot("collect", None, 0.5, 0.1, 0.2, 0.3)]
    return planned(
        calendar=calendar, slack_hours=1.3, uncertainties=["does the card hold it?"], findings=[], **changed
    )


def told(hours: float, frozen: dict[str, Any] | None = None) -> Story:
    """A run of so many hours of work in two attempts; the first lost 20 of its 100 steps."""
    story = Story(frozen or plan())
    story.machine("m-1", 0)
    story.start("control", 1, 0)
    story.save("control", 1, 5, 80)
    story.end("control", 1, 6, "lost", 100, "the machine is gone")
    story.streams["id-control-1"][-2].facts["seconds"] = 360.0  # type: ignore[index]
    story.start("control", 2, 8, resumed=80)
    story.end("control", 2, 60, "done", 500)
    story.streams["id-control-2"][-2].facts["seconds"] = hours * 3600 - 360.0  # type: ignore[index]
    return story


def outcome(story: Story) -> Outcome:
    found = outcome_of(story.view())
    assert found is not None
    return found


def run_row(story: Story) -> StageRow:
    return outcome(story).stages[0]


def test_what_was_observed_stands_beside_what_was_reserved() -> None:
    """0.75 h worked, 0.5 likely, 0.6 at most."""
    row = run_row(told(0.75))

    assert (row.low, row.likely, row.high) == (0.4, 0.5, 0.6)
    assert row.observed == pytest.approx(0.75)
    assert row.deviation == pytest.approx(0.25)
    assert (row.source, row.outside) == ("measured", True)
    assert outcome(told(0.75)).off == ("run control",)
    assert run_row(told(0.55)).outside is False


def test_a_deviation_is_explained_by_events() -> None:
    """20 of 100 steps of 360 s: 72 s, 0.02 h."""
    (why,) = run_row(told(0.75)).explanations

    assert why.text == "1 attempt: the machine is gone; 20 steps were done again"
    assert (why.kind, why.origin) == ("interrupted", "events")
    assert why.hours == pytest.approx(0.02)


def test_what_nothing_measures_is_unknown_until_it_is_typed() -> None:
    story = told(0.5)
    assert (outcome(story).stages[1].observed, outcome(story).stages[1].outside) == (None, None)

    story.home(95, E.STAGE_EXPLAINED, stage="collect", run=None, why="the upload was slow", hours=0.4)

    row = outcome(story).stages[1]
    assert (row.observed, row.source, row.outside) == (0.4, "typed", True)
    assert [why.text for why in row.explanations] == ["the upload was slow"]


def test_a_run_that_has_not_ended_has_no_observed_hours() -> None:
    story = Story(plan())
    story.machine("m-1", 0)
    story.start("control", 1, 0)

    assert run_row(story).observed is None


def test_the_forecast_is_the_plan_that_was_frozen_first() -> None:
    story = told(0.75)
    other = plan(window_hours=9.0)
    other["calendar"] = [slot("run", "control", 0, 5, 6, 7)]
    story.home(70, E.PLAN_REVISED, digest="e" * 64, plan=other, why="more time")
    story.home(95, E.STAGE_EXPLAINED, stage="run", run="control", why="as expected", hours=None)

    assert run_row(story).likely == 0.5
    assert (outcome(story).digest, outcome(story).window) == ("d" * 64, 2.0)


def test_slack_is_used_by_what_took_longer() -> None:
    """The last attempt ended after 1 h of a window of 2 h: 1 h is left of 1.3 h, 0.3 are used."""
    found = outcome(told(0.75))

    assert (found.elapsed, found.slack_left) == (1.0, 1.0)
    assert found.slack_used == pytest.approx(0.3)


def test_waits_are_told_with_their_length_and_an_open_one_without() -> None:
    story = told(0.5)
    story.home(10, E.MACHINE_REFUSED, tag="t-m-1", why="no capacity", tries=1, wait_seconds=60)
    story.home(12, E.MACHINE_REFUSED, tag="t-m-1", why="no capacity", tries=2, wait_seconds=60)
    story.machine("m-2", 15)
    story.home(20, E.CAMPAIGN_HALTED, why="dinner", only=None)
    story.home(50, E.CAMPAIGN_RESUMED, why="dinner")
    story.home(60, E.DECISION_AWAITED, stage="pilot", runs=[], cost=[], unknown=None)

    waits = [(wait.kind, wait.seconds) for wait in outcome(story).waits]

    assert waits == [("queue", 300.0), ("paused", 1800.0), ("decision", None)]


def test_a_doubt_is_open_until_somebody_says_what_became_of_it() -> None:
    story = told(0.5)
    assert [(one.text, one.settled) for one in outcome(story).doubts] == [("does the card hold it?", None)]

    story.home(95, E.DOUBT_SETTLED, doubt="does the card hold it?", why="it does, with 2 GB to spare")

    assert [one.settled for one in outcome(story).doubts] == ["it does, with 2 GB to spare"]
    assert "doubt 1: does the card hold it? [settled: it does, with 2 GB to spare]" in outcome_lines(
        outcome(story)
    )


def test_cost_stands_beside_what_it_was_to_be() -> None:
    """One machine of 100 minutes at 0.60 USD an hour: 1.00 USD, and 0.50 to 0.90 were planned."""
    money = {key: {"amount": text, "currency": "USD"} for key, text in
             (("low", "0.50"), ("total", "0.70"), ("high", "0.90"))}  # fmt: skip
    options = [{"name": "box", "cost": {**money, "lines": []}}]

    cost = outcome(told(0.5, plan(option="box", options=options))).cost

    assert (str(cost.observed), str(cost.difference), cost.outside) == ("1.00 USD", "0.30 USD", True)
