"""What it costs that a machine waits, by its own price; of a lot that is derived, and nobody's tariff."""

from __future__ import annotations

from decimal import Decimal

from lastro.billing import LeaseKind
from lastro.locale import _
from lastro.plan.bill import hourly_rate
from lastro.records import dataclass
from lastro.spec.offers import Offer, Offers
from lastro.units import Money


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """The price of some hours of a machine. `derived`: from the price of a lot, all of which is used."""

    amount: Money
    derived: bool

    @property
    def text(self) -> str:
        return _("{amount} (derived)").format(amount=self.amount) if self.derived else str(self.amount)

    def is_less_than(self, other: Waiting) -> bool:
        """Say whether it is cheaper; two currencies are not compared."""
        return self.amount.currency == other.amount.currency and self.amount.amount < other.amount.amount


def waits(offer: Offer, hours: float) -> Waiting | None:
    """Return what so many hours of a machine cost; None when its price is unknown."""
    rate = hourly_rate(offer.lease())
    if rate is None:
        return None
    amount = rate.times(Decimal(repr(round(hours, 9))))
    return Waiting(amount=amount, derived=offer.kind is LeaseKind.LOT)


def cpu_machine(market: Offers) -> Offer | None:
    """Return the cheapest machine without a GPU that is rented by the hour; None: there is none."""
    found = [
        offer
        for offer in market.offers
        if offer.gpus == 0 and offer.kind is LeaseKind.HOURLY and offer.machine_price is not None
    ]
    return min(found, key=lambda one: one.machine_price.amount if one.machine_price else 0, default=None)
