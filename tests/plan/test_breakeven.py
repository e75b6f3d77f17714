from __future__ import annotations

from decimal import Decimal

import pytest

from lastro.billing import Lease, LeaseKind, cost
from lastro.errors import UsageError
from lastro.plan.breakeven import break_even, derived_rate
from lastro.units import Money


def usd(amount: str) -> Money:
    return Money(Decimal(amount), "USD")


def lot(price: str | None, days: int) -> Lease:
    money = None if price is None else usd(price)
    return Lease(offer=f"{days} days", kind=LeaseKind.LOT, price=money, term_seconds=days * 86_400)


def hourly(price: str | None, currency: str = "USD") -> Lease:
    money = None if price is None else Money(Decimal(price), currency)
    return Lease(offer="by the hour", kind=LeaseKind.HOURLY, price=money)


@pytest.mark.parametrize(
    ("price", "days", "rate", "hours", "inside"),
    [
        ("47.14", 3, "0.69", 68.3, True),
        ("47.14", 3, "0.40", 117.85, False),
        ("110", 7, "0.69", 159.4, True),
        ("110", 7, "0.40", 275.0, False),
        ("390", 30, "0.69", 565.2, True),
        ("390", 30, "0.40", 975.0, False),
    ],
)
def test_the_lots_of_one_card_by_hand(price: str, days: int, rate: str, hours: float, inside: bool) -> None:
    """47.14 / 0.69 = 68.32 h of 72; 47.14 / 0.40 = 117.85 h; 110 / 0.69 = 159.42; 390 / 0.69 = 565.22."""
    found = break_even(lot(price, days), hourly(rate))

    assert found.hours is not None
    assert float(found.hours) == pytest.approx(hours, abs=0.05)
    assert found.inside is inside
    assert ("never cheaper inside its" in found.why) is not inside


def test_it_reads_as_a_sentence_with_all_its_figures() -> None:
    inside, never = (break_even(lot("47.14", 3), hourly(rate)).why for rate in ("0.69", "0.40"))

    assert inside == (
        "3 days for 47.14 USD is cheaper than by the hour for 0.69 USD an hour after 68.3 of 72 h"
    )
    assert never == (
        "3 days for 47.14 USD is never cheaper inside its 72 h: "
        "by the hour for 0.40 USD an hour costs as much only after 117.8 h"
    )


def test_it_is_where_the_two_bills_meet() -> None:
    """The bill of one second less is lower than the lot, that of one second more is not."""
    rate, bought = hourly("0.69"), lot("47.14", 3)
    found = break_even(bought, rate)

    assert found.hours is not None and bought.price is not None
    below, above = (cost(rate, float(found.hours) * 3600 + more) for more in (-1, 1))
    assert below is not None and above is not None
    assert below.amount < bought.price.amount < above.amount


def test_a_lot_of_two_gpus_stands_beside_two_machines_or_one_with_two() -> None:
    """100 USD for 2 GPUs: 2 x 1 USD gives 50 h; a machine of 2 GPUs at 1.60: 62.5 h."""
    two = lot("100", 3)
    small, large = (
        break_even(two, hourly(rate), lot_gpus=2, hourly_gpus=gpus) for rate, gpus in (("1", 1), ("1.60", 2))
    )

    assert (small.hours, small.machines) == (Decimal(50), 2)
    assert (large.hours, large.machines) == (Decimal("62.5"), 1)
    assert "2 x by the hour for 2.00 USD an hour" in small.why


def test_at_the_end_of_the_term_it_is_not_inside() -> None:
    """72 USD for 72 h, 1 USD an hour: the same at 72 h."""
    assert break_even(lot("72", 3), hourly("1")).inside is False


@pytest.mark.parametrize(
    ("price", "other", "said"),
    [
        (None, hourly("1"), "the price of 3 days is unknown"),
        ("47.14", hourly(None), "the price of by the hour is unknown"),
        ("47.14", hourly("1", "BRL"), "cannot be compared without a dated rate"),
    ],
)
def test_what_is_unknown_is_no_number(price: str | None, other: Lease, said: str) -> None:
    found = break_even(lot(price, 3), other)

    assert (found.hours, found.inside) == (None, None)
    assert said in found.why


def test_against_what_costs_nothing_a_lot_never_wins() -> None:
    found = break_even(lot("47.14", 3), hourly("0"))

    assert (found.hours, found.inside) == (None, False)


def test_the_hourly_figure_of_a_lot_is_derived_and_says_so() -> None:
    """47.14 / 72 = 0.6547; a lot that includes two GPUs has half of that for each."""
    one, two = derived_rate(lot("47.14", 3)), derived_rate(lot("47.14", 3), gpus=2)

    assert one is not None and two is not None
    assert round(one.per_gpu_hour.amount, 4) == Decimal("0.6547")
    assert two.per_gpu_hour.amount * 2 == pytest.approx(one.per_gpu_hour.amount)
    assert one.why == (
        "derived: 47.14 USD / (72 h x 1 GPU), if all of it is used; the lot has no hourly tariff"
    )
    assert derived_rate(lot(None, 3)) is None


@pytest.mark.parametrize(
    ("bought", "other", "gpus"),
    [
        (hourly("1"), hourly("1"), 1),
        (lot("1", 3), lot("1", 3), 1),
        (Lease(offer="endless", kind=LeaseKind.LOT, price=usd("1")), hourly("1"), 1),
        (lot("1", 3), hourly("1"), 0),
    ],
)
def test_what_cannot_be_compared_is_refused(bought: Lease, other: Lease, gpus: int) -> None:
    with pytest.raises(UsageError):
        break_even(bought, other, lot_gpus=gpus)
