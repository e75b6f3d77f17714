from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastro.plan.keep_or_download import KeepOrDownload, keep_or_download
from lastro.units import Money
from tests.plan.planning import usd


def _compare(again: str, an_hour: str, hours: str) -> KeepOrDownload:
    return keep_or_download(again=usd(again), an_hour=usd(an_hour), kept_hours=Decimal(hours))


def test_a_disk_against_downloads_by_hand() -> None:
    """0.60 a download, 0.05 an hour of disk: 12 h between two sessions.

    In 72 h the disk costs 3.60, which are six downloads. The first is needed anyway: seven sessions cost the
    same both ways, and from eight on the disk is cheaper.
    """
    found = _compare("0.60", "0.05", "72")

    assert found.longest_gap_hours == 12
    assert found.kept == usd("3.60")
    assert found.sessions == 8


def test_a_disk_that_costs_nothing_is_always_kept() -> None:
    assert _compare("0.60", "0", "72").longest_gap_hours is None


def test_a_download_that_costs_nothing_is_never_worth_a_disk() -> None:
    found = _compare("0", "0.05", "72")

    assert (found.longest_gap_hours, found.sessions) == (0, None)


def test_two_currencies_are_not_compared() -> None:
    with pytest.raises(ValueError, match="cannot be compared"):
        keep_or_download(again=usd("1"), an_hour=Money(Decimal(1), "BRL"), kept_hours=Decimal(1))


CENTS = st.integers(min_value=1, max_value=10**6).map(lambda cents: Decimal(cents) / 100)


@given(again=CENTS, an_hour=CENTS, hours=CENTS)
def test_it_is_the_least_number_of_sessions_for_which_the_disk_is_cheaper(
    again: Decimal, an_hour: Decimal, hours: Decimal
) -> None:
    found = keep_or_download(again=Money(again, "USD"), an_hour=Money(an_hour, "USD"), kept_hours=hours)

    assert found.sessions is not None
    assert again + hours * an_hour < found.sessions * again
    assert again + hours * an_hour >= (found.sessions - 1) * again
