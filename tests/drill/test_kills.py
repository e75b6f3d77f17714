"""The kills follow from what an undisturbed life has shown, and shrink to a budget."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lastro.drill.kills import Choice, Pace, choose_kills, pace_of, save_steps
from lastro.drill.trace import Life
from tests.drill.lives import life

#: A life of 20 updates takes 10 s.
TEN_SECONDS = Pace(start=4.0, each=0.3)


def chosen(
    reference: Life, *, full: bool = False, left: float | None = None, margin: int | None = 5, wanted: int = 0
) -> Choice:
    return choose_kills(
        reference, 5, full=full, left_seconds=left, pace=TEN_SECONDS, wanted=wanted, margin=margin
    )


def names(reference: Life, *, full: bool = False, left: float | None = None) -> list[str]:
    return [arm.name for arm in chosen(reference, full=full, left=left).chosen]


def with_epochs() -> Life:
    return life(1, 20, changes={9: {"begins": 1}, 12: {"evaluations": 4}})


def test_the_usual_ones_are_between_saves_in_a_save_and_twice() -> None:
    assert names(life(1, 20)) == ["between", "save", "twice"]


def test_full_does_all_that_are_possible() -> None:
    assert names(with_epochs(), full=True) == [
        "between", "save", "twice", "epoch", "term", "notice", "validation",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("left", "kills", "until"),
    [
        (151.0, ["between", "save", "twice", "term", "notice"], 20),
        (131.0, ["between", "save", "twice", "term"], 20),
        (111.0, ["between", "save", "twice"], 20),
        (109.0, ["between", "save", "twice"], 15),
        (90.0, ["between", "save", "term"], 15),
        (70.0, ["between", "save"], 15),
        (1.0, ["between"], 15),
        (-5.0, ["between"], 15),
    ],
)
def test_a_budget_leaves_out_rare_kills_then_updates_then_usual_kills(
    left: float, kills: list[str], until: int
) -> None:
    """Two undisturbed lives and a control (2 lives) come first; kills have 2, 2, 3, 2 and 2 lives.

    Of 20 updates a life takes 10 s: 4 + 7 lives are 110 s, one arm more 130 s, all of them 150 s. Of 15
    updates (the save after update 10, and 5 more) 8.5 s: 11 lives are 93.5 s; without the 3 of the kill that
    comes twice 68 s, and one with 2 lives in its place makes them 85 s.
    """
    choice = chosen(life(1, 20), left=left)

    assert ([arm.name for arm in choice.chosen], choice.until) == (kills, until)


def test_a_number_of_updates_that_was_asked_for_stays() -> None:
    choice = chosen(life(1, 20), left=1.0, margin=None)

    assert ([arm.name for arm in choice.chosen], choice.until) == (["between"], 20)


def test_what_is_left_out_is_told_with_its_reason() -> None:
    choice = chosen(life(1, 20), left=1.0, wanted=40)

    told = dict(choice.left_out)
    assert told["killed in a validation"] == "none was seen after the first save"
    assert "budget" in told["killed in a save, after update 10"]
    assert "budget" in told["updates 16 to 40"]
    assert told["keeping the budget"] == "the least that proves something takes 51 s, and 1.0 s were left"


def test_the_pace_of_a_life_is_told_apart_from_its_start() -> None:
    """Updates at seconds 1 to 20: one each second, and 12 s of 32 are no updates."""
    assert pace_of(life(1, 20), 32.0) == Pace(start=12.0, each=1.0)
    assert pace_of(life(1, 1), 5.0) == Pace(start=5.0, each=0.0)


def test_the_kill_falls_between_two_saves() -> None:
    choice = chosen(life(1, 20), full=True)
    kills = {arm.name: arm.kills for arm in choice.chosen}

    assert save_steps(life(1, 20), 5) == (5, 10, 15)
    assert 5 < kills["between"][1].after < 10
    assert kills["save"][1].after == 15
    assert 10 < kills["twice"][1].after < 15


def test_without_a_save_nothing_can_be_drilled() -> None:
    choice = chosen(life(1, 4), full=True)

    assert choice.chosen == ()
    assert choice.left_out[0][1] == "no save was seen before the last update"


def test_a_job_that_attaches_saves_when_it_is_told_to() -> None:
    attached = replace(life(1, 20), api=True)

    assert save_steps(attached, 4) == (4, 8, 12, 16)
