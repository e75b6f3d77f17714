"""Machines and what they cost, as a page shows them. Pure; the sums are those of the journal's projection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lastro.billing import LeaseKind
from lastro.journal.shares import busy_seconds
from lastro.journal.views import CampaignView, MachineView
from lastro.locale import _
from lastro.units import Money
from lastro.view import show
from lastro.view.parts import CostPart, Forecast, MachineRow, PerAccepted
from lastro.view.verdict import decision_of


def machine_row(machine: MachineView, campaign: CampaignView) -> MachineRow:
    """Return a machine with its use and what preflight said of it last."""
    checks = [facts for facts in campaign.preflights if machine.id and facts["machine"] == machine.id]
    last = checks[-1] if checks else None
    findings = [_finding(item) for item in (last or {}).get("findings") or () if not _is_quiet(item)]
    return MachineRow(
        view=machine,
        busy_seconds=busy_seconds(machine, campaign.runs, campaign.at),
        preflight=_preflight(last) if last else None,
        findings=tuple(findings),
        disk=_disk(machine, campaign),
    )


def _disk(machine: MachineView, campaign: CampaignView) -> str | None:
    """Return how well it is known that the disk outlives a machine; None where nobody has asked."""
    seen = [facts for facts in campaign.disks if machine.id and facts["machine"] == machine.id]
    if not seen:
        return None
    state = {"proven": _("proven"), "declared": _("declared, not proven"), "unknown": _("unknown")}
    return _("disk: {state}: {why}").format(state=state[str(seen[-1]["state"])], why=seen[-1]["why"])


def _is_quiet(item: Any) -> bool:
    """Say whether a finding is one that a reader of the report need not see: the check passed."""
    if not isinstance(item, Mapping):
        return False
    return str(item.get("verdict") or item.get("level") or item.get("status")) in (
        "pass",
        "ok",
        "note",
        "skip",
    )


def _preflight(facts: Mapping[str, Any]) -> str:
    """Return the verdict, with the risks that a person took to use the machine all the same."""
    accepted = facts.get("accepted") or {}
    if not accepted:
        return str(facts["verdict"])
    risks = "; ".join(f"{code}: {why}" for code, why in accepted.items())
    return _("{verdict}; risk accepted: {risks}").format(verdict=facts["verdict"], risks=risks)


def _finding(item: Any) -> str:
    """Return one finding of preflight as a text, whatever keys the check has used."""
    if not isinstance(item, Mapping):
        return str(item)
    said = [str(item[key]) for key in ("name", "check", "verdict", "why", "message", "text") if item.get(key)]
    return ": ".join(said) if said else ", ".join(f"{key} {text}" for key, text in show.flattened(item))


def cost_part(campaign: CampaignView, per_accepted: PerAccepted | None) -> CostPart:
    """Return the bill with what explains it: budget, forecast, use, idle time and what an hour costs now."""
    created = [machine for machine in campaign.machines if machine.created_at is not None]
    uses = [machine.seconds for machine in created]
    known = [use for use in uses if use is not None]
    used = sum(known) if created and len(known) == len(uses) else None
    busy = sum(busy_seconds(machine, campaign.runs, campaign.at) for machine in created)
    billing = [machine for machine in created if machine.state not in ("queued", "gone")]
    rate, why = _rate(billing)
    unit = decision_of(campaign.plan).get("unit")
    return CostPart(
        bill=campaign.cost,
        per_accepted=per_accepted or _undefined(campaign, unit),
        budget=show.amount_of(campaign.plan.get("budget")) if campaign.plan else None,
        used_seconds=used,
        idle_seconds=None if used is None else max(0.0, used - busy),
        forecast=_forecast(campaign.plan),
        rate=rate,
        rate_reason=why,
        bills_now=bool(billing),
    )


def _forecast(plan: Mapping[str, Any] | None) -> Forecast | None:
    """Return what the plan expected the option that it took to cost; None when it took none."""
    chosen = plan.get("option") if plan else None
    for option in (plan.get("options") or ()) if plan else ():
        if chosen is not None and option["name"] == chosen:
            cost = option["cost"]
            low, likely, high = (show.amount_of(cost.get(key)) for key in ("low", "total", "high"))
            return Forecast(low=low, likely=likely, high=high, reason=cost.get("why"))
    return None


def _undefined(campaign: CampaignView, unit: Any) -> PerAccepted:
    """Say why a cost per accepted unit is not there when the closing's account gave none."""
    if unit in (None, "none"):
        return PerAccepted(reason=_("the campaign counts no unit"))
    if campaign.conclusion is None:
        return PerAccepted(reason=_("the campaign is not closed"), unit=str(unit))
    return PerAccepted(reason=_("the closing gave none"), unit=str(unit))


def _rate(machines: Sequence[MachineView]) -> tuple[Money | None, str | None]:
    """Return what an hour of these machines costs, or why that is not known. A lot is paid already."""
    total: Money | None = None
    for machine in machines:
        name = machine.id or machine.tag
        if machine.lease is None or machine.lease.price is None:
            return None, _("the price of machine {id} is unknown").format(id=name)
        if machine.lease.kind is LeaseKind.LOT:
            continue
        price = machine.lease.price
        if total is not None and total.currency != price.currency:
            return None, _("machines are billed in several currencies")
        total = price if total is None else total + price
    return total, None
