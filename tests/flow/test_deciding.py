"""What a decision point holds, limits, keeps and shows, on campaigns that are told as events."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from lastro.billing import Lease
from lastro.flow import policy
from lastro.flow.deciding import Standing, measured, standing_of, work_limit
from lastro.flow.orders import unattended_seconds
from lastro.flow.pace import pace_of
from lastro.flow.still_billing import still_billing
from lastro.journal.events import EventType as E
from lastro.journal.views import AttemptView, CampaignView, RunView
from lastro.plan.points import DecisionPoint, Share
from tests.flow.test_policy_money import plan_of, situation
from tests.view.story import HOURLY, Story, planned

#: Half an hour of the control, then a person; `wide` waits for that.
PILOT = DecisionPoint(stage="pilot", shares=(Share(run="control", hours=0.5, steps=100),), holds=("wide",))
LOT = {**HOURLY, "kind": "lot", "price": {"amount": "47.14", "currency": "USD"}, "term_seconds": 259200}


def frozen(*points: DecisionPoint) -> Any:
    """Return what of a plan decides about its decision points."""
    runs = [SimpleNamespace(id=f"id-{name}", name=name) for name in ("control", "wide")]
    slot = SimpleNamespace(run="control", start_hours=0.5, end_hours=5.5)
    return plan_of(runs=runs, decision_points=points or (PILOT,), calendar=[slot])


def story(seconds: float | None, *, lease: Any = HOURLY, decided: bool = False) -> Story:
    """Return a campaign whose control has worked for so long on machine m-1; None: not at all."""
    told = Story(planned("wide"))
    told.machine("m-1", 1, lease)
    if seconds is not None:
        told.start("control", 1, 2)
        cause = {"end": "limit", "why": "the pilot is over", "limit": "pilot"}
        facts = {"cause": cause, "step": 41, "committed_step": 40, "seconds": seconds}
        told._add("id-control-1", 40, E.ATTEMPT_ENDED, facts)
        told._add("id-control-1", 40, E.RUN_ENDED, {"verdict": "paused", "why": "the pilot is over"})
    if decided:
        told.home(41, E.DECISION_AWAITED, **measured(PILOT, frozen(), told.view()))
    return told


def next_of(view: CampaignView, **changed: Any) -> policy.Action:
    plan = frozen()
    return policy.next_action(situation(view, plan, standing=standing_of(plan, view), **changed))


def test_a_pilot_that_has_worked_long_enough_is_recorded_before_anything_else_happens() -> None:
    action = next_of(story(1800.0).view(), resumable=frozenset({"id-control"}))

    assert isinstance(action, policy.Await)
    assert action.point == PILOT


def test_a_pilot_that_was_interrupted_goes_on_and_what_comes_after_it_waits() -> None:
    """A thousand of 1800 seconds are done."""
    action = next_of(story(1000.0).view(), resumable=frozenset({"id-control"}))

    assert isinstance(action, policy.Dispatch)
    assert action.run == "id-control"


def test_a_limit_is_for_the_run_of_the_pilot_until_somebody_has_decided() -> None:
    told = story(1800.0, decided=True)
    before = told.view()
    told.home(42, E.DECISION_MADE, stage="pilot", choice="continue", why="well")
    told.home(43, E.DECISION_FOLLOWED, stage="pilot", choice="continue")
    after = told.view()

    assert work_limit(frozen(), before, before.run("id-control")) == 1800.0
    assert work_limit(frozen(), before, before.run("id-wide")) is None
    assert work_limit(frozen(), after, after.run("id-control")) is None
    assert standing_of(frozen(), after) == Standing()


def test_while_a_person_decides_an_hourly_machine_is_let_go_and_a_lot_is_kept() -> None:
    hourly = next_of(story(1800.0, decided=True).view(), resumable=frozenset({"id-control"}))
    lot = next_of(story(1800.0, decided=True, lease=LOT).view(), resumable=frozenset({"id-control"}))

    assert isinstance(hourly, policy.Release)
    assert isinstance(lot, policy.Halt)
    assert "lastro decide" in lot.why


def test_what_is_held_alone_says_what_it_waits_for() -> None:
    told = Story(planned("wide"))

    action = next_of(told.view(), wanted=("id-wide",))

    assert isinstance(action, policy.Halt)
    assert action.why == "wide begin after the decision after pilot, and what comes before it is not done"


def test_a_pilot_whose_run_has_ended_by_itself_is_over_too() -> None:
    told = Story(planned("wide"))
    told.start("control", 1, 2)
    told.end("control", 1, 3, "done", 100)

    assert standing_of(frozen(), told.view()).reached == PILOT


def test_what_was_measured_stands_beside_what_was_planned() -> None:
    """41 steps in 1800 s, the first after 2 s: 1798 / 40 = 44.95 s each; 2 + 99 * 44.95 = 4452.05 s."""
    view = story(1800.0).view()

    facts = measured(PILOT, frozen(), view)
    (run,) = facts["runs"]

    assert (run["worked_hours"], run["planned_hours"], run["whole_planned_hours"]) == (0.5, 0.5, 5.0)
    assert (run["step"], run["committed_step"], run["lost_steps"]) == (41, None, 41)
    assert run["whole_hours"] == pytest.approx(4452.05 / 3600)
    assert facts["cost"] and facts["unknown"] is None


def test_what_waiting_costs_is_told_for_each_thing_that_stays() -> None:
    (hourly, disk) = still_billing(story(1800.0).view())
    (lot, _disk) = still_billing(story(1800.0, lease=LOT).view())

    assert hourly.rate is not None and str(hourly.rate) == "0.60 USD"
    assert lot.rate is None and "is paid" in lot.why
    assert disk.rate is None and "not known" in disk.why


def run_of(status: str, *lives: AttemptView) -> RunView:
    return RunView(
        id="id",
        name="control",
        priority="required",
        config={},
        status=status,
        why=None,
        attempts=lives,
        outputs={},
    )


def life(number: int, **facts: Any) -> AttemptView:
    return AttemptView(run="id", number=number, machine="m", node="n", started_at="", **facts)


def test_items_tell_how_long_the_whole_takes_by_their_share() -> None:
    """30 of 120 items in half an hour: two hours."""
    run = run_of("paused", life(1, worked_seconds=1800.0, items_done=30, items_total=120))

    assert pace_of(run, None).hours == 2.0


def test_a_start_that_takes_long_does_not_make_every_step_slower() -> None:
    """Two attempts: 10 steps after the first in 100 s, 20 in 200 s, after starts of 600 s and 300 s.

    10 s a step; 600 + 99 * 10 = 1590 s for a hundred.
    """
    first = life(1, worked_seconds=700.0, first_step_seconds=600.0, last_step=11)
    second = life(2, worked_seconds=500.0, first_step_seconds=300.0, resumed_step=10, last_step=31)

    assert pace_of(run_of("paused", first, second), 100).hours == pytest.approx(1590 / 3600)


def test_what_cannot_be_told_is_unknown_with_its_reason() -> None:
    one = life(1, worked_seconds=700.0, first_step_seconds=600.0, last_step=11)
    none = life(1, worked_seconds=700.0)

    unsaid, empty = pace_of(run_of("paused", one), None), pace_of(run_of("paused", none), 100)

    assert (unsaid.hours, empty.hours) == (None, None)
    assert "`steps`" in unsaid.why
    assert "too few steps" in empty.why


def test_a_machine_of_a_lot_waits_for_home_as_long_as_the_lot_lasts() -> None:
    """Three days, and not the five minutes of the campaign."""
    plan = plan_of(idle_seconds=300.0)

    assert unattended_seconds(plan, Lease.from_json(LOT)) == 259200.0
    assert unattended_seconds(plan, Lease.from_json(HOURLY)) == 300.0
