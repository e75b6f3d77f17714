"""What a calendar costs on one offer: machines, disk and traffic, a line each, with where it comes from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal

from lastro.billing import Lease, LeaseKind, billed_seconds, cost
from lastro.locale import _
from lastro.plan.calendar import Calendar
from lastro.plan.draws import Held
from lastro.plan.hours import Band, cost_between, read_bands
from lastro.plan.intervals import CPU, GPU, Work
from lastro.plan.parts import Cost, CostLine, DiskNeed, Holding, Slot
from lastro.plan.traffic import traffic_lines
from lastro.records import dataclass
from lastro.spec.campaign import Campaign
from lastro.spec.disks import Disk, storage_cost
from lastro.spec.offers import Offer, Offers
from lastro.spec.rates import convert
from lastro.units import Money, show_bytes, show_duration

_HOUR = 3600
CASES = ("low", "likely", "high")
#: The line of a bill that the machines have; it alone hangs on how long everything takes.
MACHINE_LINE = "machine"


@dataclass(frozen=True, kw_only=True)
class Bill:
    """What is held, its lines, and how hourly machines are held between their intervals."""

    holding: Holding
    cost: Cost
    held: Held


def bill(
    campaign: Campaign,
    market: Offers,
    offer: Offer,
    work: Work,
    calendar: Calendar,
    need: DiskNeed,
    now: datetime,
) -> Bill:
    """Return what a calendar costs when all its machines are of one offer.

    Args:
        campaign: its transfers, and the currency of its budget.
        market: rows of disks and traffic, and rates of exchange.
        offer: its price may be unknown; then so is the sum.
        work: what is done; only what it has is moved.
        calendar: the same, laid out for this offer's cards.
        need: what the disk has to hold.
        now: when it begins, for rates of exchange and prices by the hour of the day; aware.
    """
    lanes = machine_lanes(calendar, offer)
    if not lanes:
        why = _("no stage holds a machine such as {offer}, so nobody knows for how long one is rented")
        return unknown_bill(offer, why.format(offer=offer.name))
    held = _cheaper_way(offer, calendar, now)
    machines = _machines(offer, calendar, held, now)
    lines = [
        machines.line,
        *_disk_lines(market, offer, calendar, need, len(lanes)),
        *traffic_lines(campaign, market, offer, work),
    ]
    target = campaign.budget.currency if campaign.budget else None
    return Bill(holding=machines.holding, cost=total_of(lines, market, target, now.date()), held=held)


def unknown_bill(offer: Offer, why: str) -> Bill:
    """Return the bill for machines that are held for nobody knows how long: no line, and no amount."""
    holding = Holding(
        offer=offer.name, kind=offer.kind.value, gpu=offer.gpu, leases=0, machines=0, terms=None, hours=0.0
    )
    nothing = Cost(total=None, low=None, high=None, at_least=None, lines=(), why=why)
    return Bill(holding=holding, cost=nothing, held=Held.WHOLE)


def hourly_rate(lease: Lease) -> Money | None:
    """Return what one hour of a lease costs when all of it is used; None when its price is unknown.

    Of a lot this is derived, and nobody's tariff.
    """
    if lease.price is None:
        return None
    if lease.kind is not LeaseKind.LOT or not lease.term_seconds:
        return lease.price
    return lease.price.times(Decimal(_HOUR) / lease.term_seconds)


def times(slot: Slot, case: str) -> tuple[float, float]:
    """Return start and end of a slot in hours, for low, likely or high durations."""
    if case == "low":
        return slot.start_low_hours, slot.end_low_hours
    if case == "high":
        return slot.start_high_hours, slot.end_high_hours
    return slot.start_hours, slot.end_hours


def machine_lanes(calendar: Calendar, offer: Offer) -> list[str]:
    """Return the lanes that machines of an offer are, in the order of their names.

    They are those with a GPU; for an offer without one, that of the CPU machine.
    """
    kind = GPU if offer.gpus else CPU
    return sorted({slot.lane for slot in calendar.slots if slot.lane and slot.lane.startswith(kind)})


# --- machines -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Machines:
    holding: Holding
    line: CostLine


def _machines(offer: Offer, calendar: Calendar, held: Held, now: datetime) -> _Machines:
    lanes = machine_lanes(calendar, offer)
    if offer.kind is LeaseKind.LOT:
        return _lots(offer, calendar, lanes)
    amounts = {case: _hourly(offer, calendar, lanes, case, held, now) for case in CASES}
    hours = round(sum(end - start for start, end in _spans(calendar, lanes, "likely", held)), 9)
    name = f"{len(lanes)} × {offer.name}" if len(lanes) > 1 else offer.name
    line = CostLine(
        kind=MACHINE_LINE,
        name=name,
        quantity=_("{hours}, billed in units of {unit}").format(
            hours=show_hours(hours), unit=_unit(offer.lease())
        ),
        amount=amounts["likely"],
        low=amounts["low"],
        high=amounts["high"],
        why=_price_text(offer),
    )
    holding = Holding(
        offer=offer.name,
        kind=offer.kind.value,
        gpu=offer.gpu,
        leases=len(lanes),
        machines=1,
        terms=None,
        hours=hours,
    )
    return _Machines(holding=holding, line=line)


def _unit(lease: Lease) -> str:
    return show_duration(timedelta(seconds=lease.unit_seconds))


def _price_text(offer: Offer) -> str:
    price, seen = offer.machine_price, offer.seen.isoformat() if offer.seen else _("no date")
    if price is None:
        return _("the price of {offer} is unknown").format(offer=offer.name)
    what = _("{price} a lot") if offer.kind is LeaseKind.LOT else _("{price} an hour")
    if offer.by_hour:
        what = _("{price} an hour, other prices by the hour of the day, begun now")
    return _("{what} ({source}, {seen})").format(
        what=what.format(price=price), source=offer.source, seen=seen
    )


def _spans(calendar: Calendar, lanes: Sequence[str], case: str, held: Held) -> list[tuple[float, float]]:
    """Return from when until when machines are held: interval by interval, or from first to last."""
    spans = []
    for lane in lanes:
        busy = sorted(times(slot, case) for slot in calendar.slots if slot.lane == lane)
        if held is Held.INTERVAL:
            spans += busy
        else:
            spans.append((busy[0][0], max(end for _start, end in busy)))
    return spans


def _hourly(
    offer: Offer, calendar: Calendar, lanes: Sequence[str], case: str, held: Held, now: datetime
) -> Money | None:
    lease = offer.lease()
    if lease.price is None:
        return None
    if offer.by_hour:
        return _by_hour(offer, _spans(calendar, lanes, case, held), now)
    total = lease.price.times(0)
    for start, end in _spans(calendar, lanes, case, held):
        # Rounded to the microsecond: 0.1 h and the like are no exact floats.
        used = cost(lease, round((end - start) * _HOUR + offer.boot_seconds, 6))
        assert used is not None, "the price is known"
        total += used
    return total


def _by_hour(offer: Offer, spans: Sequence[tuple[float, float]], now: datetime) -> Money | None:
    """Return what machines cost by the hours of the day in which they are held, when it begins now.

    A unit that is begun is billed to its end, at the prices of the hours in which it lies.
    """
    bands = bands_of(offer)
    total: Money | None = None
    for start, end in spans:
        begin = now + timedelta(hours=start) - timedelta(seconds=offer.boot_seconds)
        used = round((end - start) * _HOUR + offer.boot_seconds, 6)
        part = cost_between(
            begin,
            begin + timedelta(seconds=billed_seconds(offer.lease(), used)),
            bands=bands,
            price=offer.machine_price,
            utc_offset=timedelta(hours=offer.utc),
        )
        if part is None:
            return None
        total = part if total is None else total + part
    return total


def bands_of(offer: Offer) -> tuple[Band, ...]:
    """Return an offer's prices by the hour of the day."""
    return read_bands(offer.machine_by_hour, none=offer.not_by_hour)


