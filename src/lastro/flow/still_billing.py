"""What costs while a campaign waits for a decision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lastro.billing import LeaseKind
from lastro.flow.money import bill_of
from lastro.journal.views import CampaignView, MachineView
from lastro.locale import _
from lastro.records import dataclass
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
