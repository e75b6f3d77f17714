"""Letting the machines of a campaign go when nothing of it is to be run any more, or not now."""

from __future__ import annotations

from collections.abc import Sequence

from lastro.clock import Clock
from lastro.errors import Fenced, ProviderError
from lastro.flow.drive import Driver
from lastro.flow.driven import Drive, Tell
from lastro.flow.guarding import Guarding, before_deletion
from lastro.flow.machine_events import note_gone
from lastro.flow.ownership import out_of_reach
from lastro.flow.rented import rented
from lastro.flow.session import Session
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.journal.views import CampaignView, MachineView
from lastro.locale import _
from lastro.plan.model import Plan
from lastro.providers.registry import provider_for
from lastro.records import dataclass
from lastro.spec.addresses import SEPARATOR

#: How long a living `lastro run` may take to let its machines go after everything on them has ended.
_PATIENCE_SECONDS = 120.0
_LOOK_SECONDS = 0.2


@dataclass(frozen=True, kw_only=True)
class Released:
    """What became of the machines. `kept`: still rented, because runs are alive on them."""

    gone: tuple[MachineView, ...]
    kept: tuple[MachineView, ...]


def let_go(session: Session, writer: StreamWriter, plan: Plan, clock: Clock, tell: Tell) -> None:
    """Let every machine go on which nothing is alive: intent, deletion and end are in home's journal.

    Raises ProviderError where nobody answers there: only a person can say then that it is gone.
    """
    machines = rented(session.view())
    if not machines:
        return
    if session.link is not None and session.link.trouble is not None:
        raise ProviderError(
            session.link.trouble,
            hint=_("a machine that is gone on its provider's page: `lastro stop --gone MACHINE --why TEXT`"),
        )
    drive = Drive(
        session=session,
        writer=writer,
        provider=provider_for(_provider_of(session, machines[0]), session.home, clock),
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
            note_gone(writer, provider, machine.id, _("released"))
            tell(_("machine {id} is gone: {why}").format(id=machine.id, why=_("released")))
        if disk_is_there:
            session.mirror()
    after = session.view()
    return Released(gone=_gone(rented(view), after), kept=rented(after))


def _provider_of(session: Session, machine: MachineView) -> str:
    """Return the provider of a machine: that of the campaign where it is one of several places of it."""
    campaign = session.facts.provider
    return campaign if machine.provider in campaign.split(SEPARATOR) else machine.provider


def _gone(before: Sequence[MachineView], view: CampaignView) -> tuple[MachineView, ...]:
    tags = {machine.tag for machine in before}
    return tuple(machine for machine in view.machines if machine.tag in tags and machine.state == "gone")
