from __future__ import annotations

from datetime import datetime, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastro.errors import UsageError
from lastro.plan.estimates import Observation, estimate
from lastro.plan.parts import Span

DECLARED = Span(low=8, likely=10, high=14)


def seen(*hours: float, gpu: str | None = "RTX 4090") -> list[Observation]:
    return [
        Observation(
            hours=each, gpu=gpu, when=datetime(2026, 10, 1 + day, tzinfo=timezone.utc), campaign=f"c{day}"
        )
        for day, each in enumerate(hours)
    ]


def test_without_an_observation_it_is_what_was_declared() -> None:
    found = estimate([], gpu="RTX 4090", declared=DECLARED)

    assert (found.span, found.origin, found.count) == (DECLARED, "declared", 0)


def test_what_nobody_knows_stays_unknown() -> None:
    found = estimate([], gpu=None)

    assert (found.span, found.origin) == (None, "unknown")
    assert found.why == "nothing was declared or measured"


def test_one_observation_is_blended_with_what_was_declared() -> None:
    """(2 * 10 + 16) / 3 = 12 h; 16 h lies above the declared 14 h and is the new high."""
    found = estimate(seen(16), gpu="RTX 4090", declared=DECLARED)

    assert found.span == Span(low=8, likely=12, high=16)
    assert found.origin == "declared, and measured: 1 observation, 2026-10-01"
    assert "lies outside of what was declared" in found.why


def test_from_three_on_what_was_measured_stands_alone() -> None:
    """4, 5 and 6 h: likely 5, and (6 - 4) / 2 = 1 h beyond both ends."""
    found = estimate(seen(6, 4, 5), gpu="RTX 4090", declared=DECLARED)

    assert found.span == Span(low=3, likely=5, high=7)
    assert found.origin == "measured: 3 observations, 2026-10-01 to 2026-10-03"
    assert found.count == 3


def test_two_without_a_declaration_say_that_they_are_few() -> None:
    found = estimate(seen(4, 6), gpu="RTX 4090")

    assert found.span == Span(low=4, likely=5, high=6)
    assert found.why == "too few to know how it spreads"


def test_another_card_does_not_count_and_is_told() -> None:
    found = estimate(seen(1, 2, gpu="H100"), gpu="RTX 4090", declared=DECLARED)

    assert (found.span, found.count, found.other_classes) == (DECLARED, 0, 2)
    assert "2 observations on other cards do not count for RTX 4090" in found.why


def test_an_unusual_one_is_told_and_not_dropped() -> None:
    """Nine near 5 h and one of 30 h: the high reaches beyond 30 h, the median hardly moves."""
    found = estimate(seen(4.8, 4.9, 5, 5, 5.1, 5.1, 5.2, 5.3, 5.4, 30), gpu="RTX 4090", declared=DECLARED)

    assert [one.hours for one in found.unusual] == [30]
    assert "unusual, and counted: 30 h (c9)" in found.why
    assert found.span is not None
    assert found.span.likely == pytest.approx(5.1)
    assert found.span.high == pytest.approx(30 + 25.2 / 9)


@given(
    hours=st.lists(st.floats(0.01, 1000), min_size=1, max_size=12),
    declared=st.one_of(st.none(), st.just(DECLARED)),
)
@settings(max_examples=100, deadline=None)
def test_all_that_was_measured_lies_within(hours: list[float], declared: Span | None) -> None:
    found = estimate(seen(*hours), gpu="RTX 4090", declared=declared)

    assert found.span is not None and found.count == len(hours)
    assert 0 < found.span.low <= min(hours)
    assert max(hours) <= found.span.high
    assert found.span.low <= found.span.likely <= found.span.high


@pytest.mark.parametrize("hours", [0.0, -1.0, float("nan"), float("inf")])
def test_a_duration_that_cannot_be_is_refused(hours: float) -> None:
    with pytest.raises(UsageError):
        estimate(seen(hours), gpu="RTX 4090")