def _cheaper_way(offer: Offer, calendar: Calendar, now: datetime) -> Held:
    """Say whether a machine is kept between its intervals, or given back and taken again."""
    if offer.kind is LeaseKind.LOT:
        return Held.END
    lanes = machine_lanes(calendar, offer)
    each = _hourly(offer, calendar, lanes, "likely", Held.INTERVAL, now)
    kept = _hourly(offer, calendar, lanes, "likely", Held.WHOLE, now)
    return (
        Held.INTERVAL if each is not None and kept is not None and each.amount < kept.amount else Held.WHOLE
    )


def _lots(offer: Offer, calendar: Calendar, lanes: Sequence[str]) -> _Machines:
    """A lot lasts from the first use of one of its machines until the outputs are collected."""
    assert offer.term is not None, "a lot has a term"
    groups = [lanes[first : first + offer.machines] for first in range(0, len(lanes), offer.machines)]
    terms = {case: [_terms(offer, calendar, group, case) for group in groups] for case in CASES}
    amounts = {case: _lot_price(offer, terms[case]) for case in CASES}
    most = max(terms["likely"], default=0)
    count = len(groups)
    quantity = _("{count} × {term}").format(count=sum(terms["likely"]), term=show_duration(offer.term))
    if offer.machines > 1 or offer.gpus > 1:
        included = _("{machines} machines with {gpus} cards each are included").format(
            machines=offer.machines, gpus=offer.gpus
        )
        quantity = f"{quantity}, {included}"
    holding = Holding(
        offer=offer.name,
        kind=offer.kind.value,
        gpu=offer.gpu,
        leases=count,
        machines=offer.machines,
        terms=most,
        hours=round(sum(terms["likely"]) * offer.term.total_seconds() / _HOUR * offer.machines, 9),
    )
    name = f"{sum(terms['likely'])} × {offer.name}" if sum(terms["likely"]) > 1 else offer.name
    line = CostLine(
        kind=MACHINE_LINE,
        name=name,
        quantity=quantity,
        amount=amounts["likely"],
        low=amounts["low"],
        high=amounts["high"],
        why=_lot_text(offer, known=amounts["likely"] is not None),
    )
    return _Machines(holding=holding, line=line)


