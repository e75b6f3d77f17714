"""What the bill is made from later: rows of the offers file, copied into the plan when it is frozen. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from lastro.plan.bill import disk_for, machine_lanes
from lastro.plan.calendar import Calendar
from lastro.plan.parts import DiskNeed
from lastro.records import dataclass
from lastro.spec.disks import rented_size
from lastro.spec.offers import Offer, Offers
from lastro.units import Money


@dataclass(frozen=True, kw_only=True)
class DiskTariff:
    """The disks of the option that is taken. `bytes`: the size of one; None: unknown.

    `price` and `stopped`: of 1 GB and month while a machine holds it, and while none does; None: unknown.
    `outlives`: it is there, and paid, while none does.
    """

    name: str
    disks: int
    bytes: int | None
    price: Money | None
    stopped: Money | None
    outlives: bool
    source: str
    seen: str | None


@dataclass(frozen=True, kw_only=True)
class RateTariff:
    """A rate of exchange of the offers file."""

    base: str
    to: str
    rate: Decimal
    seen: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Tariffs:
    """Prices beside those of machines, as they were when the plan was made."""

    disk: DiskTariff | None
    rates: tuple[RateTariff, ...] = ()

    def as_json(self) -> dict[str, Any]:
        disk = asdict(self.disk) if self.disk else None
        if disk is not None and self.disk is not None:
            disk |= {"price": _money(self.disk.price), "stopped": _money(self.disk.stopped)}
        rates = [{**asdict(rate), "rate": f"{rate.rate:f}"} for rate in self.rates]
        return {"disk": disk, "rates": rates}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Tariffs:
        """Read what `as_json` wrote."""
        disk = value["disk"]
        if disk is not None:
            money = {key: Money.from_json(disk[key]) if disk[key] else None for key in ("price", "stopped")}
            disk = DiskTariff(**{**disk, **money})
        rates = (RateTariff(**{**rate, "rate": Decimal(rate["rate"])}) for rate in value["rates"])
        return cls(disk=disk, rates=tuple(rates))


def tariffs_of(market: Offers, offer: Offer | None, calendar: Calendar, need: DiskNeed) -> Tariffs | None:
    """Return what the frozen plan keeps of the offers file; None when there is nothing to keep.

    Args:
        market: the offers file.
        offer: what is taken; None: nothing is rented, so no disk is.
        calendar: of what is taken; it says how many machines hold the disk.
        need: what the disk has to hold.
    """
    rates = tuple(
        RateTariff(base=one.base, to=one.to, rate=one.rate, seen=one.seen.isoformat(), source=one.source)
        for one in market.rates
    )
    row = disk_for(market, offer) if offer is not None else None
    if row is None or offer is None:
        return Tariffs(disk=None, rates=rates) if rates else None
    machines = len(machine_lanes(calendar, offer))
    disk = DiskTariff(
        name=row.name,
        disks=max(1, -(-machines // row.attach)),
        bytes=rented_size(row, need.needed).bytes if need.needed is not None else None,
        price=row.price,
        stopped=row.stopped_price,
        outlives=row.outlives_machine,
        source=row.source,
        seen=row.seen.isoformat() if row.seen else None,
    )
    return Tariffs(disk=disk, rates=rates)


def _money(money: Money | None) -> dict[str, str] | None:
    return money.as_json() if money else None
