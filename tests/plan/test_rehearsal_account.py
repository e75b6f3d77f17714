"""What each fault has cost, counted by hand: 10 h in 100 steps, 0.1 h each, saved each tenth."""

from __future__ import annotations

import pytest

from lastro.plan.rehearsal_account import Blow, Life, blows_of
from lastro.plan.rehearsal_draw import Drawn
from lastro.plan.rehearsal_weather import Kind

from .rehearsing import PAUSES, scale, sudden


def life(**more: object) -> Life:
    given = {"run": "control", "began": 0, "saves": (), "lost": 0, "ended": "gone", "fault": 0, **more}
    return Life(**given)  # type: ignore[arg-type]


def one(fault: Drawn, *lives: Life) -> Blow:
    (blow,) = blows_of([fault], lives, scale(control=100), PAUSES)
    return blow


def test_a_loss_counts_from_the_step_at_which_it_was_drawn() -> None:
    """At 29 the save at 20 is the last, 0.9 h before; that at 30 came because the look was late.

    Boot, restart and 0.2 h until a machine is had come to it: 1.3 h later, 1.1 h of them paid.
    """
    blow = one(sudden(0, "control", 29), life(saves=(10, 20, 30), lost=7))

    assert (blow.lost_steps, blow.lost) == pytest.approx((9, 0.9))
    assert (blow.delay, blow.held) == pytest.approx((1.3, 1.1))


def test_what_an_earlier_attempt_has_saved_counts() -> None:
    crashed = life(saves=(10, 20), fault=None, ended="it crashed")
    blow, _by_itself = blows_of(
        [sudden(0, "control", 25)], [crashed, life(began=20)], scale(control=100), PAUSES
    )

    assert blow.lost_steps == 5


def test_with_notice_nothing_is_lost_when_the_job_has_saved_and_all_since_the_last_save_when_not() -> None:
    fault = Drawn(index=0, kind=Kind.NOTICE, run="control", step=29, notice=30.0)

    saved, not_saved = one(fault, life(saves=(10, 20, 33))), one(fault, life(saves=(10, 20)))

    assert (saved.lost_steps, saved.delay) == pytest.approx((0, 0.4))
    assert not_saved.lost_steps == 9


def test_what_was_saved_on_a_notice_was_saved_where_the_notice_came() -> None:
    """Saved at 33 in small and at 29 in the plan; so a loss at 38 is 9 steps after a save and not 5."""
    notice = Drawn(index=0, kind=Kind.NOTICE, run="control", step=29, notice=30.0)
    lives = [life(saves=(10, 20, 33)), life(began=33, saves=(), fault=1)]

    first, second = blows_of([notice, sudden(1, "control", 38)], lives, scale(control=100), PAUSES)

    assert (first.lost_steps, second.lost_steps) == (0, 9)


def test_a_machine_that_freezes_is_waited_for_and_paid_meanwhile() -> None:
    """0.5 h of silence beside 0.9 h of work and 0.4 h until work goes on."""
    fault = Drawn(index=0, kind=Kind.SILENT, run="control", step=29)
    blow = one(fault, life(saves=(10, 20)))

    assert (blow.delay, blow.held) == pytest.approx((1.8, 1.6))


def test_refusals_cost_the_time_until_they_were_asked_again() -> None:
    """Two in a row: 1 s and 2 s, shared."""
    faults = [Drawn(index=at, kind=Kind.REFUSED, create=at + 1) for at in range(2)]
    lives = [life(ended=None, fault=None, refused=(0, 1), refused_seconds=3.0)]

    found = blows_of(faults, lives, scale(control=100), PAUSES)

    assert [(blow.index, blow.run, blow.held) for blow in found] == [(0, "control", 0.0), (1, "control", 0.0)]
    assert sum(blow.delay or 0.0 for blow in found) == pytest.approx(3 / 3600)


def test_what_never_came_costs_nothing_and_what_nobody_has_drawn_stands_behind() -> None:
    lives = [life(fault=None, lost=4, saves=(20,), ended="it crashed")]

    never, by_itself = blows_of([sudden(0, "control", 29)], lives, scale(control=100), PAUSES)

    assert (never.happened, never.delay) == (False, 0.0)
    assert (by_itself.index, by_itself.step) == (None, 24)
    assert by_itself.lost == pytest.approx(0.4)
    assert by_itself.why == "it crashed"


def test_of_a_run_over_items_the_items_in_hand_are_lost() -> None:
    (blow,) = blows_of([sudden(0, "control", 29)], [life(lost=1)], scale(control=100), PAUSES, items=True)

    assert blow.lost_steps == 1