def _lot_text(offer: Offer, *, known: bool) -> str:
    if known or offer.price is None:
        return _price_text(offer)
    return _("what a following term of {offer} costs is unknown").format(offer=offer.name)


def lot_hours(calendar: Calendar, lanes: Sequence[str], case: str) -> float:
    """Return for how long a lot is held: from the first use of its lanes to the end of the calendar."""
    end = max((times(slot, case)[1] for slot in calendar.slots), default=0.0)
    return end - min((times(slot, case)[0] for slot in calendar.slots if slot.lane in lanes), default=end)


def _terms(offer: Offer, calendar: Calendar, lanes: Sequence[str], case: str) -> int:
    assert offer.term is not None, "a lot has a term"
    # Rounded to the microsecond: 0.1 h and the like are no exact floats.
    used = lot_hours(calendar, lanes, case) * _HOUR
    return max(1, math.ceil(round(used / offer.term.total_seconds(), 9)))


def _lot_price(offer: Offer, terms: Sequence[int]) -> Money | None:
    price, renewal = offer.price, offer.renewal_price
    if price is None or (max(terms, default=0) > 1 and renewal is None):
        return None
    total = price.times(0)
    for count in terms:
        total += price
        if count > 1 and renewal is not None:
            total += renewal.times(count - 1)
    return total


# --- disk ---------------------------------------------------------------------------------------------


