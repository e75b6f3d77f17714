"""The bill of a campaign: its lines, and their sum where that is known. Pure; the only sum of money."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from lastro.billing import Lease, LeaseKind, billed_seconds, cost
from lastro.journal.expenses import expense_lines, expense_views, invoice_views, rate_views
from lastro.journal.leases import lot_lines
from lastro.journal.lots import shared_lots
from lastro.journal.reconcile import reconcile
from lastro.journal.shares import Use, cards_of, idle_share, lost_share
from lastro.journal.storage import storage_lines, storage_that_stays, transfer_lines
from lastro.journal.streams import Event
from lastro.journal.views import (
    CostLine,
    CostView,
    LeaseView,
    MachineView,
    RateView,
    RunView,
    StillBilled,
)
from lastro.locale import _
from lastro.records import dataclass
from lastro.units import Money


@dataclass(frozen=True, kw_only=True)
class Told:
    """What a bill is made from, as the journal tells it. `until`: the end of what is still paid."""

    home: Sequence[Event]
    plan: Mapping[str, Any] | None
    machines: Sequence[MachineView]
    leases: Sequence[LeaseView]
    runs: Sequence[RunView]
    preflights: Sequence[Mapping[str, Any]]
    until: datetime
    closed: bool


def cost_view(told: Told) -> CostView:
    """Return the bill: lots, machines, disks, moved data, what was typed; and their sum if it is known."""
    lots = lot_lines(told.leases, told.machines, told.until)
    used = [one for one in told.machines if one.created_at is not None and not _is_paid(one)]
    lines = (
        *lots,
        *map(_line, shared_lots(used)),
        *storage_lines(told.home, told.machines, told.until, running=not told.closed),
        *transfer_lines(told.home),
        *expense_lines(expense_views(told.home)),
    )
    use = Use(
        lines=lines,
        machines=told.machines,
        runs=told.runs,
        cards=cards_of(told.preflights),
        at=told.until,
    )
    total = total_of(lines, rate_views(told.home, told.plan), _currency(told.plan), told.until.date())
    return replace(
        total,
        idle=idle_share(use),
        lost=lost_share(use),
        may_bill=_may_bill(told),
        reconciled=reconcile(lines, invoice_views(told.home)),
    )


def _currency(plan: Mapping[str, Any] | None) -> str | None:
    budget = (plan or {}).get("budget")
    return str(budget["currency"]) if budget else None


def total_of(
    lines: Sequence[CostLine],
    rates: Sequence[RateView] = (),
    target: str | None = None,
    on: date | None = None,
) -> CostView:
    """Add lines up.

    Args:
        lines: of the bill.
        rates: that were given; of one direction the latest that is not later than `on` is taken.
        target: the currency of the budget, into which others are changed; None: there is none, and amounts
            in several currencies have no total.
        on: the day of the account.
    """
    sums: dict[str, Money] = {}
    for line in lines:
        if line.amount is not None:
            had = sums.get(line.amount.currency)
            sums[line.amount.currency] = line.amount if had is None else had + line.amount
    by_currency = tuple(sums[currency] for currency in sorted(sums))
    if not lines:
        return CostView(lines=(), total=None, reason=_("nothing was rented"), by_currency=())
    unknown = next((line.reason for line in lines if line.amount is None), None)
    total, reason, taken = (None, unknown, ()) if unknown else _sum(by_currency, rates, target, on)
    return CostView(lines=tuple(lines), total=total, reason=reason, by_currency=by_currency, rates=taken)


def _sum(
    amounts: Sequence[Money], rates: Sequence[RateView], target: str | None, on: date | None
) -> tuple[Money | None, str | None, tuple[RateView, ...]]:
    if len(amounts) == 1:
        return amounts[0], None, ()
    if target is None:
        return None, _("amounts in several currencies do not add up without a dated rate"), ()
    total, taken = Money(Decimal(0), target), []
    for amount in amounts:
        rate = None if amount.currency == target else _rate(rates, amount.currency, target, on)
        if rate is None and amount.currency != target:
            text = _("amounts in several currencies do not add up without a dated rate from {base} to {to}")
            return None, text.format(base=amount.currency, to=target), ()
        taken += [rate] if rate is not None else []
        total += amount if rate is None else Money(amount.amount * rate.rate, target)
    return total, None, tuple(taken)


def _rate(rates: Sequence[RateView], base: str, to: str, on: date | None) -> RateView | None:
    """Return the latest rate of this direction; never an inverse, which nobody gave."""
    day = on.isoformat() if on is not None else None
    known = [
        one for one in rates if (one.base, one.to) == (base, to) and (day is None or one.day <= day)
    ]  # fmt: skip
    return max(known, key=lambda one: one.day, default=None)


def _may_bill(told: Told) -> tuple[StillBilled, ...]:
    """Return what may cost more after this: machines that nobody said are gone, and the disk."""
    machines = tuple(
        StillBilled(
            what=_name([machine]),
            unit_price=machine.lease.price if machine.lease else None,
            per=_("hour"),
            why=_("nobody has said that it is gone"),
        )
        for machine in told.machines
        if machine.state not in ("queued", "gone")
        and not (machine.lease and machine.lease.kind is LeaseKind.LOT)
    )
    return (*machines, *storage_that_stays(told.plan))


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
        kind="lot",
        unit_price=lease.price,
        per=_("lot"),
        ref=lease.offer,
        machines=_ids(group),
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
            ref=machine.id or machine.tag,
            machines=_ids([machine]),
        )
    if machine.lease is None:
        return CostLine(
            what=what,
            quantity=_("{hours:.4f} h used").format(hours=seconds / 3600),
            amount=None,
            source=machine.provider,
            reason=_("no price was given for machines of '{provider}'").format(provider=machine.provider),
            running=running,
            ref=machine.id or machine.tag,
            machines=_ids([machine]),
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
        unit_price=machine.lease.price,
        per=_("hour"),
        ref=machine.id or machine.tag,
        machines=_ids([machine]),
    )


def _ids(group: Sequence[MachineView]) -> tuple[str, ...]:
    return tuple(machine.id for machine in group if machine.id is not None)


def _name(group: Sequence[MachineView]) -> str:
    ids = [machine.id or machine.tag for machine in group]
    if len(ids) > 1:
        return _("machines {ids}").format(ids=", ".join(ids))
    return _("machine {id}").format(id=ids[0])


def _offer(lease: Lease) -> str:
    return _("offer '{offer}', {source}").format(offer=lease.offer, source=lease.source)


def _no_price(lease: Lease) -> str:
    return _("offer '{offer}' has no price").format(offer=lease.offer)
