from __future__ import annotations

from decimal import Decimal

import pytest

from lastro.billing import Lease, LeaseKind, cost
from lastro.plan.lifetimes import Lifetimes, observed_lifetimes
from lastro.plan.spot import compare
from lastro.plan.spot_lives import Work
from lastro.units import Money


def usd(amount: str) -> Money:
    return Money(Decimal(amount), "USD")


def priced(kind: LeaseKind, price: str | None, currency: str = "USD") -> Lease:
    money = None if price is None else Money(Decimal(price), currency)
    return Lease(offer=kind.value, kind=kind, price=money)


def spot(price: str | None, currency: str = "USD") -> Lease:
    return priced(LeaseKind.SPOT, price, currency)


STAYS = priced(LeaseKind.HOURLY, "1")
#: Half live for 1.5 h, half for 9 h: 2 h of work, saved each hour, hold 2.25 h. See test_spot_lives.
LIVES = observed_lifetimes([1.5, 9.0], origin="seen")
WORK = Work(hours=2, every=1)


def test_the_cheaper_total_wins_with_its_break_even() -> None:
    """2.25 h at 0.40 are 0.90 USD, 2 h on demand 2 USD: they meet at 2 / 2.25 = 0.8889 USD an hour."""
    found = compare(WORK, spot("0.40"), STAYS, LIVES)

    assert found.choose is LeaseKind.SPOT
    assert (found.spot_cost, found.on_demand_cost) == (usd("0.90"), usd("2"))
    assert found.break_even == usd("0.888889")
    assert found.why == "spot is expected to cost 0.90 USD with 0.5 interruptions, hourly 2.00 USD"


@pytest.mark.parametrize(("price", "chosen"), [("0.88", LeaseKind.SPOT), ("0.89", LeaseKind.HOURLY)])
def test_the_break_even_is_where_the_choice_changes(price: str, chosen: LeaseKind) -> None:
    assert compare(WORK, spot(price), STAYS, LIVES).choose is chosen


@pytest.mark.parametrize("price", ["1", "1.10"])
def test_spot_is_never_chosen_when_an_hour_of_it_costs_no_less(price: str) -> None:
    found = compare(WORK, spot(price), STAYS, LIVES)

    assert found.choose is LeaseKind.HOURLY
    assert "no less than hourly for 1.00 USD" in found.why


def test_never_spot_binds_whatever_it_would_save() -> None:
    found = compare(Work(hours=2, every=1, never_spot=True), spot("0.01"), STAYS, LIVES)

    assert (found.choose, found.why) == (LeaseKind.HOURLY, "this run is never put on spot")


@pytest.mark.parametrize(
    ("offered", "stays", "lives", "chosen", "said"),
    [
        (spot(None), STAYS, LIVES, LeaseKind.HOURLY, "the price of spot is unknown, and that never wins"),
        (spot("0.4"), priced(LeaseKind.HOURLY, None), LIVES, LeaseKind.SPOT, "price of hourly is unknown"),
        (spot(None), priced(LeaseKind.HOURLY, None), LIVES, None, "the price of spot is unknown"),
        (spot("0.4"), STAYS, None, LeaseKind.HOURLY, "nobody knows how long machines of spot live"),
        (spot("0.4", "BRL"), STAYS, LIVES, LeaseKind.HOURLY, "cannot be compared without a dated rate"),
    ],
)
def test_what_is_unknown_never_wins(
    offered: Lease, stays: Lease, lives: Lifetimes | None, chosen: LeaseKind | None, said: str
) -> None:
    found = compare(WORK, offered, stays, lives)

    assert found.choose is chosen
    assert said in found.why
    assert (found.spot_cost is None) == (offered.price is None or lives is None)


def test_machines_that_never_get_to_a_save_leave_no_number() -> None:
    found = compare(WORK, spot("0.01"), STAYS, observed_lifetimes([0.5], origin="seen"))

    assert (found.choose, found.spot, found.spot_cost) == (LeaseKind.HOURLY, None, None)
    assert "no machine lives for the 1 h" in found.why


@pytest.mark.parametrize(
    ("window", "away", "chosen"),
    [(4.0, 3.0, LeaseKind.SPOT), (3.0, 3.0, LeaseKind.HOURLY), (3.0, None, LeaseKind.SPOT)],
)
def test_an_end_after_the_window_speaks_against_spot(
    window: float, away: float | None, chosen: LeaseKind
) -> None:
    """2.25 h and half a wait of 3 h: 3.75 h. A wait that nobody knows is left to the safety net."""
    assert compare(WORK, spot("0.40"), STAYS, LIVES, window=window, away=away).choose is chosen


def test_the_cost_of_a_whole_run_is_what_its_lease_bills() -> None:
    """A machine that is never taken away: 2.5 h with its start, as `billing.cost` says."""
    lease = spot("0.37")
    found = compare(Work(hours=2, start=0.5, every=1), lease, STAYS, observed_lifetimes([99], origin="seen"))

    assert found.spot_cost == cost(lease, 2.5 * 3600)
    assert found.on_demand_hours == 2.5