def _disk_lines(
    market: Offers, offer: Offer, calendar: Calendar, need: DiskNeed, machines: int
) -> Iterator[CostLine]:
    row = disk_for(market, offer)
    if row is None:
        return
    disks = max(1, -(-machines // row.attach))
    hours = max((slot.end_hours for slot in calendar.slots), default=0.0)
    running = sum(
        end - start for start, end in _spans(calendar, machine_lanes(calendar, offer), "likely", Held.WHOLE)
    )
    name = f"{disks} × {row.name}" if disks > 1 else row.name
    if need.needed is None:
        yield CostLine(kind="disk", name=name, quantity=_("unknown size"), amount=None, why=need.why)
        return
    whole, busy = _decimal(hours), _decimal(min(hours, running / disks))
    priced = storage_cost(row, need.needed, whole, min(whole, busy))
    yield CostLine(
        kind="disk",
        name=name,
        quantity=_("{size} for {hours}").format(size=show_bytes(need.needed), hours=show_hours(hours)),
        amount=priced.amount.times(disks) if priced.amount else None,
        why=priced.why,
    )


def disk_for(market: Offers, offer: Offer) -> Disk | None:
    """Return the disk that a machine of this offer would use: the one it names, or one of its place."""
    named = market.disk_of(offer)
    if named is not None:
        return named
    fitting = [
        disk
        for disk in market.disks
        if offer.provider is not None
        and disk.provider == offer.provider
        and (disk.zone is None or offer.zone is None or disk.zone == offer.zone)
        and (disk.region is None or offer.region is None or disk.region == offer.region)
    ]
    return fitting[0] if fitting else None


def _decimal(hours: float) -> Decimal:
    return Decimal(repr(round(hours, 9)))


# --- the sum ------------------------------------------------------------------------------------------


def total_of(lines: Sequence[CostLine], market: Offers, target: str | None, on: date) -> Cost:
    """Add lines up: in their own currency when it is one, else in `target` by the rates that were given."""
    currencies = {line.amount.currency for line in lines if line.amount}
    if len(currencies) > 1:
        wanted = target or sorted(currencies)[0]
        converted = [_converted(line, market, wanted, on) for line in lines]
        failed = next((why for _line, why in converted if why), None)
        lines = [line for line, _why in converted]
        if failed is not None:
            return Cost(total=None, low=None, high=None, at_least=None, lines=tuple(lines), why=failed)
    known = [line for line in lines if line.amount is not None]
    if not known:
        why = lines[0].why if lines else _("nothing is paid for")
        return Cost(total=None, low=None, high=None, at_least=None, lines=tuple(lines), why=why)
    at_least = _sum([line.amount for line in known])
    unknown = next((line.why for line in lines if line.amount is None), None)
    complete = unknown is None
    return Cost(
        total=at_least if complete else None,
        low=_sum_in([(line, line.low) for line in known]) if complete else None,
        high=_sum_in([(line, line.high) for line in known]) if complete else None,
        at_least=at_least,
        lines=tuple(lines),
        why=unknown,
    )


def _converted(line: CostLine, market: Offers, wanted: str, on: date) -> tuple[CostLine, str | None]:
    if line.amount is None or line.amount.currency == wanted:
        return line, None
    priced = convert(line.amount, wanted, market.rates, on)
    if priced.amount is None:
        return line, priced.why
    factor = [convert(one, wanted, market.rates, on).amount if one else None for one in (line.low, line.high)]
    why = f"{line.why}; {priced.why}"
    return replace(line, amount=priced.amount, low=factor[0], high=factor[1], why=why), None


def _sum_in(lines: Sequence[tuple[CostLine, Money | None]]) -> Money | None:
    """Add up what lines cost in one case; only machines cost another amount then, which may be unknown."""
    amounts = [amount if line.kind == MACHINE_LINE else line.amount for line, amount in lines]
    return None if any(amount is None for amount in amounts) else _sum(amounts)


def _sum(amounts: Sequence[Money | None]) -> Money | None:
    total: Money | None = None
    for amount in amounts:
        assert amount is not None, "only what is known is added up"
        total = amount if total is None else total + amount
    return total


def show_hours(hours: float) -> str:
    """Return hours as people say them."""
    return show_duration(timedelta(hours=hours))
