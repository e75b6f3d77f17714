"""The law of pairs: anytime-valid, symmetric in nothing, and honest about what it cannot tell."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastro.preflight.speed.law import (
    MOST_PAIRS,
    RUN_SPREAD,
    SLOW,
    Answer,
    Bounds,
    Judged,
    judge,
    pair_of,
    weight,
)

#: Spread of the pairs of one run, and how many of them a neighbour disturbs by how much, as on a crowded box.
PAIR_SPREAD, DISTURBED, BY = 0.09, 0.1, 0.6
RUNS = 1500


def test_the_weight_by_hand() -> None:
    """13 of 13: 2^14 * (1 - 2^-14) / 14 = 1170.2, the first that is above 1000; 0 of 1: 2 * (1/4) = 0.5."""
    assert weight(13, 13) == pytest.approx(1170.2, abs=0.1)
    assert weight(12, 12) < 1000
    assert weight(0, 1) == pytest.approx(0.5)


@pytest.mark.parametrize("count", [1, 2, 7, 40])
def test_in_pure_noise_the_weight_stays_one_on_average(count: int) -> None:
    """Ville's inequality needs no more: its chance of ever reaching 1000 is then one in a thousand."""
    mean = sum(Fraction(math.comb(count, k), 2**count) * Fraction(weight(k, count)) for k in range(count + 1))

    assert float(mean) == pytest.approx(1.0)


@given(before=st.floats(1e-4, 1.0), kernel=st.floats(1e-4, 1.0), drift=st.floats(0.5, 2.0))
def test_a_drift_of_the_machine_falls_out_of_a_pair(before: float, kernel: float, drift: float) -> None:
    steady = pair_of(before, kernel, before)
    drifting = pair_of(before, kernel * drift, before * drift**2)

    assert drifting == pytest.approx(steady, abs=1e-9)


def test_bounds_by_hand() -> None:
    """After one run either may lie off: 3 * 0.07 * sqrt(2) = 0.297, and 0.357 - 0.297 = 0.060."""
    one = Bounds.after(1)

    assert [one.slow, one.well] == pytest.approx([0.297, 0.060], abs=0.001)
    many = Bounds.after(10_000)
    assert [many.slow, many.well] == pytest.approx([0.210, 0.147], abs=0.001)


def test_without_an_earlier_run_there_is_nothing_to_compare_with() -> None:
    with pytest.raises(ValueError, match="earlier run"):
        Bounds.after(0)


def test_a_kernel_like_before_is_well_after_thirteen_pairs_and_half_the_speed_is_slow_as_fast() -> None:
    well = judge([0.0] * MOST_PAIRS, Bounds.after(3))
    slow = judge([math.log(2)] * MOST_PAIRS, Bounds.after(3))

    assert (well.answer, well.pairs) == (Answer.WELL, 13)
    assert (slow.answer, slow.pairs) == (Answer.SLOW, 13)
    assert slow.speed == pytest.approx(0.5)


def test_between_the_bounds_and_with_too_few_pairs_it_stays_open() -> None:
    bounds = Bounds.after(3)
    between = (bounds.slow + bounds.well) / 2

    assert judge([between] * MOST_PAIRS, bounds).answer is Answer.OPEN
    assert judge([0.0] * 12, bounds).answer is Answer.OPEN
    assert judge([], bounds) == Judged(answer=Answer.OPEN, pairs=0, median=0.0)


def run_of(draw: random.Random, slowed: float) -> Judged:
    """Judge one made run: its own shift, its pairs' noise, and a neighbour that disturbs some of them."""
    earlier = draw.choice((1, 3, 10))
    usual = sum(draw.gauss(0, RUN_SPREAD) for _ in range(earlier)) / earlier
    shift = draw.gauss(0, RUN_SPREAD) + slowed - usual
    pairs = [
        shift + draw.gauss(0, PAIR_SPREAD) + (draw.expovariate(1 / BY) if draw.random() < DISTURBED else 0.0)
        for _ in range(MOST_PAIRS)
    ]
    return judge(pairs, Bounds.after(earlier))


def answers(slowed: float) -> dict[Answer, float]:
    draw = random.Random(7)
    found = [run_of(draw, slowed).answer for _ in range(RUNS)]
    return {answer: found.count(answer) / RUNS for answer in Answer}


def test_on_a_noisy_machine_a_healthy_kernel_is_called_slow_in_less_than_one_run_of_a_hundred() -> None:
    healthy = answers(0.0)

    assert healthy[Answer.SLOW] <= 0.01
    assert healthy[Answer.WELL] >= 0.5, "a check that never passes anybody is none"


def test_a_third_less_speed_is_found_or_left_open_and_never_passed() -> None:
    """30 % less: 0.357 above the usual, more than three sigmas from what is passed."""
    slow = answers(SLOW)

    assert slow[Answer.WELL] <= 0.002
    assert slow[Answer.SLOW] >= 0.5


def test_half_the_speed_is_found() -> None:
    assert answers(math.log(2))[Answer.SLOW] >= 0.95
