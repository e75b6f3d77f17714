"""What a size of preflight may cost on a machine, by its lease. Pure."""

from __future__ import annotations

from typing import Any

from lastro.billing import Lease, LeaseKind, cost
from lastro.locale import _
from lastro.preflight.size import Size, seconds_of
from lastro.records import dataclass
from lastro.units import Money


@dataclass(frozen=True, kw_only=True)
class Price:
    """The most that a size takes and costs. `money` None: `why` says so; nothing unknown is free."""

    size: Size
    seconds: float
    money: Money | None
    why: str

    @property
    def text(self) -> str:
        """It as people read it."""
        return _("{size} at most {seconds:.0f} s, {why}").format(
            size=self.size.value, seconds=self.seconds, why=self.why
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "size": self.size.value,
            "seconds": self.seconds,
            "money": self.money.as_json() if self.money else None,
            "why": self.why,
        }


def price_of(size: Size, lease: Lease | None) -> Price:
    """Return what a size costs: what its budget is billed as at the price of the lease."""
    seconds = seconds_of(size)
    if lease is None:
        return Price(size=size, seconds=seconds, money=None, why=_("nothing is rented"))
    if lease.kind is LeaseKind.LOT:
        return Price(size=size, seconds=seconds, money=None, why=_("out of the time of the lot"))
    money = cost(lease, seconds)
    if money is None:
        return Price(size=size, seconds=seconds, money=None, why=_("its price is unknown"))
    return Price(size=size, seconds=seconds, money=money, why=str(money))


def prices(lease: Lease | None) -> tuple[Price, ...]:
    """Return the prices of the sizes that a machine may be checked by before the first attempt on it."""
    return tuple(price_of(size, lease) for size in (Size.CANARY, Size.FULL, Size.BURN_IN))
