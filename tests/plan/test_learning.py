"""What a plan makes of measured runs, on figures that were worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest

from lastro.plan.build import Code, make_plan
from lastro.plan.disk_need import Measured
from lastro.plan.estimates import Observation
from lastro.plan.intervals import hours_on, work_of
from lastro.plan.learning import Seen, informed, learn
from lastro.plan.model import Plan
from lastro.plan.parts import Span
from lastro.spec.campaign import Campaign
from lastro.spec.durations import Hours
from tests.plan.test_points import campaign_of

NOW = datetime(2026, 11, 30, tzinfo=timezone.utc)
STAGES = {
    "pilot": {"run": "control", "gpu": 1, "part": "10 %", "decide": True},
    "train": {"each": "run", "gpu": 1, "hours": {"RTX 4090": [8, 10, 14], "A100 80GB": 5}},
}


def campaign() -> Campaign:
    return campaign_of(STAGES)


def seen(*hours: float, gpu: str | None = "rtx4090") -> list[Seen]:
    """Return observations of the control."""
    return [
        Seen(
            command=("python", "train.py", "1"),
            config={"rate": 1},
            corpus=None,
            observation=Observation(
                hours=each, gpu=gpu, when=datetime(2026, 11, 1 + day, tzinfo=timezone.utc), campaign=f"c{day}"
            ),
        )
        for day, each in enumerate(hours)
    ]


def hours_of(known: Campaign, name: str, gpu: str | None) -> Hours:
    interval = next(one for one in work_of(known).intervals if one.name == name)
    found = hours_on(interval, gpu)
    assert found is not None
    return found


def test_three_measured_runs_stand_for_that_run_on_that_card_alone() -> None:
    """11, 12 and 13 h: likely 12, (13 - 11) / 2 = 1 h beyond both ends. The pilot is 10 % of it."""
    (one,) = learn(campaign(), None, seen(11, 12, 13))
    known = informed(campaign(), [one])

    assert (one.hours, one.declared, one.count) == (
        Span(low=10, likely=12, high=14),
        Span(low=8, likely=10, high=14),
        3,
    )
    assert one.origin == ("measured: 3 observations, 2026-11-01 to 2026-11-03 (declared: 8, 10, 14 h)")
    assert hours_of(known, "train control", "RTX 4090").likely == 12
    assert hours_of(known, "train control", "RTX 4090").origin == one.origin
    assert hours_of(known, "pilot control", "RTX 4090").likely == pytest.approx(1.2)
    assert hours_of(known, "train fast", "RTX 4090") == Hours(8, 10, 14)
    assert hours_of(known, "train control", "A100 80GB").likely == 5


@pytest.mark.parametrize(
    "changed",
    [{"command": ("python", "train.py", "3")}, {"config": {"rate": 3}}, {"corpus": "ab" * 32}],
)
def test_another_command_configuration_or_input_says_nothing(changed: dict[str, object]) -> None:
    other = [replace(one, **changed) for one in seen(3)]  # type: ignore[arg-type]

    assert learn(campaign(), None, other) == ()


def test_hours_without_a_known_card_say_nothing_of_any_card() -> None:
    known = informed(campaign(), learn(campaign(), None, seen(1, 1, 1, gpu=None)))

    assert hours_of(known, "train control", "RTX 4090").likely == 10
    assert hours_of(known, "train control", None).likely == 1


def test_an_unknown_machine_takes_the_hours_of_the_only_card_that_was_measured() -> None:
    both = [*seen(12, 12, 12), *seen(3, 3, 3, gpu="h200")]

    one = informed(campaign(), learn(campaign(), None, seen(12, 12, 12)))
    two = informed(campaign(), learn(campaign(), None, both))
    (interval,) = (one for one in work_of(two).intervals if one.name == "train control")

    assert hours_of(one, "train control", None).likely == 12
    assert hours_on(interval, None) is None
    assert hours_of(two, "train control", "NVIDIA H200").likely == 3


def test_a_stage_that_was_taken_out_of_the_file_leaves_its_estimate_without_a_place() -> None:
    learned = learn(campaign(), None, seen(12, 12, 12))

    assert informed(campaign_of({}), learned).stages == {}


def test_a_plan_keeps_what_it_has_learned_and_says_the_same_stages() -> None:
    learned = learn(campaign(), None, seen(11, 12, 13))
    code = Code(digest="0" * 64)

    plain = make_plan(campaign(), None, created_at=NOW, code=code)
    plan = make_plan(campaign(), None, created_at=NOW, code=code, measured=Measured(durations=learned))

    assert Plan.from_json(plan.as_json()) == plan
    assert plan.estimates == learned
    assert plan.stages_digest == plain.stages_digest
    assert "estimates" not in plain.as_json()
