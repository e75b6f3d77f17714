"""What machine time and storage cost: the sums of plan, running total and closing."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_CEILING, Decimal
from enum import Enum
from typing import Any

from lastro.records import dataclass
from lastro.units import Money

_HOUR = Decimal(3600)
#: 10^9 bytes, by which storage is priced.
_GB = 10**9
#: 365 days in twelve parts. Google Cloud's list says so too: 1 GiB for a month at 0.02 USD is 0.000027397 USD
#: an hour (cloud.google.com/storage/pricing, read 2026-09-20). A bill that counts the hours of the month at
#: hand, as AWS's does (repost.aws/knowledge-center/ebs-volume-charges), has 672 to 744 of them.
HOURS_OF_A_MONTH = 730


class LeaseKind(str, Enum):
    """How a machine is paid: a lot has one price for its whole term; hourly and spot by billed time."""

    LOT = "lot"
    HOURLY = "hourly"
    SPOT = "spot"


@dataclass(frozen=True, kw_only=True)
class Lease:
    """An offer taken, with its price copied at that moment. A price of None is unknown, never free.

    `price` is for the whole term (lot) or for one hour (hourly, spot). Time is billed in started units of
    `unit_seconds`, `minimum_seconds` at least. `ends_at`: the moment (ISO 8601, UTC) at which it ends, where
    it was bought until then. `order`: the reference of what was bought by hand; such a lot is paid once,
    however many machines it carries. `machines`: so many of them are in the price of one lot.
    """

    offer: str
    kind: LeaseKind
    price: Money | None
    unit_seconds: int = 1
    minimum_seconds: int = 0
    term_seconds: int | None = None
    source: str = "declared"
    ends_at: str | None = None
    order: str | None = None
    machines: int = 1

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON; what only some leases have stands there only for these."""
        by_hand = {"ends_at": self.ends_at, "order": self.order}
        several = {"machines": self.machines} if self.machines > 1 else {}
        return {
            "offer": self.offer,
            "kind": self.kind.value,
            "price": self.price.as_json() if self.price else None,
            "unit_seconds": self.unit_seconds,
            "minimum_seconds": self.minimum_seconds,
            "term_seconds": self.term_seconds,
            "source": self.source,
            **{key: value for key, value in by_hand.items() if value is not None},
            **several,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Lease:
        """Read what `as_json` wrote."""
        price = value["price"]
        return cls(
            offer=value["offer"],
            kind=LeaseKind(value["kind"]),
            price=Money.from_json(price) if price else None,
            unit_seconds=value["unit_seconds"],
            minimum_seconds=value["minimum_seconds"],
            term_seconds=value["term_seconds"],
            source=value["source"],
            ends_at=value.get("ends_at"),
            order=value.get("order"),
            machines=value.get("machines", 1),
        )


def billed_seconds(lease: Lease, seconds: float) -> int:
    """Return the time that is billed for `seconds` of use: started units, at least the minimum."""
    used = max(Decimal(str(seconds)), Decimal(lease.minimum_seconds))
    units = (used / lease.unit_seconds).to_integral_value(rounding=ROUND_CEILING)
    return int(units) * lease.unit_seconds


def cost(lease: Lease, seconds: float) -> Money | None:
    """Return what `seconds` of this lease cost; None when its price is unknown. A lot costs its price."""
    if lease.price is None:
        return None
    if lease.kind is LeaseKind.LOT:
        return lease.price
    # Multiplied before it is divided: a share of an hour such as 1/6 cannot be written in decimal digits.
    return Money(lease.price.amount * billed_seconds(lease, seconds) / _HOUR, lease.price.currency)


def affordable_seconds(lease: Lease, money: Money) -> int | None:
    """Return for how long a machine can be kept without costing more than `money`; whole billed units.

    None: time does not decide. A lot costs the same however long it is used, an unknown price and another
    currency cannot be compared, and what costs nothing lasts for ever.
    """
    price = lease.price
    if price is None or lease.kind is LeaseKind.LOT or price.currency != money.currency or price.amount <= 0:
        return None
    units = int(max(Decimal(0), money.amount) / price.amount * _HOUR / lease.unit_seconds)
    seconds = units * lease.unit_seconds
    return seconds if seconds >= lease.minimum_seconds else 0


def storage(price: Money, size: int, hours: Decimal) -> Money:
    """Return what `size` bytes cost for so many hours at a price for 1 GB (10^9 bytes) and month."""
    return price.times(Decimal(size) / _GB * hours / HOURS_OF_A_MONTH)
