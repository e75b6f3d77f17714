from __future__ import annotations

import random
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastro.preflight.profile.law import Bound, Paces, judge, predicted

PACE = st.floats(min_value=0.01, max_value=1e5)


def paces(*, real: float, replayed: float, wait: float, batches: int = 25) -> Paces:
    return Paces(real=real, replayed=replayed, loader=None, wait=wait, workers=0, batches=batches)


def steady(pace: float) -> list[float]:
    return [1 / pace]


def test_without_workers_a_batch_takes_the_sum_of_both_halves() -> None:
    """27.3 and 45.9 batches a second: 1 / (1/27.3 + 1/45.9) = 17.12."""
    assert predicted(steady(27.3), steady(45.9), workers=0, prefetch=0) == pytest.approx(17.12, abs=0.01)


def test_with_workers_a_batch_takes_the_longer_half() -> None:
    assert predicted(steady(26.0), steady(45.8), workers=1, prefetch=2) == pytest.approx(26.0)
    assert predicted(steady(135.7), steady(15.0), workers=4, prefetch=2) == pytest.approx(15.0)


def test_halves_that_vary_wait_for_each_other_and_a_longer_queue_makes_up_for_it() -> None:
    """Either half takes 0 or 2 s, evenly, so 1 s on average.

    With a queue of one the next batch is loaded while this one is computed: both take the longer of their
    times, 2 s in three of four equally likely pairs, 1.5 s on average. A long queue evens that out.
    """
    short, long = (predicted([0.0, 2.0], [0.0, 2.0], workers=1, prefetch=size) for size in (1, 200))

    assert short == pytest.approx(1 / 1.5, rel=0.03)
    assert long == pytest.approx(1.0, rel=0.05)


def test_two_means_alone_would_tell_a_loop_with_long_tails_a_fifth_too_fast() -> None:
    """Lognormal, sigma 0.8, 1 s on average on both sides: as means they promise one batch a second."""
    draw = random.Random(3)
    loads, bodies = ([draw.lognormvariate(-0.32, 0.8) for _ in range(5000)] for _half in range(2))

    pace = predicted(loads, bodies, workers=1, prefetch=2)

    assert statistics.fmean(loads) == pytest.approx(1.0, abs=0.05)
    assert 0.7 < pace < 1 / 1.2


@settings(deadline=None, max_examples=30)
@given(loader=PACE, compute=PACE)
def test_workers_never_slow_a_loop_down_and_never_more_than_double_it(loader: float, compute: float) -> None:
    alone = predicted(steady(loader), steady(compute), workers=0, prefetch=0)
    beside = predicted(steady(loader), steady(compute), workers=1, prefetch=2)

    assert alone <= beside * (1 + 1e-9) and beside <= 2 * alone * (1 + 1e-9)


@pytest.mark.parametrize(("loads", "bodies"), [([0.0], [1.0]), ([1.0], [0.0]), ([], [1.0])])
def test_no_pace_is_no_prediction(loads: list[float], bodies: list[float]) -> None:
    with pytest.raises(ValueError, match="more than 0"):
        predicted(loads, bodies, workers=0, prefetch=0)


@pytest.mark.parametrize(
    ("real", "replayed", "wait", "bound"),
    [
        (16.5, 45.9, 0.64, Bound.INPUT),
        (26.7, 45.8, 0.66, Bound.INPUT),
        (16.3, 15.0, 0.06, Bound.COMPUTE),
        (35.2, 40.2, 0.17, Bound.MIXED),
        # One mark alone sends nobody to work: tiny kernels, or waits that overlap with a device.
        (16.0, 45.0, 0.05, Bound.MIXED),
        (40.0, 41.0, 0.50, Bound.MIXED),
    ],
)
def test_both_marks_have_to_agree(real: float, replayed: float, wait: float, bound: Bound) -> None:
    judged = judge(paces(real=real, replayed=replayed, wait=wait))

    assert judged.bound is bound
    assert f"{wait:.0%}" in judged.why


def test_a_handful_of_batches_is_no_verdict() -> None:
    judged = judge(paces(real=10, replayed=40, wait=0.7, batches=4))

    assert judged.bound is Bound.UNKNOWN and "4" in judged.why
