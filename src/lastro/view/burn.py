"""The money of a campaign over its time, beside what the plan reserved. Pure, and for the eye only.

The bill alone is right: here each of its lines is laid on the axis where it arose, and the end is the bill.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from lastro.clock import from_iso
from lastro.journal.views import CampaignView, CostLine, MachineView
from lastro.records import dataclass
from lastro.view import show
from lastro.view.outcome_parts import Outcome


@dataclass(frozen=True, kw_only=True)
class Spend:
    """One line of the bill on the axis, in seconds from the calendar's zero; evenly from `start` to `end`."""

    start: float
    end: float
    amount: float

    def by(self, moment: float) -> float:
        """Return how much of it was spent at a moment; what has no length is spent at once."""
        if moment >= self.end:
            return self.amount
        return self.amount * (moment - self.start) / (self.end - self.start) if moment > self.start else 0.0


@dataclass(frozen=True, kw_only=True)
class Burn:
    """Money over time in one currency.

    `points`: (seconds, amount), the amount never falls but by a refund. `planned`: the same where
    the plan ends when all is short and cheap, as expected, and long and dear; None: it has no such figure.
    `left_out`: lines that are of unknown amount or in another currency.
    """

    currency: str
    points: tuple[tuple[float, float], ...]
    planned: tuple[tuple[float, float], tuple[float, float], tuple[float, float]] | None
    budget: float | None
    left_out: tuple[str, ...]


def burn_of(campaign: CampaignView, outcome: Outcome | None) -> Burn | None:
    """Return the spending of a campaign; None before anything was spent whose amount and time are known."""
    bill, zero = campaign.cost, zero_of(campaign)
    if zero is None or not bill.by_currency:
        return None
    budget = show.amount_of(campaign.plan.get("budget")) if campaign.plan else None
    currencies = [amount.currency for amount in bill.by_currency]
    currency = budget.currency if budget and budget.currency in currencies else currencies[0]
    until = max(0.0, (last_of(campaign) - zero).total_seconds())
    machines = {machine.id: machine for machine in campaign.machines}
    mine = [line for line in bill.lines if line.amount is not None and line.amount.currency == currency]
    spends = [_spend(line, machines, zero, until) for line in mine]
    return Burn(
        currency=currency,
        points=_points(spends, until),
        planned=_planned(outcome, currency),
        budget=float(budget.amount) if budget and budget.currency == currency else None,
        left_out=tuple(line.what for line in bill.lines if line not in mine),
    )


def zero_of(campaign: CampaignView) -> datetime | None:
    """Return the first thing that happened: where the calendar begins."""
    starts = [machine.created_at or machine.intended_at for machine in campaign.machines]
    starts += [life.started_at for run in campaign.runs for life in run.attempts]
    return min((from_iso(at) for at in starts), default=None)


def last_of(campaign: CampaignView) -> datetime:
    """Return the last moment at which anything was rented or ran: now, while something still is."""
    ends = [machine.gone_at for machine in campaign.machines]
    ends += [life.ended_at for run in campaign.runs for life in run.attempts]
    known = [from_iso(at) for at in ends if at is not None]
    return max(known) if known and len(known) == len(ends) else campaign.at


def _spend(line: CostLine, machines: Mapping[str | None, MachineView], zero: datetime, until: float) -> Spend:
    """Lay a line on the axis: a lot where it was taken, a machine by the hour over its life, a disk over all.

    What has no time of its own, such as an expense, stands at the end.
    """
    assert line.amount is not None, "only what is known is laid out"
    amount = float(line.amount.amount)
    paid = [machines[name] for name in line.machines if name in machines]
    starts = [(from_iso(one.created_at or one.intended_at) - zero).total_seconds() for one in paid]
    if line.kind == "disk":
        return Spend(start=0.0, end=until, amount=amount)
    if not starts:
        return Spend(start=until, end=until, amount=amount)
    if line.kind == "lot":
        return Spend(start=min(starts), end=min(starts), amount=amount)
    ends = [(from_iso(one.gone_at) - zero).total_seconds() if one.gone_at else until for one in paid]
    return Spend(start=min(starts), end=max(*ends, min(starts)), amount=amount)


def _points(spends: Sequence[Spend], until: float) -> tuple[tuple[float, float], ...]:
    """Return the sum at each moment at which it begins to go otherwise; a jump has two points."""
    moments = sorted({0.0, until, *(at for spend in spends for at in (spend.start, spend.end))})
    found = []
    for moment in moments:
        at_once = sum(spend.amount for spend in spends if spend.start == spend.end == moment)
        total = sum(spend.by(moment) for spend in spends)
        if at_once:
            found.append((moment, total - at_once))
        found.append((moment, total))
    return tuple(found)


def _planned(
    outcome: Outcome | None, currency: str
) -> tuple[tuple[float, float], tuple[float, float], tuple[float, float]] | None:
    if outcome is None or outcome.planned_end is None:
        return None
    low, likely, high = outcome.cost.low, outcome.cost.likely, outcome.cost.high
    if likely is None or likely.currency != currency:
        return None
    ends = [hours * 3600 for hours in outcome.planned_end]
    amounts = [float((amount or likely).amount) for amount in (low, likely, high)]
    return (ends[0], amounts[0]), (ends[1], amounts[1]), (ends[2], amounts[2])
