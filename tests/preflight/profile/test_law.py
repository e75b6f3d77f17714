from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastro.preflight.profile.law import Bound, Paces, judge, predicted

PACE = st.floats(min_value=0.01, max_value=1e5)


def paces(*, real: float, replayed: float, wait: float, batches: int = 25) -> Paces:
    return Paces(real=real, replayed=replayed, loader=None, wait=wait, workers=0, batches=batches)


def test_without_workers_a_batch_takes_the_sum_of_both_halves() -> None:
    """27.3 and 45.9 batches a second: 1 / (1/27.3 + 1/45.9) = 17.12."""
    assert predicted(27.3, 45.9, workers=0) == pytest.approx(17.12, abs=0.01)


def test_with_workers_a_batch_takes_the_longer_half() -> None:
    assert predicted(26.0, 45.8, workers=1) == 26.0
    assert predicted(135.7, 15.0, workers=4) == 15.0


@given(loader=PACE, compute=PACE)
def test_workers_never_slow_a_loop_down_and_never_more_than_double_it(loader: float, compute: float) -> None:
    alone, beside = predicted(loader, compute, workers=0), predicted(loader, compute, workers=1)

    assert alone <= beside <= 2 * alone * (1 + 1e-9)


def test_no_pace_is_no_prediction() -> None:
    with pytest.raises(ValueError, match="more than 0"):
        predicted(0.0, 1.0, workers=0)


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
