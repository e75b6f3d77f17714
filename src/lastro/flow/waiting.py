"""What a campaign that waits for a decision shows: measured and planned, new options, what waiting costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lastro.billing import LeaseKind
from lastro.clock import Clock
from lastro.flow.freeze import Draft, Durations, Sources, draw_up
from lastro.flow.money import bill_of
from lastro.flow.session import Session
from lastro.journal.views import CampaignView, DecisionView, MachineView
from lastro.locale import _
from lastro.plan.build import Plan
from lastro.units import Money


@dataclass(frozen=True, kw_only=True)
class Billing:
    """Something that costs while nobody decides. `rate`: an hour of it; None: paid already, or unknown."""

    what: str
    rate: Money | None
    why: str

    def as_json(self) -> dict[str, Any]:
        rate = self.rate.as_json() if self.rate else None
        return {"what": self.what, "per_hour": rate, "why": self.why}


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """A decision that has to come before anything goes on.

    `planned`: the frozen plan. `updated`: the same campaign drawn up again, with durations as they were
    measured; nobody has frozen it, and it begins at its beginning: what is done and paid is not taken off.
    """

    decision: DecisionView
    why: str
    planned: Plan
    updated: Plan
    billing: tuple[Billing, ...]


def waiting_for(session: Session, plan: Plan, why: str, draft: Draft, clock: Clock) -> Waiting | None:
    """Return what is waited for; None when it is nothing.

    Args:
        session: the campaign.
        plan: the frozen one.
        why: what has to come.
        draft: of the campaign file as it is now.
        clock: for the date of the plan that is drawn up again.
    """
    view = session.view()
    if view.open_decision is None:
        return None
    again = draw_up(
        draft.loaded,
        clock,
        on=plan.provider,
        disk=draft.disk,
        sources=Sources(durations=Durations.MEASURED),
    )
    return Waiting(
        decision=view.open_decision,
        why=why,
        planned=plan,
        updated=again.plan,
        billing=tuple(still_billing(view)),
    )


def still_billing(view: CampaignView) -> Iterator[Billing]:
    """Give what costs while nobody decides: machines that are still held, and the disk. Pure."""
    for machine in view.machines:
        if machine.state != "gone":
            yield _of_machine(machine)
    yield from _of_disk(view.plan)


def _of_machine(machine: MachineView) -> Billing:
    what = _("machine {id}").format(id=machine.id or machine.tag)
    lease = machine.lease
    if lease is not None and lease.kind is LeaseKind.LOT:
        until = _("until {moment}").format(moment=lease.ends_at) if lease.ends_at else _("to its end")
        why = _("its lot '{offer}' is paid {until}: waiting costs nothing more, and uses it up").format(
            offer=lease.offer, until=until
        )
        return Billing(what=what, rate=None, why=why)
    rate = lease.price if lease is not None else None
    return Billing(what=what, rate=rate, why=_("held, for {bill}").format(bill=bill_of(machine)))


def _of_disk(plan: Mapping[str, Any] | None) -> Iterator[Billing]:
    """Give the disk: it holds the checkpoint that the run goes on from, so it stays."""
    options = plan.get("options", ()) if plan else ()
    taken = next((one for one in options if plan and one["name"] == plan.get("option")), None)
    lines = [line for line in taken["cost"]["lines"] if line["kind"] == "disk"] if taken else []
    for line in lines:
        yield Billing(
            what=_("disk {name}").format(name=line["name"]),
            rate=None,
            why=_("kept, also while nothing runs ({quantity} are in the plan: {why})").format(
                quantity=line["quantity"], why=line["why"]
            ),
        )
    if not lines:
        why = _("kept; what it costs is not known here: no row of `disks` says it")
        yield Billing(what=_("the disk"), rate=None, why=why)
