"""What a machine may not exceed, from the plan, its lease and what was spent; and whether that bars a start.

Pure. The supervisor on the machine judges the same values by the same rule, also when home is gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal

from lastro.billing import Lease, LeaseKind, cost
from lastro.clock import from_iso, iso
from lastro.journal.views import CampaignView, MachineView, RunView
from lastro.plan.model import Plan
from lastro.rules import Leave, LimitKind, Limits, Order, judge_limits, leaving_seconds
from lastro.units import Money

#: An attempt that could not work for longer than this is not worth its start.
WORTH_A_START_SECONDS = 10.0
_OVER = ("completed", "stopped", "failed", "superseded")


def limits_of(plan: Plan, view: CampaignView, machine: MachineView) -> Limits:
    """Return what a machine may not exceed."""
    began = _began(machine, view)
    return _limits(plan, view, machine.lease, began, _cost_so_far(machine))


def _began(machine: MachineView, view: CampaignView) -> datetime:
    """Return since when a machine is paid, in what the wall clock says now: it may have been set since."""
    if machine.seconds is not None:
        return view.at - timedelta(seconds=machine.seconds)
    return min(from_iso(machine.created_at), view.at) if machine.created_at else view.at


def limits_of_new(plan: Plan, view: CampaignView, lease: Lease | None) -> Limits:
    """Return what a machine that is taken now under this lease could not exceed."""
    return _limits(plan, view, lease, view.at, None)


def limits_by_machine(plan: Plan, view: CampaignView) -> Mapping[str, Limits]:
    """Return the limits of every machine that is rented, by its id."""
    return {
        machine.id: limits_of(plan, view, machine)
        for machine in view.machines
        if machine.id is not None and machine.state != "gone"
    }


def _limits(
    plan: Plan, view: CampaignView, lease: Lease | None, began: datetime, mine: Money | None
) -> Limits:
    return Limits(
        lease_end_at=_lease_end(lease, began),
        deadline_at=_deadline(plan, view),
        budget=_share(plan, view, mine),
        lease=lease,
        billed_since=iso(began),
        idle_seconds=plan.idle_seconds,
    )


def _lease_end(lease: Lease | None, began: datetime) -> str | None:
    if lease is None:
        return None
    if lease.ends_at is not None:
        return lease.ends_at
    if lease.kind is LeaseKind.LOT and lease.term_seconds is not None:
        return iso(began + timedelta(seconds=lease.term_seconds))
    return None


def _deadline(plan: Plan, view: CampaignView) -> str | None:
    """Return the end of the window, which begins when the plan is first frozen."""
    if plan.window_hours is None or view.frozen_at is None:
        return None
    return iso(from_iso(view.frozen_at) + timedelta(hours=plan.window_hours))


def _share(plan: Plan, view: CampaignView, mine: Money | None) -> Money | None:
    """Return what one machine may cost in all: what it has cost, and its part of what nobody has spent.

    As many share as can be at work at once, so that together they never exceed the budget, whether home
    lives or not.
    """
    if plan.budget is None:
        return None
    left = plan.budget.amount - spent(view, plan.budget.currency)
    open_runs = sum(run.status not in _OVER for run in view.runs)
    rented = sum(machine.state != "gone" for machine in view.machines)
    sharing = max(1, rented, min(plan.machines, open_runs))
    had = mine.amount if mine is not None and mine.currency == plan.budget.currency else Decimal(0)
    return Money(had + left / sharing, plan.budget.currency)


def spent(view: CampaignView, currency: str) -> Decimal:
    """Return what is known to be spent in one currency."""
    return next((sum_.amount for sum_ in view.cost.by_currency if sum_.currency == currency), Decimal(0))


def _cost_so_far(machine: MachineView) -> Money | None:
    if machine.lease is None or machine.seconds is None:
        return None
    return cost(machine.lease, machine.seconds)


# --- may a run begin? ---------------------------------------------------------------------------------


def last_save_seconds(run: RunView) -> float | None:
    """Return what the last save of a run took; None before the first."""
    saves = [saved.seconds for life in run.attempts for saved in life.checkpoints]
    return saves[-1] if saves else None


def bars_start(limits: Limits, run: RunView, now: datetime, *, times: float = 1.0) -> Leave | None:
    """Return the limit by which an attempt that starts now would have to leave at once; None: it may start.

    Args:
        limits: of the machine.
        run: what is to be started.
        now: home's time.
        times: how often the time for leaving has to fit; more than once where it was the last thing done.
    """
    leaving = leaving_seconds(last_save_seconds(run), 0.0, Order.grace_seconds)
    return judge_limits(limits, now, leaving=times * leaving + WORTH_A_START_SECONDS)


def left_for_lease(run: RunView, machine_id: str) -> bool:
    """Say whether an attempt of a run has left this machine because its lease ends."""
    return any(
        life.machine == machine_id and life.limit == LimitKind.LEASE_END.value for life in run.attempts
    )
