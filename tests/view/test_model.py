from __future__ import annotations

import math

from lastro.journal.events import EventType as E
from lastro.view.model import page_of
from lastro.view.parts import Live
from lastro.view.series import Measured
from tests.view.story import HOURLY, Story, adopted, curve, planned


def test_a_concluded_campaign_leads_with_its_verdict_and_evidence() -> None:
    page = page_of(adopted().view())
    assert (page.headline.verdict, page.headline.text) == ("adopt", "Adopt wide")
    assert page.evidence is not None
    control, wide = page.evidence.rows
    assert (control.is_control, control.difference) == (True, None)
    assert (wide.value, wide.source, wide.adopted, wide.reaches) == (0.95, "recomputed", True, True)


def test_a_difference_of_exactly_the_margin_reaches_it() -> None:
    story = Story(planned("wide", decision={**planned()["decision"], "adopt_margin": "0.1"}))
    story.judge("control", 0.2)
    story.judge("wide", 0.3)  # 0.3 - 0.2 is a little less than 0.1 in binary
    page = page_of(story.view())
    assert page.evidence is not None and page.evidence.rows[1].reaches is True


def test_where_lower_is_better_a_larger_value_reaches_nothing() -> None:
    story = Story(planned("wide", decision={**planned()["decision"], "better": "lower"}))
    story.judge("control", 0.2)
    story.judge("wide", 0.3)
    page = page_of(story.view())
    assert page.evidence is not None and page.evidence.rows[1].reaches is False


def test_what_the_job_logged_is_told_apart_from_what_closing_recomputed() -> None:
    story = Story(planned("wide"))
    story.start("control", 1, 1)
    measured = {"id-control": Measured(series={"accuracy": curve("accuracy", [(1, 0.5)])})}
    page = page_of(story.view(), measured)
    assert [(row.metric, row.metric_source) for row in page.runs] == [(0.5, "logged"), (None, None)]


def test_the_metric_of_a_rejected_output_does_not_count() -> None:
    story = Story(planned())
    story.judge("control", 0.9, verdict="rejected")
    assert page_of(story.view()).runs[0].metric_source == "rejected"


def test_lost_steps_are_those_of_interruptions() -> None:
    page = page_of(adopted().view())
    control = page.runs[0]
    assert (control.lost_steps, control.lost_is_complete, control.steps) == (40, True, 300)
    (gap,) = page.interruptions
    assert (gap.step, gap.committed_step, gap.lost_steps, gap.resumed_step) == (140, 100, 40, 100)
    assert gap.seconds_to_next_step == 122.0


def test_an_unknown_loss_is_not_counted_as_nothing() -> None:
    story = Story(planned())
    story.streams["id-control-1"] = []
    story.start("control", 1, 1)
    story.streams["id-control-1"] = story.streams["id-control-1"][:1]  # no step was ever seen
    story.end("control", 1, 2, "killed", None)
    row = page_of(story.view()).runs[0]
    assert (row.lost_steps, row.lost_is_complete) == (0, False)


def test_steps_since_the_last_checkpoint_are_at_risk() -> None:
    story = Story(planned())
    story.start("control", 1, 1)
    story.save("control", 1, 5, 100)
    page = page_of(story.view(10), live={"id-control": Live(step=131, silent_seconds=2.0)})
    (now,) = page.now
    assert (now.step, now.committed_step, now.at_risk, now.running_seconds) == (131, 100, 31, 540.0)
    assert page.headline.verdict == "running"
    assert page.runs[0].steps == 131


def test_the_config_of_a_variant_is_shown_as_its_difference_to_the_control() -> None:
    plan = planned("wide")
    plan["runs"][0]["config"] = {"width": 64, "old": 1}
    plan["runs"][1]["config"] = {"width": 256, "new": 2}
    changes = page_of(Story(plan).view()).runs[1].changes
    assert [(change.key, change.control, change.value) for change in changes] == [
        ("width", 64, 256), ("new", None, 2), ("old", 1, None),
    ]  # fmt: skip


def test_time_with_no_attempt_on_a_machine_is_idle() -> None:
    page = page_of(adopted().view())
    # An hour is rented; attempts ran in minutes 1-6, 8-20 and 21-40.
    assert page.cost.used_seconds == 3600.0
    assert page.cost.idle_seconds == 3600.0 - 36 * 60
    assert str(page.cost.bill.total) == "0.60 USD"


def test_an_unknown_price_makes_rate_and_total_unknown_with_a_reason() -> None:
    story = Story(planned())
    story.machine("m-1", 0, {**HOURLY, "price": None})
    page = page_of(story.view())
    assert page.cost.rate is None and page.cost.rate_reason is not None and "m-1" in page.cost.rate_reason
    assert page.cost.bill.total is None and page.cost.bill.reason


def test_an_hour_of_two_machines_costs_both_and_a_lot_is_paid_already() -> None:
    story = Story(planned())
    story.machine("m-1", 0)
    story.machine("m-2", 0)
    story.machine("m-3", 0, {**HOURLY, "kind": "lot"})
    page = page_of(story.view())
    assert str(page.cost.rate) == "1.20 USD"


def test_a_plan_that_is_only_frozen_and_a_campaign_without_a_plan_have_a_page() -> None:
    assert page_of(Story(planned("wide")).view()).headline.text == "Nothing has started yet"
    empty = page_of(Story().view())
    assert (empty.headline.verdict, empty.runs, empty.evidence) == ("waiting", (), None)


def test_a_revision_and_its_reason_are_shown() -> None:
    story = Story(planned())
    story.home(3, E.PLAN_REVISED, digest="e" * 64, plan=planned("wide"), why="a variant was added")
    page = page_of(story.view())
    assert page.plan.digest == "e" * 64
    assert [item.why for item in page.plan.revisions] == ["a variant was added"]


def test_planned_and_observed_hours_stand_side_by_side() -> None:
    deviations = page_of(adopted().view()).plan.deviations
    assert [(row.planned_hours, row.observed_hours) for row in deviations] == [(0.5, 17 / 60), (0.5, 19 / 60)]


def test_a_diverged_control_compares_with_nothing() -> None:
    story = Story(planned("wide"))
    story.judge("control", math.nan)
    story.judge("wide", 0.9)
    page = page_of(story.view())
    assert page.evidence is not None and page.evidence.rows[1].reaches is None
