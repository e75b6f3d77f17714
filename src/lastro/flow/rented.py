"""What stays rented, and what becomes of it when nobody looks after it."""

from __future__ import annotations

from datetime import timedelta

from lastro.flow import silence
from lastro.flow.money import bill_of
from lastro.flow.orders import unattended_seconds
from lastro.flow.session import Session
from lastro.journal.views import CampaignView, MachineView
from lastro.locale import _
from lastro.plan.model import Plan
from lastro.providers.registry import traits_of
from lastro.units import show_duration


def rented(view: CampaignView) -> tuple[MachineView, ...]:
    """Return the machines that are not known to be gone."""
    return tuple(machine for machine in view.machines if machine.state != "gone")


def given_up(view: CampaignView) -> tuple[MachineView, ...]:
    """Return the machines that were given up for lost, of which nobody has said yet that they are gone."""
    lost = silence.left_behind(view)
    return tuple(machine for machine in rented(view) if machine.id in lost)


def left_behind(session: Session, view: CampaignView) -> tuple[MachineView, ...]:
    """Return the machines that stay rented because nothing runs and no `lastro run` lives to let them go."""
    if any(run.status == "running" for run in view.runs) or session.is_driven():
        return ()
    return rented(view)


def told_of(machine: MachineView, view: CampaignView) -> str:
    """Say of a machine that was left behind what it bills, and how it goes."""
    if machine.state == "queued":
        return _(
            "machine {id} waits in the queue, and costs nothing before its turn; `lastro stop --release` "
            "takes it out"
        ).format(id=machine.id)
    text = _("machine {id} stays rented, for {bill}; `lastro stop --release` lets it go").format(
        id=machine.id or machine.tag, bill=bill_of(machine)
    )
    traits = traits_of(machine.provider)
    if view.plan is None or traits is None or not traits.ends_itself:
        return text
    seconds = unattended_seconds(Plan.from_json(view.plan), machine.lease)
    return _("{text}, and it lets itself go {time} after its last run has ended").format(
        text=text, time=show_duration(timedelta(seconds=seconds))
    )
