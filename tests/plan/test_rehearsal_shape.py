"""What a plan is to its rehearsal, against numbers worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from lastro.plan.rehearsal_shape import end_hours

from .planning import ARTICLE, VARIANTS
from .rehearsing import CAMPAIGN, SPOT, shape


def test_a_plan_on_spot_is_held_against_its_undisturbed_hours(tmp_path: Path) -> None:
    """2 + 2 + 3 x 10 + 8 + 6 = 48: the calendar itself is longer by the losses that it expects."""
    found = shape(tmp_path)

    assert [(one.run, one.hours, one.required) for one in found.runs] == [
        ("control", 10.0, True),
        ("wide", 10.0, True),
        ("deep", 10.0, False),
    ]
    assert found.lanes == (("control", "wide", "deep"),)
    assert end_hours(found, {}) == pytest.approx(48.0)
    assert (found.window, found.pauses.boot, found.pauses.restart, found.pauses.away) == (72.0, 0.1, 0.1, 0.2)


def test_what_takes_longer_pushes_on_what_comes_later_on_its_lane_only(tmp_path: Path) -> None:
    """On two machines `deep` follows one of the others: 2 + 2 + 20 + 8 + 6 = 38; 10 h of slack beside."""
    found = shape(tmp_path, CAMPAIGN + "machines: 2\n")
    behind = next(lane for lane in found.lanes if len(lane) == 2)
    alone = next(lane for lane in found.lanes if len(lane) == 1)

    assert end_hours(found, {}) == pytest.approx(38.0)
    assert end_hours(found, {behind[0]: 3.0}) == pytest.approx(41.0)
    assert end_hours(found, {alone[0]: 3.0}) == pytest.approx(38.0)
    assert end_hours(found, {alone[0]: 12.0}) == pytest.approx(40.0)


def test_saves_are_those_of_the_file_else_those_that_the_plan_reckons_with(tmp_path: Path) -> None:
    """1 h between saves and 36 s for one: 1.01 h may be lost; with `max_loss: 30min` 0.5 h, 0.49 h apart."""
    declared = shape(tmp_path).saving
    bounded = shape(tmp_path, CAMPAIGN.replace("every: 1h", "every: 1h, max_loss: 30min")).saving
    by_steps = shape(tmp_path, CAMPAIGN.replace("every: 1h", "every: 200 steps")).saving
    by_itself = shape(tmp_path, CAMPAIGN.replace("checkpoint: {every: 1h}\n", "")).saving

    assert (declared.every, declared.bound) == pytest.approx((1.0, 1.01))
    assert (bounded.every, bounded.bound) == pytest.approx((0.49, 0.5))
    assert (by_steps.steps, by_steps.every, by_steps.bound) == (200, None, None)
    # Young: sqrt(2 x 0.01 x 6) = 0.346 h
    assert by_itself.every == pytest.approx(0.346, abs=0.001)


def test_without_stages_no_hour_is_known_and_what_was_not_measured_is_named(tmp_path: Path) -> None:
    found = shape(tmp_path, VARIANTS + "window: 72h\n", None)

    assert [one.hours for one in found.runs] == [None, None, None]
    assert end_hours(found, {}) is None
    assert found.pauses.away is None
    assert [text.split(" (")[0] for text in found.pauses.said] == [
        "a new start of 5 min 00 s",
        "a save of 20 s",
    ]


def test_a_duration_of_another_card_alone_makes_the_end_unknown(tmp_path: Path) -> None:
    text = ARTICLE.replace("[8, 10, 14]", "{H100: 5}") + VARIANTS

    assert end_hours(shape(tmp_path, text, SPOT.replace("boot", "gpu: RTX 4090, boot")), {}) is None
