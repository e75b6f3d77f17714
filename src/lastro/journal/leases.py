"""Leases that were bought by hand, folded from home's stream. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lastro.billing import Lease, LeaseKind
from lastro.clock import from_iso
from lastro.journal.events import EventType
from lastro.journal.streams import Event
from lastro.journal.views import CostLine, LeaseView, MachineView
from lastro.locale import _


def lease_views(home: Sequence[Event]) -> tuple[LeaseView, ...]:
    """Return every lease that was added, in the order of adding; one added again counts as said last."""
    found: dict[str, LeaseView] = {}
    for event in home:
        if event.type is EventType.LEASE_ADDED:
            facts = event.facts
            found[facts["order"]] = LeaseView(
                order=facts["order"],
                host=facts["host"],
                lease=Lease.from_json(facts["lease"]),
                added_at=event.at,
            )
    return tuple(found.values())


def lot_lines(
    leases: Sequence[LeaseView], machines: Sequence[MachineView], now: datetime
) -> tuple[CostLine, ...]:
    """Return a line of the bill for each lot: it is paid once, whether and however it is used."""
    return tuple(
        CostLine(
            what=_("lease {order}").format(order=one.order),
            quantity=_("1 lot"),
            amount=one.lease.price,
            source=_("bought by hand, {source}").format(source=one.lease.source),
            running=is_valid(one, now),
            kind="lot",
            unit_price=one.lease.price,
            per=_("lot"),
            origin="typed",
            ref=one.order,
            machines=tuple(
                machine.id
                for machine in machines
                if machine.id is not None and machine.lease is not None and machine.lease.order == one.order
            ),
        )
        for one in leases
        if one.lease.kind is LeaseKind.LOT
    )


def is_valid(lease: LeaseView, now: datetime) -> bool:
    """Say whether a lease has not ended yet."""
    return lease.lease.ends_at is None or from_iso(lease.lease.ends_at) > now
