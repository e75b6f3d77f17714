"""Where a plan waits for a person, from stages that are written as in a campaign file."""

from __future__ import annotations

from typing import Any

from lastro.plan.calendar import lay_out, without_unknown
from lastro.plan.candidates import whole
from lastro.plan.points import DecisionPoint, Share, decision_points
from lastro.spec.campaign import Campaign


def campaign_of(stages: dict[str, Any], **changed: Any) -> Campaign:
    told: dict[str, Any] = {
        "campaign": "small",
        "command": "python train.py {rate}",
        "control": {"rate": 1},
        "variants": {"fast": {"changes": {"rate": 2}, "priority": "required"}},
        "stages": stages,
    }
    return Campaign.model_validate({**told, **changed})


def points_of(stages: dict[str, Any], **changed: Any) -> tuple[DecisionPoint, ...]:
    campaign = campaign_of(stages, **changed)
    calendar = lay_out(without_unknown(whole(campaign).work, None), machines=campaign.machines)
    return decision_points(campaign, calendar.slots)


def test_a_pilot_is_a_part_of_its_run_and_the_others_begin_after_it() -> None:
    """10 % of 20 h are 2 h."""
    stages = {
        "pilot": {"run": "control", "gpu": 1, "part": "10 %", "decide": True},
        "train": {"each": "run", "gpu": 1, "hours": 20, "steps": 4000},
    }

    assert points_of(stages) == (
        DecisionPoint(stage="pilot", shares=(Share(run="control", hours=2.0, steps=4000),), holds=("fast",)),
    )


def test_two_pilots_of_a_run_add_up_to_the_second_point() -> None:
    """10 % and 20 % of 20 h are 2 h and 4 h: 6 h of work before the second decision."""
    stages = {
        "first": {"run": "control", "gpu": 1, "part": "10 %", "decide": True},
        "second": {"run": "control", "gpu": 1, "part": "20 %", "decide": True},
        "train": {"each": "run", "gpu": 1, "hours": 20},
    }

    assert [point.shares[0].hours for point in points_of(stages)] == [2.0, 6.0]


def test_a_run_of_which_nothing_follows_has_to_end() -> None:
    stages = {
        "control": {"run": "control", "gpu": 1, "hours": 8},
        "look": {"person": "1h", "decide": True},
        "fast": {"run": "fast", "gpu": 1, "hours": 8},
    }

    assert points_of(stages) == (
        DecisionPoint(stage="look", shares=(Share(run="control", hours=None),), holds=("fast",)),
    )


def test_a_pilot_of_unknown_length_is_to_its_end() -> None:
    stages = {"pilot": {"run": "control", "gpu": 1, "part": "10 %", "decide": True}}
    follows = {"later": {"run": "control", "gpu": 1, "part": "20 %"}}

    (point,) = points_of({**stages, **follows})

    assert point.shares == (Share(run="control", hours=None),)


def test_what_has_nothing_to_do_with_the_point_is_not_held() -> None:
    stages = {
        "pilot": {"run": "control", "gpu": 1, "part": "10 %", "decide": True},
        "rest": {"run": "control", "gpu": 1, "hours": 20},
        "beside": {"run": "fast", "gpu": 1, "hours": 5, "after": []},
    }

    assert points_of(stages)[0].holds == ()


def test_a_run_that_no_stage_names_and_one_that_starts_on_request_wait() -> None:
    stages = {
        "pilot": {"run": "control", "gpu": 1, "part": "10 %", "decide": True},
        "rest": {"run": "control", "gpu": 1, "hours": 20},
    }
    variants = {
        "fast": {"changes": {"rate": 2}, "priority": "required"},
        "wild": {"changes": {"rate": 9}, "priority": "exploratory"},
    }

    assert points_of(stages, variants=variants)[0].holds == ("fast", "wild")
