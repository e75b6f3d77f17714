"""What each offer would cost for the calendar, and which one to take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from lastro.billing import Lease, LeaseKind, cost
from lastro.locale import _
from lastro.plan.calendar import GPU, Calendar
from lastro.plan.model import Option, Slot
from lastro.spec.campaign import Campaign
from lastro.spec.offers import Offer
from lastro.units import Money

#: Members of the European Union (europa.eu, read 2026-11): an offer in one of them lies in EU.
EU = frozenset(
    "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK".split()  # noqa: SIM905
)
_HOUR = 3600
_CASES = ("low", "likely", "high")


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The offer to take, None for none, and why."""

    offer: Offer | None
    why: str


def price_options(campaign: Campaign, offers: Sequence[Offer], calendar: Calendar) -> tuple[Option, ...]:
    """Return what each offer would cost for this calendar, in the order of the offers."""
    return tuple(_option(campaign, offer, calendar) for offer in offers)


def _option(campaign: Campaign, offer: Offer, calendar: Calendar) -> Option:
    refused = _refused(campaign, offer)
    option = Option(
        offer=offer.name, kind=offer.kind.value, eligible=refused is None, cost=None, reason=refused
    )
    if calendar.total is None:
        return replace(option, reason=refused or _("a duration is unknown, so the cost is"))
    lots = {case: _lots(offer, calendar, case) for case in _CASES}
    costs = {case: _cost(offer, calendar, case, lots[case]) for case in _CASES}
    window = campaign.window.total_seconds() / _HOUR if campaign.window else None
    price = costs["likely"]
    return replace(
        option,
        cost=price,
        cost_low=costs["low"],
        cost_high=costs["high"],
        lots=lots["likely"],
        machine_hours=round(sum(_machine_hours(calendar, "likely")), 9),
        fits_window=None if window is None else calendar.total.likely <= window,
        fits_budget=_fits_budget(price, campaign.budget),
        reason=refused or (_("the price is unknown") if offer.price is None else None),
    )


def _refused(campaign: Campaign, offer: Offer) -> str | None:
    """Say why an offer cannot be taken at all; None when it can."""
    provider = campaign.provider
    if offer.provider is not None and offer.provider not in (provider, provider.split(":")[0]):
        return _("it is had from {there}, the campaign runs on {here}").format(
            there=offer.provider, here=provider
        )
    if offer.capacity == 0:
        return _("none is left")
    place = offer.jurisdiction
    allowed = {*campaign.jurisdictions, *(EU if "EU" in campaign.jurisdictions else ())}
    if place and allowed and place not in allowed:
        return _("it lies in {place}, the campaign allows {allowed}").format(
            place=place, allowed=", ".join(campaign.jurisdictions)
        )
    return None


def _times(slot: Slot, case: str) -> tuple[float, float]:
    if case == "low":
        return slot.start_low_hours, slot.end_low_hours
    if case == "high":
        return slot.start_high_hours, slot.end_high_hours
    return slot.start_hours, slot.end_hours


def _machine_hours(calendar: Calendar, case: str) -> list[float]:
    """Return the hours of each interval that holds a machine."""
    times = [_times(slot, case) for slot in calendar.slots if (slot.lane or "").startswith(GPU)]
    return [end - start for start, end in times]


def _lots(offer: Offer, calendar: Calendar, case: str) -> int | None:
    """Return how many lots cover each machine, from its first use until the outputs are collected."""
    if offer.kind is not LeaseKind.LOT or offer.term is None:
        return None
    end = max((_times(slot, case)[1] for slot in calendar.slots), default=0.0)
    lots = 0
    for lane in {slot.lane for slot in calendar.slots if (slot.lane or "").startswith(GPU)}:
        first = min(_times(slot, case)[0] for slot in calendar.slots if slot.lane == lane)
        # Rounded to the microsecond: 0.1 h and the like are no exact floats.
        lots += max(1, math.ceil(round((end - first) * _HOUR / offer.term.total_seconds(), 9)))
    return lots


def _cost(offer: Offer, calendar: Calendar, case: str, lots: int | None) -> Money | None:
    lease = offer.lease()
    if lease.price is None:
        return None
    if offer.kind is LeaseKind.LOT:
        return lease.price.times(lots or 0)
    total = lease.price.times(0)
    for hours in _machine_hours(calendar, case):
        used = cost(lease, hours * _HOUR + offer.boot_seconds)
        assert used is not None, "the price is known"
        total += used
    return total


def _fits_budget(price: Money | None, budget: Money | None) -> bool | None:
    if price is None or budget is None or price.currency != budget.currency:
        return None
    return price.amount <= budget.amount


# --- choice -------------------------------------------------------------------------------------------


def choose(offers: Sequence[Offer], options: Sequence[Option]) -> Choice:
    """Choose the cheapest offer that fits the window and the budget; say what speaks against it otherwise."""
    if not offers:
        return Choice(offer=None, why=_("the campaign names no offers, so nothing is priced"))
    pairs = [(offer, option) for offer, option in zip(offers, options, strict=True) if option.eligible]
    if not pairs:
        reasons = "; ".join(f"{option.offer}: {option.reason}" for option in options)
        return Choice(offer=None, why=_("none of the offers can be taken: {reasons}").format(reasons=reasons))
    if len(pairs) == 1:
        return Choice(offer=pairs[0][0], why=_("the only offer that can be taken"))
    fitting = [
        pair for pair in pairs if pair[1].fits_window is not False and pair[1].fits_budget is not False
    ]
    priced = [pair for pair in fitting or pairs if pair[1].cost is not None]
    if not priced:
        return _choose_by_rate([offer for offer, _option in fitting or pairs])
    if len({option.cost.currency for _offer, option in priced if option.cost}) > 1:
        return Choice(
            offer=priced[0][0], why=_("the first in the file: prices in several currencies do not compare")
        )
    offer, option = min(priced, key=lambda pair: pair[1].cost.amount if pair[1].cost else Decimal(0))
    if fitting:
        why = _("the cheapest that fits the window and the budget: {cost}").format(cost=option.cost)
    else:
        why = _("the cheapest, although none fits the window and the budget: {cost}").format(cost=option.cost)
    return Choice(offer=offer, why=why)


def _choose_by_rate(offers: Sequence[Offer]) -> Choice:
    """Choose among offers whose cost for this campaign is unknown."""
    rates = [(rate, offer) for offer in offers if (rate := hourly_rate(offer.lease())) is not None]
    if not rates:
        return Choice(offer=offers[0], why=_("the first in the file: no price is known"))
    if len({rate.currency for rate, _offer in rates}) > 1:
        return Choice(
            offer=rates[0][1], why=_("the first in the file: prices in several currencies do not compare")
        )
    rate, offer = min(rates, key=lambda pair: pair[0].amount)
    return Choice(
        offer=offer,
        why=_("the cheapest by the hour ({rate}): without durations nothing else can be compared").format(
            rate=rate
        ),
    )


def hourly_rate(lease: Lease) -> Money | None:
    """Return what one hour of a lease costs when all of it is used; None when its price is unknown."""
    if lease.price is None:
        return None
    if lease.kind is not LeaseKind.LOT or not lease.term_seconds:
        return lease.price
    return lease.price.times(Decimal(_HOUR) / lease.term_seconds)
