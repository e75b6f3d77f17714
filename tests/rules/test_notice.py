"""What a notice leaves time for, as a table: grace 0, 5, 30 and 120 seconds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastro.rules import decide_notice


@pytest.mark.parametrize(
    ("notice", "save", "in_flight", "saves", "until", "loss"),
    [
        (0.0, 2.0, False, False, 0.0, 40.0),
        (0.0, 2.0, True, False, 0.0, 40.0),
        (0.0, None, False, False, 0.0, 40.0),
        (5.0, 2.0, False, True, 4.7, 0.0),
        (5.0, 4.0, False, True, 4.7, 40.0),  # fits as it was measured, not if the disk is half as fast
        (5.0, 10.0, False, False, 0.0, 40.0),  # none is begun that cannot end
        (5.0, 10.0, True, True, 4.7, 40.0),  # the one in flight may be nearly done
        (5.0, None, False, True, 4.7, 40.0),
        (30.0, 10.0, False, True, 29.7, 0.0),
        (30.0, 45.0, False, False, 0.0, 40.0),
        (30.0, 10.0, True, True, 29.7, 0.0),
        (120.0, 45.0, False, True, 119.7, 0.0),
        (120.0, 300.0, False, False, 0.0, 40.0),
    ],
)
def test_what_a_notice_leaves_time_for(
    notice: float, save: float | None, in_flight: bool, saves: bool, until: float, loss: float
) -> None:
    plan = decide_notice(notice, save_seconds=save, save_in_flight=in_flight, since_save=40.0)

    assert (plan.save, plan.ask_in, plan.loss_bound_seconds) == (saves, 0.0, loss)
    assert plan.until == pytest.approx(until)
    assert plan.why


def test_of_a_long_notice_the_time_before_is_used_for_work() -> None:
    """900 s of notice, a save of 10 s: 899.7 - 120 - 15 = 764.7 s of work before it is asked."""
    plan = decide_notice(900.0, save_seconds=10.0, save_in_flight=False, since_save=40.0)

    assert plan.ask_in == pytest.approx(764.7)


@given(st.floats(0, 1e4), st.one_of(st.none(), st.floats(0, 1e4)), st.booleans(), st.floats(0, 1e4))
def test_no_plan_outlasts_its_notice_or_promises_more_than_it_keeps(
    notice: float, save: float | None, in_flight: bool, since: float
) -> None:
    plan = decide_notice(notice, save_seconds=save, save_in_flight=in_flight, since_save=since)

    assert 0.0 <= plan.ask_in <= plan.until <= notice
    if plan.save and not in_flight and save is not None:
        assert save <= plan.until - plan.ask_in
    if not plan.save:
        assert (plan.until, plan.loss_bound_seconds) == (0.0, since)
