from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastro.view import ticks


def test_ticks_are_round_and_enclose_the_values() -> None:
    assert ticks.linear(0.23, 0.97) == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    assert [ticks.label(tick, [0.2, 0.4]) for tick in (0.2, 0.4)] == ["0.2", "0.4"]
    assert ticks.label(0.25, [0.0, 0.25, 0.5]) == "0.25"
    assert [ticks.label(tick, [0.0, 8e10, 8.5e10]) for tick in (0.0, 8e10, 8.5e10)] == ["0", "80G", "85G"]


def test_one_value_alone_gets_an_axis_around_it() -> None:
    marks = ticks.linear(3.0, 3.0)
    assert marks[0] < 3.0 < marks[-1]


@settings(max_examples=100, deadline=None)
@given(st.floats(-1e12, 1e12), st.floats(-1e12, 1e12))
def test_any_two_values_lie_within_their_ticks(a: float, b: float) -> None:
    low, high = min(a, b), max(a, b)
    marks = ticks.linear(low, high)
    slack = 1e-6 * max(abs(low), abs(high), 1.0)
    assert 2 <= len(marks) <= 14
    assert marks[0] <= low + slack and marks[-1] >= high - slack
    assert all(ticks.label(mark, marks) for mark in marks)


def test_steps_are_whole_numbers_within_the_range() -> None:
    assert ticks.steps(1, 3000) == [1000, 2000, 3000]
    assert ticks.steps(5, 5) == [5]
    assert [ticks.step_label(step) for step in (900, 20_000, 1_500_000)] == ["900", "20k", "1.5M"]


def test_time_is_marked_in_the_intervals_of_clocks() -> None:
    assert ticks.times(3600 * 5) == [0, 3600, 7200, 10800, 14400, 18000]
    assert ticks.time_label(7200, 5 * 3600) == "2 h"
    assert ticks.time_label(90, 600) == "1.5 min"


def test_decades_enclose_the_values_with_few_ticks() -> None:
    assert ticks.decades(0.002, 30) == pytest.approx([0.001, 0.01, 0.1, 1, 10, 100])
    assert len(ticks.decades(1e-300, 1e300)) <= 8
    assert [ticks.power(value) for value in (0.01, 1.0, 1e6, 1e-12)] == ["0.01", "1", "10⁶", "10⁻¹²"]
