"""When to begin: what another hour of the day would change, where an offer's prices go by it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from lastro.billing import billed_seconds
from lastro.locale import _
from lastro.plan.bill import bands_of, machine_lanes, times
from lastro.plan.calendar import Calendar
from lastro.plan.hours import propose_starts
from lastro.plan.levels import NOTE, WARN
from lastro.plan.parts import Finding
from lastro.spec.offers import Offer
from lastro.units import show_duration


def findings(
    offers: Sequence[tuple[Offer, Calendar]], now: datetime, window: timedelta | None
) -> Iterator[Finding]:
    """Return start times that cost less, and offers that cannot be had now.

    Args:
        offers: those that are offered, each with its calendar.
        now: aware.
        window: within which all has to be over.
    """
    for offer, calendar in offers:
        if not offer.by_hour or calendar.total is None:
            continue
        lanes = machine_lanes(calendar, offer)
        spans = [times(slot, "likely") for slot in calendar.slots if slot.lane in lanes]
        if not spans:
            continue
        first, last = min(start for start, _end in spans), max(end for _start, end in spans)
        # A machine boots before its first stage, as in the bill; what is before and after moves with it.
        begin = now + timedelta(hours=first) - timedelta(seconds=offer.boot_seconds)
        beside = timedelta(hours=calendar.total.likely - (last - first))
        used = round((last - first) * 3600 + offer.boot_seconds, 6)
        starts = propose_starts(
            timedelta(seconds=billed_seconds(offer.lease(), used)),
            now=begin,
            bands=bands_of(offer),
            price=offer.machine_price,
            utc_offset=timedelta(hours=offer.utc),
            window=None if window is None else window - beside,
        )
        if starts.first is None or starts.first.at > begin:
            text = _("{offer}: {why}").format(offer=offer.name, why=starts.why)
            yield Finding(code="not_to_be_had", level=WARN, text=text)
        for start in starts.proposed[-1:]:
            text = _(
                "{offer}: {later} later, its machine from {at:%Y-%m-%d %H:%M} UTC on, it costs {cost}, "
                "{saves} less"
            )
            yield Finding(
                code="start_later",
                level=NOTE,
                text=text.format(
                    offer=offer.name,
                    later=show_duration(start.later),
                    at=start.at,
                    cost=start.cost,
                    saves=start.saves,
                ),
            )
