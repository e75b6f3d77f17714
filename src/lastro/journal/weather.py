"""What weather has cost: machines that were taken away before a run could save anything. Pure."""

from __future__ import annotations

from decimal import Decimal

from lastro.billing import Lease, LeaseKind, cost
from lastro.clock import from_iso
from lastro.journal.views import AttemptView, CampaignView, MachineView, RunView
from lastro.rules import End
from lastro.units import Money

_WEATHER = (End.LOST.value, End.NOTICE.value)


def barren_attempts(run: RunView) -> tuple[AttemptView, ...]:
    """Return the last attempts in a row that were taken away without a new checkpoint or a new item."""
    found: list[AttemptView] = []
    before = [0, *(life.items_done or 0 for life in run.attempts)]
    for life, items in reversed(list(zip(run.attempts, before, strict=False))):
        if life.checkpoints or (life.items_done or 0) > items or life.end not in _WEATHER:
            break
        found.append(life)
    return tuple(reversed(found))


def spent_without_progress(run: RunView, campaign: CampaignView, currency: str) -> Money:
    """Return what those attempts have cost in one currency; what is unknown is not in it.

    A machine that only they were on counts whole, from its first second to its last; of another one, the
    time that they were on it.
    """
    barren = barren_attempts(run)
    total = Money(Decimal(0), currency)
    for machine in campaign.machines:
        here = [life for life in barren if life.machine == machine.id]
        if not here or machine.lease is None or machine.lease.price is None:
            continue
        if machine.lease.price.currency != currency:
            continue
        others = [
            life
            for other in campaign.runs
            for life in other.attempts
            if life.machine == machine.id and not any(life is one for one in here)
        ]
        total += _whole(machine, currency) if not others else _share(machine, here, campaign)
    return total


def _whole(machine: MachineView, currency: str) -> Money:
    assert machine.lease is not None
    whole = cost(machine.lease, machine.seconds or 0.0) or Money(Decimal(0), currency)
    return _of_one(machine.lease, whole)


def _share(machine: MachineView, lives: list[AttemptView], campaign: CampaignView) -> Money:
    assert machine.lease is not None
    assert machine.lease.price is not None
    seconds = sum(
        (
            (from_iso(life.ended_at) if life.ended_at else campaign.at) - from_iso(life.started_at)
        ).total_seconds()
        for life in lives
    )
    if machine.lease.kind is not LeaseKind.LOT:
        return cost(machine.lease, seconds) or machine.lease.price.times(0)
    if not machine.lease.term_seconds:
        return machine.lease.price.times(0)
    whole = machine.lease.price.times(Decimal(str(seconds)) / machine.lease.term_seconds)
    return _of_one(machine.lease, whole)


def _of_one(lease: Lease, money: Money) -> Money:
    """Return the part of one machine in the price of a lot of several."""
    return money.divided(lease.machines) if lease.kind is LeaseKind.LOT and lease.machines > 1 else money
