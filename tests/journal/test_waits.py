from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastro.journal.provisioning import Provision
from lastro.journal.waits import ENOUGH, grouped, quantile

SECONDS = st.lists(st.floats(0.1, 1e5), min_size=1, max_size=40)


def machine(boot: float | None, *, hour: int = 9, given_up: float | None = None, **changed: str) -> Provision:
    return Provision(
        campaign="c",
        tag=changed.pop("tag", "t"),
        provider=changed.pop("provider", "local"),
        offer="box",
        asked_at=f"2026-11-30T{hour:02d}:00:00.000000Z",
        boot=boot,
        given_up=given_up,
    )


def test_without_giving_up_a_quantile_is_the_ordinary_one() -> None:
    """Of 1 to 10 s a half had come after 5 s, nine tenths after 9 s."""
    seen = [float(second) for second in range(1, 11)]

    assert (quantile(seen, [], 0.5), quantile(seen, [], 0.9)) == (5.0, 9.0)


def test_what_was_given_up_counts_as_longer_and_not_as_nothing() -> None:
    """10, 20, 40, 50 s, one given up at 30: 4/5, 3/5, then 3/5 * 1/2 = 0.3, so the median is 40, not 20."""
    assert quantile([10, 20, 40, 50], [30], 0.5) == 40
    assert quantile([10, 20, 40, 50], [], 0.5) == 20


def test_where_most_were_given_up_early_it_is_not_known() -> None:
    assert quantile([10, 20], [1] * 8, 0.5) == 10  # of the two that were still waited for, one had come
    assert quantile([10, 20], [30] * 8, 0.5) is None
    assert quantile([], [5.0], 0.5) is None


@given(seen=SECONDS, given_up=SECONDS)
def test_giving_up_later_never_makes_anything_look_faster(seen: list[float], given_up: list[float]) -> None:
    without, some = quantile(seen, [], 0.5), quantile(seen, [max(seen) + 1] * len(given_up), 0.5)

    assert without is not None
    assert some is None or some >= without


def test_below_ten_the_events_themselves_are_shown() -> None:
    few = [machine(float(seconds)) for seconds in range(1, ENOUGH)]

    (boot,) = [stage for stage in grouped(few)[0].stages if stage.stage == "boot"]
    assert (boot.median, boot.p90) == (None, None)
    assert boot.as_json()["events"] == [float(seconds) for seconds in range(1, ENOUGH)]

    (boot,) = [stage for stage in grouped([*few, machine(10.0)])[0].stages if stage.stage == "boot"]
    assert (boot.median, boot.p90) == (5.0, 9.0)
    assert boot.as_json()["events"] is None


def test_one_that_took_ten_times_as_long_is_named() -> None:
    draw = random.Random(3)
    usual = [machine(draw.uniform(9, 11), tag=f"t{number}") for number in range(20)]

    (boot,) = [
        stage for stage in grouped([*usual, machine(100.0, tag="slow")])[0].stages if stage.stage == "boot"
    ]

    assert boot.outliers == ("slow",)


def test_groups_are_providers_cards_and_hours_and_those_that_are_not_known() -> None:
    groups = grouped([machine(1.0), machine(2.0, provider="here", hour=14), machine(None, given_up=60.0)])

    assert [(group.by, group.name, group.machines) for group in groups] == [
        ("provider", "here", 1), ("provider", "local", 2), ("gpu", None, 3),
        ("hour", "09", 2), ("hour", "14", 1),
    ]  # fmt: skip
    boot = groups[1].stages[1]
    assert (boot.seen, boot.given_up) == ((1.0,), (60.0,))


def test_no_machines_are_no_groups() -> None:
    assert grouped([]) == ()
    assert pytest.approx(1.0) == quantile([1.0], [], 0.9)
