from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastro.errors import UsageError
from lastro.plan.hours import Band, propose_starts, read_bands
from lastro.units import Money


def usd(amount: str) -> Money:
    return Money(Decimal(amount), "USD")


def at(hour: int, minute: int = 0, day: int = 1) -> datetime:
    return datetime(2026, 12, day, hour, minute, tzinfo=timezone.utc)


def hours(count: float) -> timedelta:
    return timedelta(hours=count)


NIGHT = read_bands({"22-06": usd("0.40")})


def test_a_night_is_cheaper_by_what_it_saves() -> None:
    """8 h from 14:00 at 0.60 are 4.80 USD, from 22:00 at 0.40 they are 3.20: 8 h later, 1.60 less."""
    found = propose_starts(hours(8), now=at(14), bands=NIGHT, price=usd("0.60"))

    assert found.first is not None
    assert (found.first.at, found.first.end, found.first.cost) == (at(14), at(22), usd("4.80"))
    best = found.proposed[-1]
    assert (best.at, best.end, best.cost) == (at(22), at(6, day=2), usd("3.20"))
    assert (best.later, best.saves) == (hours(8), usd("1.60"))
    assert found.why == "starting at 2026-12-01 22:00 UTC saves 1.60 USD"


def test_half_of_the_night_is_proposed_when_the_window_allows_no_more() -> None:
    """8 h within 13 h from 14:00 have to begin by 19:00: 3 h at 0.60 and 5 h at 0.40 are 3.80 USD."""
    found = propose_starts(hours(8), now=at(14), bands=NIGHT, price=usd("0.60"), window=hours(13))

    assert [(one.at, one.cost) for one in found.proposed] == [(at(19), usd("3.80"))]


def test_the_hours_are_local_ones() -> None:
    """22:00 at UTC-3 is 01:00 UTC of the next day."""
    found = propose_starts(
        hours(2), now=at(14), bands=NIGHT, price=usd("0.60"), utc_offset=timedelta(hours=-3)
    )

    assert found.proposed[-1].at == at(1, day=2)
    assert found.proposed[-1].at.utcoffset() == timedelta()


def test_hours_without_machines_are_waited_for() -> None:
    """Nothing from 8 to 18: from 14:00 the first start is 18:00, and the night saves from there."""
    bands = read_bands({"22-06": usd("0.40")}, none=["8-18"])
    found = propose_starts(hours(2), now=at(14), bands=bands, price=usd("0.60"))

    assert found.first is not None and found.first.at == at(18)
    assert found.proposed[-1].at == at(22)
    assert found.proposed[-1].later == hours(4)
    assert found.why.startswith("no machine is to be had before 2026-12-01 18:00 UTC; starting at")


@pytest.mark.parametrize(("kept", "first"), [(True, at(5)), (False, at(18))])
def test_a_machine_is_kept_through_such_hours_or_is_not(kept: bool, first: datetime) -> None:
    """4 h from 5:00 reach into the hours from 8 on."""
    bands = read_bands({}, none=["8-18"])

    found = propose_starts(hours(4), now=at(5), bands=bands, price=usd("1"), kept=kept)

    assert found.first is not None and found.first.at == first


def test_when_no_start_fits_it_says_so() -> None:
    bands = read_bands({}, none=["8-18"])
    found = propose_starts(hours(1), now=at(9), bands=bands, price=usd("1"), window=hours(5))

    assert (found.first, found.proposed) == (None, ())
    assert "no machine can be held long enough" in found.why


def test_an_unknown_price_is_never_the_cheapest() -> None:
    bands = (Band(begins=22, ends=6, price=None),)
    day = propose_starts(hours(2), now=at(14), bands=bands, price=usd("0.60"))
    night = propose_starts(hours(2), now=at(23), bands=bands, price=usd("0.60"))

    assert day.proposed == ()
    assert night.first is not None and night.first.cost is None
    assert "unknown" in night.why


def test_without_bands_now_is_as_good_as_later() -> None:
    found = propose_starts(hours(2), now=at(14), bands=(), price=usd("0.60"))

    assert (found.proposed, found.why) == ((), "no later start is cheaper")


bands_of_a_day = st.lists(
    st.tuples(st.integers(0, 23), st.integers(1, 20), st.one_of(st.none(), st.integers(1, 9))), max_size=1
)


@given(
    drawn=bands_of_a_day,
    minutes=st.integers(1, 2000),
    minute=st.integers(0, 1439),
    offset=st.integers(-12, 14),
    tried=st.lists(st.integers(0, 1440), max_size=20),
)
@settings(max_examples=80, deadline=None)
def test_no_other_moment_of_the_day_is_cheaper(
    drawn: list[tuple[int, int, int | None]], minutes: int, minute: int, offset: int, tried: list[int]
) -> None:
    """Starting at any minute of the next day costs no less than the cheapest that is proposed."""
    bands = tuple(
        Band(
            begins=begins,
            ends=(begins + length) % 24,
            price=None if price is None else usd(str(price)),
            available=price is not None,
        )
        for begins, length, price in drawn
    )
    now = at(0) + timedelta(minutes=minute)

    def starts(when: datetime) -> list[Decimal]:
        found = propose_starts(
            timedelta(minutes=minutes),
            now=when,
            bands=bands,
            price=usd("5"),
            utc_offset=timedelta(hours=offset),
            window=None if when == now else timedelta(minutes=minutes),
        )
        return [one.cost.amount for one in (found.first, *found.proposed) if one is not None and one.cost]

    best = min(starts(now))
    assert all(
        cost >= best - Decimal("0.000002")
        for later in tried
        for cost in starts(now + timedelta(minutes=later))
    )


@pytest.mark.parametrize("text", ["22", "25-3", "a-b", "-3-4", "1-99"])
def test_what_is_no_range_of_hours_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no range of hours"):
        read_bands({text: usd("1")})


def test_ranges_that_overlap_are_refused_by_their_hours() -> None:
    with pytest.raises(UsageError, match="22-6 and 5-8 overlap"):
        read_bands({"22-06": usd("1")}, none=["5-8"])


@pytest.mark.parametrize(
    ("hour", "inside"), [(22, True), (23, True), (0, True), (5, True), (6, False), (21, False)]
)
def test_a_band_goes_over_midnight(hour: int, inside: bool) -> None:
    assert Band(begins=22, ends=6).covers(hour) is inside


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(UsageError):
        propose_starts(timedelta(), now=at(1), bands=(), price=None)
    with pytest.raises(UsageError):
        propose_starts(hours(1), now=datetime(2026, 1, 1), bands=(), price=None)  # noqa: DTZ001
    with pytest.raises(UsageError, match="BRL, USD do not compare"):
        propose_starts(hours(1), now=at(1), bands=NIGHT, price=Money(Decimal(1), "BRL"))
