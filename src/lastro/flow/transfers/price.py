"""What a transfer will cost, and which borders it crosses: told before the first byte."""

from __future__ import annotations

from typing import Any

from lastro.locale import _
from lastro.records import dataclass
from lastro.spec.egress import Egress, egress_cost
from lastro.spec.offers import Offers
from lastro.spec.prices import Priced
from lastro.units import Money, show_bytes

INTERNET = "internet"


@dataclass(frozen=True, kw_only=True)
class Ends:
    """Where data leaves and where it arrives: regions as the offers file names them; None: nobody told."""

    origin: str | None
    to: str | None


@dataclass(frozen=True, kw_only=True)
class TransferFinding:
    """Something to be known before data moves."""

    code: str
    text: str

    def as_json(self) -> dict[str, str]:
        return {"code": self.code, "text": self.text}


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What will move and cost. `price_of_gb`: of the next GB; None: nobody knows."""

    bytes: int
    requests: int
    cost: Priced
    price_of_gb: Money | None
    findings: tuple[TransferFinding, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "bytes": self.bytes,
            "requests": self.requests,
            "cost": self.cost.amount.as_json() if self.cost.amount is not None else None,
            "why": self.cost.why,
            "findings": [one.as_json() for one in self.findings],
        }


def estimate(market: Offers | None, ends: Ends, size: int, requests: int, *, used: int = 0) -> Estimate:
    """Price a transfer by the row of the place that it leaves.

    Args:
        market: the offers file; None without one.
        ends: where it leaves and arrives.
        size: bytes that will move.
        requests: calls that may be billed.
        used: bytes that were moved this month already, for what is free and for tiers.
    """
    row = _row(market, ends)
    if ends.origin is not None and ends.origin == ends.to:
        zero = _zero(market)
        why = _("both ends lie in {region}, where nobody bills it").format(region=ends.origin)
        cost, gigabyte = Priced(amount=zero, why=why), zero
    elif row is None:
        cost = Priced(amount=None, why=_unknown(ends))
        gigabyte = None
    else:
        cost = egress_cost(row, size, used=used, requests=requests)
        gigabyte = egress_cost(row, 10**9, used=used + size).amount
    findings = tuple(_crossings(market, ends, size, cost))
    return Estimate(bytes=size, requests=requests, cost=cost, price_of_gb=gigabyte, findings=findings)


def _zero(market: Offers | None) -> Money | None:
    """Return nothing, in the currency of the first row that has a price; None where no row has."""
    rows = market.egress if market is not None else ()
    return next((row.price.times(0) for row in rows if row.price is not None), None)


def _row(market: Offers | None, ends: Ends) -> Egress | None:
    rows = [row for row in market.egress if row.origin == ends.origin] if market is not None else []
    exact = [row for row in rows if row.to == ends.to]
    return next(iter([*exact, *(row for row in rows if row.to == INTERNET)]), None)


def _unknown(ends: Ends) -> str:
    if ends.origin is None:
        return _("nobody told which place the data leaves (--from), so its price is unknown")
    return _("no price was given for data from {origin} to {to}").format(
        origin=ends.origin, to=ends.to or _("an unknown place")
    )


def _crossings(market: Offers | None, ends: Ends, size: int, cost: Priced) -> list[TransferFinding]:
    if ends.origin is None or ends.to is None:
        text = _("nobody told both regions (--from, --to): whether {size} cross a border is unknown").format(
            size=show_bytes(size)
        )
        return [TransferFinding(code="region_unknown", text=text)]
    if ends.origin == ends.to:
        return []
    price = str(cost.amount) if cost.amount is not None else _("an unknown price")
    text = _("{size} leave {origin} for {to}, at {price}").format(
        size=show_bytes(size), origin=ends.origin, to=ends.to, price=price
    )
    found = [TransferFinding(code="region_crossed", text=text)]
    here, there = (jurisdiction_of(market, region) for region in (ends.origin, ends.to))
    if here is None or there is None:
        text = _("the jurisdiction of {region} is unknown").format(
            region=ends.origin if here is None else ends.to
        )
        found.append(TransferFinding(code="jurisdiction_unknown", text=text))
    elif here != there:
        text = _("{size} leave the jurisdiction of {here} for that of {there}").format(
            size=show_bytes(size), here=here, there=there
        )
        found.append(TransferFinding(code="jurisdiction_crossed", text=text))
    return found


def jurisdiction_of(market: Offers | None, region: str) -> str | None:
    """Return under whose law a region lies, as the offers file says; None when it does not."""
    if market is None:
        return None
    known = [(row.region, row.jurisdiction) for row in market.offers]
    known += [(row.region, row.jurisdiction) for row in market.disks]
    return next((law for place, law in known if place == region and law), None)
