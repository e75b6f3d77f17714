from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from lastro.billing import Lease, LeaseKind
from lastro.preflight.price import price_of, prices
from lastro.preflight.size import Size
from lastro.units import Money

HOURLY = Lease(offer="o", kind=LeaseKind.HOURLY, price=Money(Decimal("0.72"), "USD"), unit_seconds=60)


def test_a_size_costs_its_budget_at_the_price_of_the_lease() -> None:
    """0.72 USD an hour: 60 s are 0.012 USD, 600 s are 0.12 USD."""
    canary, full, _burn_in = prices(HOURLY)

    assert canary.money == Money(Decimal("0.012"), "USD") and "60 s, 0.012 USD" in canary.text
    assert full.money == Money(Decimal("0.12"), "USD")


def test_what_is_unknown_or_paid_already_is_never_told_as_free() -> None:
    unknown = price_of(Size.FULL, replace(HOURLY, price=None))
    lot = price_of(Size.FULL, replace(HOURLY, kind=LeaseKind.LOT, term_seconds=86_400))
    none = price_of(Size.FULL, None)

    assert [one.money for one in (unknown, lot, none)] == [None, None, None]
    assert [one.why for one in (unknown, lot, none)] == [
        "its price is unknown",
        "out of the time of the lot",
        "nothing is rented",
    ]
