"""What a step in small stands for, and how often small runs save."""

from __future__ import annotations

from pathlib import Path

import pytest

from lastro.plan.rehearsal_scale import scale_of

from .rehearsing import CAMPAIGN, shape


def test_a_small_run_saves_as_often_in_its_hours_as_the_real_one(tmp_path: Path) -> None:
    """10 h in 40 steps are 0.25 h each; a save each hour is one in 4 steps."""
    found = scale_of(shape(tmp_path), {"control": 40, "wide": 40, "deep": 40}, shortened=True)

    assert found.runs["wide"].step_hours == 0.25
    assert (found.every, found.bound) == pytest.approx((4, 1.01))


def test_steps_of_the_file_are_made_fewer_as_the_runs_are(tmp_path: Path) -> None:
    """1,000 steps in earnest, 50 in small: 200 become 10, of 0.2 h each; 2 h and a save may be lost."""
    text = CAMPAIGN.replace("every: 1h", "every: 200 steps").replace(
        "[8, 10, 14]", "[8, 10, 14], steps: 1000"
    )
    found = scale_of(shape(tmp_path, text), {"control": 50}, shortened=True)

    assert (found.every, found.bound) == pytest.approx((10, 2.01))
    assert found.notes == ()


def test_steps_stay_as_they_are_where_nobody_knows_how_many_the_real_run_has(tmp_path: Path) -> None:
    text = CAMPAIGN.replace("every: 1h", "every: 20 steps")

    shortened = scale_of(shape(tmp_path, text), {"control": 50}, shortened=True)
    as_it_is = scale_of(shape(tmp_path, text), {"control": 50}, shortened=False)

    assert (shortened.every, shortened.bound) == (20, None)
    assert shortened.bound_why == "nobody knows how long a step of the real run takes"
    assert (as_it_is.every, as_it_is.bound) == pytest.approx((20, 4.01))


def test_a_step_that_stands_for_more_than_may_be_lost_shows_nothing_of_it(tmp_path: Path) -> None:
    """10 h in 5 steps: 2 h each, and 1.01 h may be lost."""
    found = scale_of(shape(tmp_path), {"control": 5}, shortened=True)

    assert (found.every, found.bound) == (1, None)
    assert found.bound_why == "a step of the small run stands for more than that"


def test_runs_over_items_save_nothing_and_promise_only_what_the_file_says(tmp_path: Path) -> None:
    bounded = CAMPAIGN.replace("every: 1h", "max_loss: 30min")
    one, other = (
        scale_of(shape(tmp_path, "resume: items\n" + text), {"control": 5}, shortened=False)
        for text in (CAMPAIGN, bounded)
    )

    assert (one.saves, one.bound, one.bound_why) == (
        False,
        None,
        "what is in hand is lost, and nothing bounds it",
    )
    assert (other.bound, other.notes) == (0.5, ())


def test_without_hours_the_runs_save_eight_times_and_a_run_without_steps_is_named(tmp_path: Path) -> None:
    text = CAMPAIGN.replace("stages:", "plan_b: {}\nuncertainties: []\nstages:")
    found = scale_of(shape(tmp_path, text), {"control": 80, "wide": None}, shortened=True)
    nothing = scale_of(shape(tmp_path, "checkpoint: {every: 1h}\n", None), {"control": 80}, shortened=True)

    assert found.unseen == ("wide",)
    assert (nothing.every, nothing.bound, nothing.notes) == (
        10,
        None,
        ("nobody knows how long the runs take: 8 saves each",),
    )
