"""Letting the machines of a campaign go when nothing of it is to be run any more, or not now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from lastro.clock import Clock
from lastro.errors import Fenced, ProviderError
from lastro.flow import silence
from lastro.flow.drive import Drive, Driver, Tell, note_gone
from lastro.flow.guarding import Guarding, before_deletion
from lastro.flow.money import bill_of
from lastro.flow.orders import unattended_seconds
from lastro.flow.ownership import out_of_reach
from lastro.flow.session import Session
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.journal.views import CampaignView, MachineView
from lastro.locale import _
from lastro.plan.build import Plan
from lastro.providers.registry import provider_for, traits_of
from lastro.units import show_duration

#: How long a living `lastro run` may take to let its machines go after everything on them has ended.
_PATIENCE_SECONDS = 120.0
_LOOK_SECONDS = 0.2


@dataclass(frozen=True, kw_only=True)
class Released:
    """What became of the machines. `kept`: still rented, because runs are alive on them."""

    gone: tuple[MachineView, ...]
    kept: tuple[MachineView, ...]


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


def let_go(session: Session, writer: StreamWriter, plan: Plan, clock: Clock, tell: Tell) -> None:
    """Let every machine go on which nothing is alive: intent, deletion and end are in home's journal."""
    machines = rented(session.view())
    if not machines:
        return
    drive = Drive(
        session=session,
        writer=writer,
        provider=provider_for(machines[0].provider, session.home, clock),
        plan=plan,
        clock=clock,
        preflight=lambda _machine: {},  # never asked: no machine is taken for anything
        tell=tell,
        only=frozenset(),
        deciding=False,
        guarding=Guarding.REFUSE,
    )
    Driver(drive).run()


def release(session: Session, clock: Clock, tell: Tell) -> Released:
    """Let the machines go, whether a `lastro run` lives or not; while runs are alive on them they stay.

    A living `lastro run` lets them go by itself once everything is paused, so it is only waited for. Where
    this home cannot drive any more, it still lets go what it has rented: nobody else can.

    Raises:
        GuardRefused: something of value lies on a machine only.
        ProviderError: the provider could not, or the living command did not.
    """
    if (barred := out_of_reach(session)) is not None:
        tell(barred.message)
        return _release_own(session, clock, tell, disk_is_there=isinstance(barred, Fenced))
    before = rented(session.view())
    deadline = clock.monotonic() + _PATIENCE_SECONDS
    while machines := rented(view := session.view()):
        if any(run.status == "running" for run in view.runs):
            return Released(gone=_gone(before, view), kept=machines)
        with session.owned() as writer:
            if writer is not None and view.plan is not None:
                session.ingest()
                let_go(session, writer, Plan.from_json(view.plan), clock, tell)
                return Released(gone=_gone(before, session.view()), kept=())
        if clock.monotonic() > deadline:
            raise ProviderError(
                _("machine {id} is still rented").format(id=machines[0].id or machines[0].tag),
                hint=_("end the `lastro run` that drives this campaign, then `lastro stop --release` again"),
            )
        clock.sleep(_LOOK_SECONDS)
    return Released(gone=_gone(before, session.view()), kept=())


def _release_own(session: Session, clock: Clock, tell: Tell, *, disk_is_there: bool) -> Released:
    """Let go what this home itself has rented.

    Without the disk also where a run may be alive: it could save nothing.
    """
    with session.owned() as writer:
        if writer is None:
            raise ProviderError(
                _("a `lastro run` of this home has not ended yet"),
                hint=_("end it, then `lastro stop --release` again"),
            )
        view = session.view()
        working = {run.machine for run in view.runs if run.status == "running" and disk_is_there}
        mine = {
            event.facts["machine"]
            for event in session.events()[session.stream_name]
            if event.type is EventType.MACHINE_CREATED
        }
        for machine in rented(view):
            if machine.id is None or machine.id not in mine or machine.id in working:
                continue
            provider = provider_for(machine.provider, session.home, clock)
            before_deletion(session, writer, machine.id, Guarding.REFUSE, clock, tell)
            provider.delete(machine.id)
            note_gone(writer, provider, machine.id, _("released"), clock)
            tell(_("machine {id} is gone: {why}").format(id=machine.id, why=_("released")))
        if disk_is_there:
            session.mirror()
    after = session.view()
    return Released(gone=_gone(rented(view), after), kept=rented(after))


def _gone(before: Sequence[MachineView], view: CampaignView) -> tuple[MachineView, ...]:
    tags = {machine.tag for machine in before}
    return tuple(machine for machine in view.machines if machine.tag in tags and machine.state == "gone")
