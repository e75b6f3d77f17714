"""The bill of a campaign: its lines, and their sum where that is known. Pure; the only sum of money."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from lastro.billing import Lease, LeaseKind, billed_seconds, cost
from lastro.journal.lots import shared_lots
from lastro.journal.views import CostLine, CostView, MachineView
from lastro.locale import _
from lastro.units import Money


def cost_view(machines: Sequence[MachineView], lots: Sequence[CostLine] = ()) -> CostView:
    """Return the bill: a line for each lot, and for each machine that no lot pays, and their sum if known."""
    used = [machine for machine in machines if machine.created_at is not None and not _is_paid(machine)]
    lines = (*lots, *map(_line, shared_lots(used)))
    sums: dict[str, Money] = {}
    for line in lines:
        if line.amount is not None:
            had = sums.get(line.amount.currency)
            sums[line.amount.currency] = line.amount if had is None else had + line.amount
    by_currency = tuple(sums[currency] for currency in sorted(sums))
    unknown = next((line.reason for line in lines if line.amount is None), None)
    if unknown is not None:
        return CostView(lines=lines, total=None, reason=unknown, by_currency=by_currency)
    if len(by_currency) > 1:
        reason = _("amounts in several currencies do not add up without a dated rate")
        return CostView(lines=lines, total=None, reason=reason, by_currency=by_currency)
    if not lines:
        return CostView(lines=lines, total=None, reason=_("nothing was rented"), by_currency=())
    return CostView(lines=lines, total=by_currency[0], reason=None, by_currency=by_currency)


def _is_paid(machine: MachineView) -> bool:
    """Say whether a lot that was bought by hand carries the machine: it has a line of its own."""
    lease = machine.lease
    return lease is not None and lease.order is not None and lease.kind is LeaseKind.LOT


def _line(group: Sequence[MachineView]) -> CostLine:
    lease = group[0].lease
    if lease is not None and lease.kind is LeaseKind.LOT:
        return _lot_line(lease, group)
    return _machine_line(group[0])


def _lot_line(lease: Lease, group: Sequence[MachineView]) -> CostLine:
    """Return the line of a lot: its price, for however long its machines were used."""
    return CostLine(
        what=_name(group),
        quantity=_("1 lot"),
        amount=lease.price,
        source=_offer(lease),
        reason=_no_price(lease) if lease.price is None else None,
        running=any(machine.state != "gone" for machine in group),
    )


def _machine_line(machine: MachineView) -> CostLine:
    what = _name([machine])
    running = machine.state != "gone"
    seconds = machine.seconds
    if seconds is None:
        return CostLine(
            what=what,
            quantity=_("unknown use"),
            amount=None,
            source=machine.provider,
            reason=_("how long machine {id} was used is unknown: a clock was set back").format(id=machine.id),
            running=running,
        )
    if machine.lease is None:
        return CostLine(
            what=what,
            quantity=_("{hours:.4f} h used").format(hours=seconds / 3600),
            amount=None,
            source=machine.provider,
            reason=_("no price was given for machines of '{provider}'").format(provider=machine.provider),
            running=running,
        )
    amount = cost(machine.lease, seconds)
    hours = Decimal(billed_seconds(machine.lease, seconds)) / 3600
    return CostLine(
        what=what,
        quantity=_("{hours:.4f} h billed").format(hours=hours),
        amount=amount,
        source=_offer(machine.lease),
        reason=_no_price(machine.lease) if amount is None else None,
        running=running,
    )


def _name(group: Sequence[MachineView]) -> str:
    ids = [machine.id or machine.tag for machine in group]
    if len(ids) > 1:
        return _("machines {ids}").format(ids=", ".join(ids))
    return _("machine {id}").format(id=ids[0])


def _offer(lease: Lease) -> str:
    return _("offer '{offer}', {source}").format(offer=lease.offer, source=lease.source)


def _no_price(lease: Lease) -> str:
    return _("offer '{offer}' has no price").format(offer=lease.offer)
