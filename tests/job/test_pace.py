from __future__ import annotations

import pytest

from lastro.job.pace import Pace


def _walk(pace: Pace, times: list[float], *, beside: bool) -> None:
    """Let steps of these lengths pass, with a second at each safe point that is no part of them."""
    now = 0.0
    for seconds in times:
        pace.left(now)
        pace.arrived(now + seconds, beside=beside)
        now += seconds + 1.0


def test_what_steps_take_longer_beside_a_save_is_its_slowdown() -> None:
    pace = Pace()
    _walk(pace, [1.0] * 20, beside=False)
    _walk(pace, [1.25, 1.5, 1.0], beside=True)

    assert pace.slowdown() == pytest.approx(0.75)
    assert pace.slowdown() == 0.0, "it is forgotten with the save"


def test_steps_that_happen_to_be_faster_are_no_gain() -> None:
    pace = Pace()
    _walk(pace, [1.0] * 20, beside=False)
    _walk(pace, [0.5], beside=True)

    assert pace.slowdown() == 0.0


def test_before_it_is_known_what_is_usual_the_slowdown_is_not_known() -> None:
    pace = Pace()
    _walk(pace, [1.0] * 3, beside=False)
    _walk(pace, [9.0], beside=True)

    assert pace.slowdown() is None
