from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from lastro.billing import Lease, LeaseKind
from lastro.errors import UsageError
from lastro.plan.lifetimes import observed_lifetimes
from lastro.plan.spot_group import expect_group
from lastro.plan.spot_lives import Work
from lastro.units import Money


def usd(amount: str) -> Money:
    return Money(Decimal(amount), "USD")


STAYS = Lease(offer="stays", kind=LeaseKind.HOURLY, price=usd("1"))
SPOT = Lease(offer="spot", kind=LeaseKind.SPOT, price=usd("0.30"))
#: 4.5 h of life with saves each hour keep 4 h; with a wait of 0.5 h that is 0.8 h of work in an hour.
LIVES = observed_lifetimes([4.5], origin="seen")
WORK = Work(hours=50, every=1)


def test_a_group_by_hand() -> None:
    """50 h: alone 50 h and 50 USD. With two at 0.8: 50 / 2.6 = 19.23 h, 30.77 h of them by spot.

    Cost 19.23 + 2 * 19.23 * 0.9 * 0.30 = 29.62 USD.
    """
    found = expect_group(WORK, STAYS, SPOT, LIVES, nodes=2, away=0.5)

    assert found.end == pytest.approx(50 / 2.6)
    assert found.by_spot == pytest.approx(1.6 / 2.6)
    assert found.cost is not None
    assert float(found.cost.amount) == pytest.approx(50 / 2.6 * 1.54, abs=0.001)
    assert (found.alone_end, found.alone_cost) == (50, usd("50"))
    assert "rough" not in found.why


def test_an_end_within_a_few_lives_is_told_to_be_rough() -> None:
    found = expect_group(Work(hours=10, every=1), STAYS, SPOT, LIVES, nodes=2, away=0.5)

    assert "rough, because a life and a wait take 5.0 h" in found.why


def test_never_spot_leaves_the_machine_that_stays() -> None:
    found = expect_group(replace(WORK, never_spot=True), STAYS, SPOT, LIVES, nodes=4, away=0.5)

    assert (found.nodes, found.end, found.cost, found.by_spot) == (0, 50, usd("50"), 0.0)
    assert found.why == "this run is never put on spot"


def test_machines_that_keep_no_work_only_cost() -> None:
    found = expect_group(WORK, STAYS, SPOT, observed_lifetimes([0.9], origin="seen"), nodes=1, away=0.1)

    assert (found.end, found.by_spot) == (50, 0.0)
    assert found.cost is not None and found.cost.amount > 50


def test_an_unknown_wait_or_price_is_no_number() -> None:
    waits = expect_group(WORK, STAYS, SPOT, LIVES, nodes=2, away=None)
    price = expect_group(WORK, STAYS, replace(SPOT, price=None), LIVES, nodes=2, away=0.5)

    assert (waits.end, waits.cost, waits.by_spot) == (None, None, None)
    assert "nobody knows how long it takes to get spot again" in waits.why
    assert price.cost is None and price.end is not None


def test_a_negative_number_of_machines_is_refused() -> None:
    with pytest.raises(UsageError):
        expect_group(WORK, STAYS, SPOT, LIVES, nodes=-1, away=0.5)
