"""Whether money forbids one more machine: the budget, and what weather alone may cost. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from lastro.billing import Lease, LeaseKind
from lastro.clock import Stamp
from lastro.flow.limits import spent
from lastro.journal.lots import has_room
from lastro.journal.views import CampaignView, MachineView, RunView
from lastro.journal.weather import barren_attempts, spent_without_progress
from lastro.locale import _
from lastro.plan.bill import hourly_rate
from lastro.units import Money

#: Part of the budget that may be lost to machines that were taken away before a first save. An assumption.
WEATHER_SHARE = Decimal("0.2")


def weather_cap(budget: Money | None, max_weather: Money | None) -> Money | None:
    """Return what weather may cost a run in a row: what the campaign says, else a fifth of its budget."""
    if max_weather is not None:
        return max_weather
    return budget.times(WEATHER_SHARE) if budget is not None else None


def too_dear(view: CampaignView, budget: Money | None, lease: Lease | None) -> str | None:
    """Say why one more machine would exceed the budget; None when it would not.

    A lot that was bought by hand is paid already, and so is a place that a taken lot still has. What is
    billed by time and still affordable is limited by time; a lot costs its price at once.
    """
    by_hand = lease is not None and lease.order is not None and lease.kind is LeaseKind.LOT
    if budget is None or by_hand or has_room(view.machines, lease, Stamp(view.at)):
        return None
    amount = spent(view, budget.currency)
    total = Money(amount, budget.currency)
    if amount >= budget.amount:
        return _("{total} of {budget} are spent").format(total=total, budget=budget)
    price = lease.price if lease is not None and lease.kind is LeaseKind.LOT else None
    if lease is None or price is None or price.currency != budget.currency:
        return None
    if amount + price.amount <= budget.amount:
        return None
    return _("{total} are spent, and one more lot of '{offer}' for {price} would exceed {budget}").format(
        total=total, offer=lease.offer, price=price, budget=budget
    )


def bill_of(machine: MachineView) -> str:
    """Return in words what a machine costs by the hour."""
    rate = hourly_rate(machine.lease) if machine.lease else None
    return _("{rate} an hour").format(rate=rate) if rate is not None else _("an unknown price an hour")


def may_bill(machine: MachineView) -> str:
    """Say of a machine that was given up what it may cost for as long as nobody says that it is gone."""
    return _("machine {id}: unknown, may bill {bill} until '{provider}' says that it is gone").format(
        id=machine.id, bill=bill_of(machine), provider=machine.provider
    )


def stormy(view: CampaignView, runs: Sequence[RunView], cap: Money | None) -> str | None:
    """Say that a run was taken away again and again before it could save, for more than weather may cost."""
    if cap is None:
        return None
    for run in runs:
        lost = spent_without_progress(run, view, cap.currency)
        if lost.amount > 0 and lost.amount >= cap.amount:
            return _(
                "{run}: {count} attempts in a row were taken away before a save, for {lost} of the {cap} "
                "that weather may cost; take a calmer offer, save sooner, or raise `max_weather` and say "
                "--revise WHY"
            ).format(run=run.name, count=len(barren_attempts(run)), lost=lost, cap=cap)
    return None
