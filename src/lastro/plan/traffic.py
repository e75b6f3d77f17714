"""What moving data costs: each move at the prices of the places that it leaves and reaches."""

from __future__ import annotations

from collections.abc import Iterator

from lastro.locale import _
from lastro.plan.intervals import Work
from lastro.plan.parts import CostLine
from lastro.records import dataclass
from lastro.spec.campaign import Campaign
from lastro.spec.egress import Egress, egress_cost, ingress_cost
from lastro.spec.offers import Offer, Offers
from lastro.spec.prices import Priced
from lastro.spec.stage import HOME, MACHINE
from lastro.units import show_bytes

#: Targets of a row that are no names: anywhere, and another place of the same region.
INTERNET, SAME_REGION = "internet", "region"


@dataclass(frozen=True, kw_only=True)
class Move:
    """Bytes that go from one place to another, in all, in so many requests."""

    name: str
    bytes: int
    origin: str
    to: str
    requests: int
    quantity: str


def moves_of(campaign: Campaign, work: Work) -> list[Move]:
    """Return all that is moved: by those of the campaign's stages that the work has, and by its transfers."""
    found = []
    for name, stage in campaign.stages.items():
        times = sum(1 for one in work.intervals if one.stage == name)
        if stage.moves is not None and times:
            found.append(move_of(name, stage.moves.size, stage.moves.origin, stage.moves.to, times))
    for name, one in campaign.transfers.items():
        found.append(move_of(name, one.size, one.origin, one.to, one.times, one.requests or 0))
    return found


def move_of(name: str, size: int, origin: str, to: str, times: int = 1, requests: int = 0) -> Move:
    """Return bytes that are moved so many times; `requests` are those of all times together."""
    quantity = (
        show_bytes(size) if times == 1 else _("{times} × {size}").format(times=times, size=show_bytes(size))
    )
    return Move(name=name, bytes=size * times, origin=origin, to=to, requests=requests, quantity=quantity)


def traffic_lines(campaign: Campaign, market: Offers, offer: Offer, work: Work) -> Iterator[CostLine]:
    """Return a line for each move that somebody bills, or may bill; what stays in one place is free.

    What comes from the internet or from home is billed only where the place that it reaches bills ingress.
    """
    used: dict[str, int] = {}
    used_in: dict[str, int] = {}
    for move in moves_of(campaign, work):
        if _same_place(move, offer):
            continue
        if move.origin not in (INTERNET, HOME):
            yield _out(market, offer, move, used)
        row = _row(market, offer, move.to, INTERNET)
        if row is not None and row.ingress is not None:
            priced = ingress_cost(row, move.bytes, used=used_in.get(row.name, 0))
            used_in[row.name] = used_in.get(row.name, 0) + move.bytes
            name = _("{move} into {place}").format(move=move.name, place=_place(offer, move.to))
            yield CostLine(
                kind="ingress", name=name, quantity=move.quantity, amount=priced.amount, why=priced.why
            )


def _out(market: Offers, offer: Offer, move: Move, used: dict[str, int]) -> CostLine:
    name = _("{move} out of {place}").format(move=move.name, place=_place(offer, move.origin))
    row = _row(market, offer, move.origin, move.to)
    priced = _priced_out(row, offer, move, used.get(row.name, 0) if row else 0)
    if row is not None:
        used[row.name] = used.get(row.name, 0) + move.bytes
    return CostLine(kind="egress", name=name, quantity=move.quantity, amount=priced.amount, why=priced.why)


def out_again(market: Offers, offer: Offer, move: Move) -> Priced | None:
    """Return what one move takes when it is made once more; None where nobody bills it.

    Free bytes of the month do not count: they are used up by then.
    """
    if move.origin in (INTERNET, HOME) or _same_place(move, offer):
        return None
    row = _row(market, offer, move.origin, move.to)
    return _priced_out(row, offer, move, (row.free or 0) if row else 0)


def _priced_out(row: Egress | None, offer: Offer, move: Move, used: int) -> Priced:
    if row is None:
        why = _("no price was given for data from {origin} to {to}").format(
            origin=_place(offer, move.origin), to=_place(offer, move.to)
        )
        return Priced(amount=None, why=why)
    priced = egress_cost(row, move.bytes, used=used, requests=move.requests)
    seen = row.seen.isoformat() if row.seen else _("no date")
    why = _("{why} ({source}, {seen})").format(why=priced.why, source=row.source, seen=seen)
    return Priced(amount=priced.amount, why=why)


def _place(offer: Offer, place: str) -> str:
    return offer.name if place == MACHINE else place


def _names(offer: Offer, place: str) -> tuple[str, ...]:
    """Return the names under which a place may stand in the offers file, the narrowest first."""
    if place != MACHINE:
        return (place,)
    return tuple(name for name in (offer.zone, offer.region, offer.provider, offer.name) if name)


def _same_place(move: Move, offer: Offer) -> bool:
    """Say whether both ends lie in one region: there data is moved for nothing everywhere that was read."""
    ends = {*_names(offer, move.origin)} & {*_names(offer, move.to)}
    return bool(ends - {offer.provider})


def _row(market: Offers, offer: Offer, origin: str, to: str) -> Egress | None:
    """Return the row for data from one place to another.

    One that names the target comes first, then one for another place of the same region, then a general one;
    of several, that of the narrowest place that the data leaves.
    """
    named = market.egress_of(offer) if origin == MACHINE else None
    origins = _names(offer, origin)
    rows = [row for name in origins for row in market.egress if row.origin == name]
    rows = [named] if named else rows
    targets = _names(offer, to)
    exact = [row for row in rows if row.to in targets]
    beside = _regions(market, offer, origin) & _regions(market, offer, to)
    near = [row for row in rows if row.to == SAME_REGION and beside]
    general = [row for row in rows if row.to == INTERNET]
    return next(iter([*exact, *near, *general]), None)


def _regions(market: Offers, offer: Offer, place: str) -> set[str]:
    """Return the regions that a place is, or lies in, as far as the offers file says."""
    if place == MACHINE:
        return {offer.region} if offer.region else set()
    known = [(row.zone, row.region) for row in market.offers]
    known += [(disk.zone, disk.region) for disk in market.disks]
    return {region for zone, region in known if region and place in (zone, region)}
