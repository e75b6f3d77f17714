"""What it costs to wait for a machine: what stands idle meanwhile, and the slack that it uses up. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

from lastro.billing import LeaseKind, storage
from lastro.clock import from_iso
from lastro.journal.views import CampaignView, MachineView
from lastro.locale import _
from lastro.plan.model import Plan
from lastro.records import dataclass
from lastro.units import Money, show_duration


@dataclass(frozen=True, kw_only=True)
class WaitingCost:
    """What an hour of waiting costs. `per_hour`: what is known of it, by currency; `of`: what stands idle.

    `unknown`: what has no known price. `slack_hours`: of the window, that waiting uses up; below nothing: the
    work does not fit any more; None: there is no window, or nobody knows how long the work takes.
    """

    per_hour: tuple[Money, ...] = ()
    of: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    slack_hours: float | None = None

    @property
    def single(self) -> Money | None:
        """All of it in one amount; None where a part is unknown, or there are several currencies."""
        return self.per_hour[0] if len(self.per_hour) == 1 and not self.unknown else None

    @property
    def text(self) -> str:
        """What it costs, in a sentence without an end."""
        amounts = " + ".join(str(amount) for amount in self.per_hour)
        if amounts:
            told = [_("an hour of waiting costs {amounts} ({what})").format(
                amounts=amounts, what=", ".join(self.of)
            )]  # fmt: skip
        else:
            told = [_("waiting costs nothing that is known")]
        if self.unknown:
            told.append(_("at an unknown price: {what}").format(what=", ".join(self.unknown)))
        if self.slack_hours is not None:
            told.append(_slack(self.slack_hours))
        return "; ".join(told)

    def as_json(self) -> dict[str, Any]:
        return {
            "per_hour": [amount.as_json() for amount in self.per_hour],
            "of": list(self.of),
            "unknown": list(self.unknown),
            "slack_hours": None if self.slack_hours is None else round(self.slack_hours, 3),
        }


def _slack(hours: float) -> str:
    left = show_duration(timedelta(hours=abs(hours)))
    if hours < 0:
        return _("the work needs {left} more than the window has").format(left=left)
    return _("about {left} of slack are left, of which each hour uses one").format(left=left)


def waiting_cost(plan: Plan, view: CampaignView) -> WaitingCost:
    """Return what an hour of waiting costs now."""
    sums: dict[str, Money] = {}
    of, unknown = [], []
    for what, amount in [*_machines(view), *_disk(plan)]:
        if amount is None:
            unknown.append(what)
            continue
        had = sums.get(amount.currency)
        sums[amount.currency] = amount if had is None else had + amount
        of.append(what)
    return WaitingCost(
        per_hour=tuple(sums[currency] for currency in sorted(sums)),
        of=tuple(of),
        unknown=tuple(unknown),
        slack_hours=_slack_left(plan, view),
    )


def _machines(view: CampaignView) -> Iterator[tuple[str, Money | None]]:
    """Give the machines on which nothing works; of a lot nothing: it is paid, whatever is used of it."""
    busy = {run.attempts[-1].machine for run in view.runs if run.attempts and run.attempts[-1].alive}
    for machine in view.machines:
        lot = machine.lease is not None and machine.lease.kind is LeaseKind.LOT
        if machine.id is not None and machine.state != "gone" and machine.id not in busy and not lot:
            yield _("idle machine {id}").format(id=machine.id), _price(machine)


def _price(machine: MachineView) -> Money | None:
    return machine.lease.price if machine.lease is not None else None


def _disk(plan: Plan) -> Iterator[tuple[str, Money | None]]:
    """Give the disks of the plan, at the price that they have while no machine holds them."""
    disk = plan.tariffs.disk if plan.tariffs is not None else None
    if disk is None or not disk.outlives:
        return
    name = _("disk {name}").format(name=disk.name)
    if disk.stopped is None or disk.bytes is None:
        yield name, None
        return
    hour = storage(disk.stopped, disk.bytes * disk.disks, Decimal(1))
    yield name, Money(hour.amount.quantize(Decimal("0.000001")), hour.currency)


def _slack_left(plan: Plan, view: CampaignView) -> float | None:
    """Return what is left of the window beyond the work that is still to come, as it was planned.

    Of the planned hours those are done that attempts have worked; several machines share them.
    """
    if plan.window_hours is None or plan.total_hours is None or view.frozen_at is None:
        return None
    gone = (view.at - from_iso(view.frozen_at)).total_seconds() / 3600
    worked = sum(life.worked_seconds or 0.0 for run in view.runs for life in run.attempts) / 3600
    to_come = max(0.0, plan.total_hours.likely - worked / max(1, plan.machines))
    return plan.window_hours - gone - to_come
