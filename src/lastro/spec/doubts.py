"""What speaks against believing a price: its age, no day at all, a spot price that saves nothing."""

from __future__ import annotations

import datetime as dates
from collections.abc import Iterator

from lastro.billing import LeaseKind
from lastro.locale import _
from lastro.records import dataclass
from lastro.spec.disks import Disk
from lastro.spec.durations import card
from lastro.spec.egress import Egress
from lastro.spec.offers import Offer, Offers
from lastro.spec.rates import Balance, Rate
from lastro.units import Money

#: A price that was read longer ago is stale. Prices of GPU clouds change within weeks: an H100 SXM of
#: RunPod's secure cloud was 3.49 USD an hour on 2026-10-07 and 3.99 on 2026-11-09 (runpod.io/pricing, on
#: these days).
STALE_AFTER = dates.timedelta(days=30)


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """One thing to be careful with. `code`: stale, undated, later or spot_not_cheaper.

    `table` and `row`: the list of the offers file, and which of its rows is meant.
    """

    code: str
    table: str
    row: str
    text: str


def doubts(file: Offers, today: dates.date) -> tuple[Doubt, ...]:
    """Return what speaks against the prices of an offers file on a day, in the order of the file."""
    return tuple(_all(file, today))


def _all(file: Offers, today: dates.date) -> Iterator[Doubt]:
    on_demand = _cheapest_on_demand(file.offers)
    for offer in file.offers:
        if offer.price is not None:
            yield from _by_date("offers", offer.name, offer.seen, today)
            yield from _by_on_demand(offer, on_demand)
    for disk in file.disks:
        if disk.price is not None:
            yield from _by_date("disks", disk.name, disk.seen, today)
    for row in file.egress:
        if row.price is not None:
            yield from _by_date("egress", row.name, row.seen, today)
    for rate in file.rates:
        yield from _by_date("rates", f"{rate.base}-{rate.to}", rate.seen, today)
    for balance in file.balances:
        yield from _by_date("balances", balance.provider, balance.seen, today)


def age_days(row: Offer | Disk | Egress | Rate | Balance, today: dates.date) -> int | None:
    """Return how many days ago a row was read; None when nobody wrote it down."""
    return (today - row.seen).days if row.seen is not None else None


def _by_date(table: str, name: str, seen: dates.date | None, today: dates.date) -> Iterator[Doubt]:
    if seen is None:
        text = _("{row} has no day (`seen`), so its age is unknown")
        yield Doubt(code="undated", table=table, row=name, text=text.format(row=name))
    elif seen > today:
        text = _("{row} was read on {day}, which has not come yet")
        yield Doubt(code="later", table=table, row=name, text=text.format(row=name, day=seen.isoformat()))
    elif today - seen > STALE_AFTER:
        text = _("{row} was read {days} days ago")
        yield Doubt(code="stale", table=table, row=name, text=text.format(row=name, days=(today - seen).days))


def _same_thing(offer: Offer, price: Money) -> tuple[object, ...]:
    """Return what two offers have in common when they are the same machine in the same place and currency."""
    place = (offer.provider, offer.region, offer.zone)
    machine = (card(offer.gpu or ""), offer.gpus, offer.memory, offer.cpus, offer.ram)
    return (*place, *machine, price.currency)


def _cheapest_on_demand(offers: tuple[Offer, ...]) -> dict[tuple[object, ...], tuple[Money, Offer]]:
    found: dict[tuple[object, ...], tuple[Money, Offer]] = {}
    for offer in offers:
        price = offer.machine_price
        if offer.kind is LeaseKind.HOURLY and price is not None:
            key = _same_thing(offer, price)
            if key not in found or price.amount < found[key][0].amount:
                found[key] = price, offer
    return found


def _by_on_demand(offer: Offer, on_demand: dict[tuple[object, ...], tuple[Money, Offer]]) -> Iterator[Doubt]:
    spot = offer.machine_price
    if offer.kind is not LeaseKind.SPOT or spot is None:
        return
    price, other = on_demand.get(_same_thing(offer, spot), (None, None))
    if price is not None and other is not None and price.amount <= spot.amount:
        text = _("{spot} costs {price} an hour and may be taken away; {other} costs {on_demand} and may not")
        yield Doubt(
            code="spot_not_cheaper",
            table="offers",
            row=offer.name,
            text=text.format(spot=offer.name, price=spot, other=other.name, on_demand=price),
        )
