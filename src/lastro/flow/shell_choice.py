"""Which machine a person means, and what is told when a terminal is opened on it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from lastro.errors import LastroError, ProviderError, UsageError
from lastro.flow.money import bill_of
from lastro.flow.rented import rented
from lastro.journal.views import CampaignView, MachineView, RunView
from lastro.locale import _
from lastro.rules import Limits
from lastro.rules.shell import LEAVING_SECONDS, name_of
from lastro.units import show_duration

#: So much of an id is enough to name a machine.
_ENOUGH = 4


def choose_machine(view: CampaignView, name: str | None) -> MachineView:
    """Return the machine of that id; without a name the only one, else the one on which a run is alive.

    Raises:
        ProviderError: it is gone, or has not been confirmed yet.
        UsageError: there is none, or it is not clear which.
    """
    if name is not None:
        return _named(view, name)
    there = [machine for machine in rented(view) if machine.id is not None]
    if not there:
        raise UsageError(
            _("this campaign has no machine now"), hint=_("`lastro run` takes one; then this opens it")
        )
    at_work = {life.machine for run in view.runs for life in run.attempts if life.alive}
    for some in (there, [machine for machine in there if machine.id in at_work]):
        if len(some) == 1:
            return some[0]
    raise UsageError(
        _("this campaign has {count} machines").format(count=len(there)),
        hint=_("name one of them: {ids}").format(ids=", ".join(str(machine.id) for machine in there)),
    )


def _named(view: CampaignView, name: str) -> MachineView:
    known = [machine for machine in view.machines if machine.id is not None]
    exact = [machine for machine in known if machine.id == name]
    found = exact or [
        machine for machine in known if len(name) >= _ENOUGH and str(machine.id).startswith(name)
    ]
    there = [machine for machine in found if machine.state != "gone"]
    if len(there) == 1:
        return there[0]
    if found and not there:
        raise _gone(found[-1])
    ids = ", ".join(str(machine.id) for machine in rented(view) if machine.id is not None) or _("none")
    raise UsageError(
        _("{name!r} is not a machine of this campaign").format(name=name)
        if not found
        else _("{name!r} may be several machines").format(name=name),
        hint=_("its machines are: {ids}").format(ids=ids),
    )


def _gone(machine: MachineView) -> LastroError:
    return ProviderError(
        _("machine {id} is gone: {why}").format(id=machine.id, why=machine.cause or _("it is not known why")),
        hint=_("what of value lay on it only was copied to the disk; `lastro run` takes another machine"),
    )


def run_on(view: CampaignView, machine_id: str) -> RunView | None:
    """Return the run that is alive on a machine, else the one that began there last; None: none did."""
    runs = [run for run in view.runs if run.attempts and run.attempts[-1].machine == machine_id]
    return max(runs, key=lambda run: (run.attempts[-1].alive, run.attempts[-1].started_at), default=None)


def entry(machine: MachineView, limits: Limits, now: datetime) -> Iterator[str]:
    """Give what a person should know who opens a terminal: what it costs, and when it has to be left."""
    yield _("{id}: {bill}; time in here is time of the machine, which stays while this is open").format(
        id=machine.id, bill=bill_of(machine)
    )
    for at, kind in limits.ends:
        yield _("{limit} in {time}").format(limit=name_of(kind), time=show_duration(at - now))
    if limits.ends:
        yield _("this shell is ended {time} before the first of these").format(
            time=show_duration(timedelta(seconds=LEAVING_SECONDS))
        )
    else:
        yield _("no lease, budget or window ends it")
