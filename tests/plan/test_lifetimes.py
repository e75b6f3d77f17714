from __future__ import annotations

import math

import pytest

from lastro.errors import UsageError
from lastro.plan.lifetimes import memoryless, observed_lifetimes


def test_the_share_that_lives_longer_by_hand() -> None:
    lives = observed_lifetimes([7, 0.5, 1, 1], origin="seen")

    assert (lives.survival(0.4), lives.survival(1), lives.survival(7)) == (1.0, 0.25, 0.0)
    assert lives.mean == 2.375
    assert lives.observed


@pytest.mark.parametrize("mean", [0.1, 6.0, 500.0])
def test_without_memory_the_mean_is_kept_and_the_spread_nearly(mean: float) -> None:
    """Of an exponential exp(-1) live longer than the mean, exp(-3) than three; its deviation is the mean."""
    lives = memoryless(mean, origin="told")

    assert lives.mean == pytest.approx(mean, rel=1e-9)
    assert lives.survival(mean) == pytest.approx(math.exp(-1), abs=0.004)
    assert lives.survival(3 * mean) == pytest.approx(math.exp(-3), abs=0.004)
    deviation = math.sqrt(sum((hour - mean) ** 2 for hour in lives.hours) / len(lives.hours))
    assert deviation == pytest.approx(mean, rel=0.01)
    assert list(lives.hours) == sorted(lives.hours)


@pytest.mark.parametrize("hours", [[], [1.0, 0.0], [-1.0], [float("nan")], [float("inf")]])
def test_lives_that_nobody_has_seen_are_refused(hours: list[float]) -> None:
    with pytest.raises(UsageError):
        observed_lifetimes(hours, origin="seen")


@pytest.mark.parametrize("mean", [0.0, -1.0, float("nan"), float("inf")])
def test_a_mean_that_cannot_be_is_refused(mean: float) -> None:
    with pytest.raises(UsageError):
        memoryless(mean, origin="told")
