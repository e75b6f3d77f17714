"""A machine that nobody can ask about any more: gone when a person says so, who sees its provider's page."""

from __future__ import annotations

from collections.abc import Callable

from lastro.clock import Clock
from lastro.errors import LastroError, UsageError
from lastro.flow.ownership import require_owner
from lastro.flow.rented import rented
from lastro.flow.session import Session
from lastro.journal.events import EventType
from lastro.journal.views import MachineView
from lastro.locale import _
from lastro.providers.base import Forgets, Machine, MachineState
from lastro.providers.registry import provider_for


def declare_gone(
    session: Session, machine_id: str, why: str, clock: Clock, tell: Callable[[str], None]
) -> MachineView:
    """Record that a machine is gone, with a person's reason. One that answers is not.

    What was alive on it is told as lost by the next `lastro run`, which goes on elsewhere.

    Raises:
        UsageError: there is no such machine, it answers, or a living `lastro run` drives the campaign.
        Fenced: another home drives it.
    """
    require_owner(session)
    machine = next((one for one in rented(session.view()) if machine_id in (one.id, one.tag)), None)
    if machine is None or machine.id is None:
        raise UsageError(
            _("{id} is no machine that is still rented").format(id=machine_id),
            hint=_("`lastro status` names them"),
        )
    provider = provider_for(machine.provider, session.home, clock)
    said: Machine | None = None
    try:
        said = provider.describe(machine.id)
    except LastroError as error:  # not there, or another one is: that is what the person says
        tell(error.message)
    if said is not None and said.state not in (MachineState.UNKNOWN, MachineState.GONE):
        raise UsageError(
            _("machine {id} answers: it is {state}").format(id=machine.id, state=said.state.value),
            hint=_("`lastro stop --release` lets it go"),
        )
    cause = _("gone, as a person says: {why}").format(why=why)
    with session.owned() as writer:
        if writer is None:
            raise UsageError(
                _("a `lastro run` drives this campaign; it waits for this machine"),
                hint=_("end it with Ctrl-C, then say it again"),
            )
        if isinstance(provider, Forgets):
            provider.forget(machine.id, cause)
        seconds = said.used_seconds if said is not None else machine.seconds
        writer.append(EventType.MACHINE_GONE, machine=machine.id, cause=cause, seconds=seconds)
    return next(one for one in session.view().machines if one.id == machine.id)
