"""What lives with state put back say of the cause that the rules name."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from lastro.drill.cause import Cause
from lastro.drill.compare import Gap
from lastro.drill.crosscheck import (
    Agreement,
    Check,
    Suspect,
    Trial,
    cut_short,
    is_noise,
    judge_trial,
    next_trial,
)
from tests.drill.lives import life


def suspect(kind: str, *also: str, fields: Sequence[str] = ("state",)) -> Suspect:
    gap = Gap(life=2, step=6, fields=tuple(fields), update=None, partner=None)
    return Suspect(gap=gap, cause=Cause(kind=kind, why="named", also=tuple(also)), at=5)


def trial(*kinds: str, same: bool | None, step: int | None = 6) -> Trial:
    return Trial(put_back=kinds, same=same, step=None if same else step, why="the rest")


def answer(found: Suspect, *trials: Trial) -> Agreement:
    check = next_trial(found, trials)
    assert isinstance(check, Check), check
    assert check.trials == trials
    return check.answer


def test_the_cause_alone_is_tried_first_and_agrees_when_nothing_differs_then() -> None:
    found = suspect("optimizer", "random")

    assert next_trial(found, []) == ("optimizer",)
    assert answer(found, trial("optimizer", same=True)) is Agreement.AGREES


def test_when_it_is_not_enough_all_is_put_back_and_then_all_without_it() -> None:
    found = suspect("optimizer", "random", "scheduler")
    alone, both = trial("optimizer", same=False), trial("optimizer", "random", "scheduler", same=True)

    assert next_trial(found, [alone]) == ("optimizer", "random", "scheduler")
    assert next_trial(found, [alone, both]) == ("random", "scheduler")
    needed = trial("random", "scheduler", same=False)
    assert answer(found, alone, both, needed) is Agreement.AGREES
    assert answer(found, alone, both, trial("random", "scheduler", same=True)) is Agreement.DISAGREES


@pytest.mark.parametrize(("step", "expected"), [(6, Agreement.DISAGREES), (9, Agreement.AGREES)])
def test_what_still_differs_with_all_put_back_says_so_and_later_means_that_it_helped(
    step: int, expected: Agreement
) -> None:
    found = suspect("buffers")

    check = next_trial(found, [trial("buffers", same=False, step=step)])

    assert isinstance(check, Check) and check.answer is expected
    assert "the rest" in check.why


def test_what_cannot_be_put_back_is_right_when_all_else_makes_no_difference() -> None:
    found = suspect("data", "random", fields=("data",))

    assert next_trial(found, []) == ("random",)
    assert answer(found, trial("random", same=False)) is Agreement.AGREES
    assert answer(found, trial("random", same=True)) is Agreement.DISAGREES


def test_where_nothing_can_be_put_back_the_same_is_done_once_more() -> None:
    """A value of the job's own code differs again; noise that three lives have not shown does not."""
    found = suspect("variable")
    again, gone = trial(same=False), trial(same=True)

    assert next_trial(found, []) == ()
    assert answer(found, again) is Agreement.NOT_TRIED
    assert answer(found, gone) is Agreement.DISAGREES
    assert [is_noise(Check(answer=answer(found, one), why="", trials=(one,))) for one in (again, gone)] == [
        False,
        True,
    ]


def test_random_states_that_a_batch_was_drawn_from_are_not_put_back_in_time() -> None:
    assert next_trial(suspect("random", "buffers", fields=("data",)), []) == ("buffers",)
    assert next_trial(suspect("random", "buffers", fields=("losses",)), []) == ("random",)


def test_a_life_that_shows_nothing_says_why() -> None:
    shown_nothing = Trial(put_back=("optimizer",), same=None, why="not resumed")

    check = next_trial(suspect("optimizer"), [shown_nothing])

    assert isinstance(check, Check)
    assert (check.answer, check.why) == (Agreement.NOT_TRIED, "not resumed")


def test_what_the_budget_leaves_out_is_no_answer() -> None:
    check = cut_short([trial("optimizer", same=False)], "over the budget of time")

    assert check.answer is Agreement.NOT_TRIED
    assert "over the budget" in check.why and "from update 6 on" in check.why


@pytest.mark.parametrize(
    ("first", "put_back", "failed", "why"),
    [
        (6, ("optimizer",), (), "named"),
        (11, ("optimizer",), (), "this time it went on after update 10, not 5"),
        (6, ("optimizer",), ("model: KeyError: 1",), "model: KeyError: 1"),
        (6, (), (), "nothing could be put back"),
        (6, None, (), "nothing could be put back"),
    ],
)
def test_a_trial_counts_when_all_of_it_was_put_back_into_the_same_place(
    first: int, put_back: tuple[str, ...] | None, failed: tuple[str, ...], why: str
) -> None:
    resumed = life(first, 20, 2, put_back=put_back, not_put_back=failed)

    judged = judge_trial(suspect("optimizer"), ("optimizer",), resumed, same=True, step=None, why="named")

    assert (judged.same, judged.why) == (True if why == "named" else None, why)
