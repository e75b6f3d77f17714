"""The kills follow from what an undisturbed life has shown, and shrink to a budget."""

from __future__ import annotations

from dataclasses import replace

from lastro.drill.kills import choose_kills, save_steps
from lastro.drill.trace import Life
from tests.drill.lives import life


def names(reference: Life, **wish: object) -> list[str]:
    options: dict[str, object] = {"full": False, "budget_seconds": None, "life_seconds": 10.0, **wish}
    return [arm.name for arm in choose_kills(reference, 5, **options).chosen]  # type: ignore[arg-type]


def with_epochs() -> Life:
    return life(1, 20, changes={9: {"begins": 1}, 12: {"evaluations": 4}})


def test_the_usual_ones_are_between_saves_in_a_save_and_twice() -> None:
    assert names(life(1, 20)) == ["between", "save", "twice"]


def test_full_does_all_that_are_possible() -> None:
    assert names(with_epochs(), full=True) == [
        "between", "save", "twice", "epoch", "term", "notice", "validation",
    ]  # fmt: skip


def test_a_budget_takes_as_many_as_fit_and_one_at_least() -> None:
    assert names(life(1, 20), budget_seconds=1.0) == ["between"]
    assert names(life(1, 20), budget_seconds=45.0) == ["between", "save"]


def test_what_is_left_out_is_told_with_its_reason() -> None:
    choice = choose_kills(life(1, 20), 5, full=False, budget_seconds=1.0, life_seconds=10.0)

    told = dict(choice.left_out)
    assert told["killed in a validation"] == "none was seen after the first save"
    assert "budget" in told["killed in a save, after update 15"]


def test_the_kill_falls_between_two_saves() -> None:
    choice = choose_kills(life(1, 20), 5, full=True, budget_seconds=None, life_seconds=10.0)
    kills = {arm.name: arm.kills for arm in choice.chosen}

    assert save_steps(life(1, 20), 5) == (5, 10, 15)
    assert 5 < kills["between"][1].after < 10
    assert kills["save"][1].after == 15
    assert 10 < kills["twice"][1].after < 15


def test_without_a_save_nothing_can_be_drilled() -> None:
    choice = choose_kills(life(1, 4), 5, full=True, budget_seconds=None, life_seconds=1.0)

    assert choice.chosen == ()
    assert choice.left_out[0][1] == "no save was seen before the last update"


def test_a_job_that_attaches_saves_when_it_is_told_to() -> None:
    attached = replace(life(1, 20), api=True)

    assert save_steps(attached, 4) == (4, 8, 12, 16)
