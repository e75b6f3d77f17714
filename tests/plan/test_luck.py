from __future__ import annotations

import pytest

from lastro.plan.luck import stream, triangular, uniform
from lastro.plan.parts import Span


def test_the_generator_gives_the_numbers_of_its_source() -> None:
    """SplitMix64 from 1234567: 6457827717110365317, then 3203168211198807973, as published with it."""
    first, second = (uniform(1234567, count) for count in (0, 1))

    assert first == (6457827717110365317 >> 11) * 2.0**-53
    assert second == (3203168211198807973 >> 11) * 2.0**-53


def test_another_name_or_seed_is_another_stream() -> None:
    assert len({stream(seed, name) for seed in range(50) for name in ("a", "b", "ab")}) == 150


@pytest.mark.parametrize(
    ("share", "hours"),
    [(0.0, 2.0), (0.125, 3.0), (0.5, 4.0), (0.875, 5.0)],
)
def test_a_triangle_by_hand(share: float, hours: float) -> None:
    """Low 2, likely 4, high 6: below 3 lies 1^2 / (4 * 2) = 1/8; it is symmetric."""
    assert triangular(Span(low=2, likely=4, high=6), share) == pytest.approx(hours)


def test_a_span_without_width_is_its_one_value() -> None:
    assert triangular(Span(low=3, likely=3, high=3), 0.7) == 3


@pytest.mark.parametrize("share", [0.0, 0.3, 1 - 2.0**-53])
@pytest.mark.parametrize("likely", [1.0, 9.0])
def test_a_peak_at_either_end_stays_inside(share: float, likely: float) -> None:
    assert 1.0 <= triangular(Span(low=1, likely=likely, high=9), share) <= 9.0
