"""Takes machines only to see how long that takes, and lets each go at once: so many, for so much at most."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from lastro import __version__, atomic
from lastro.billing import Lease, cost
from lastro.clock import Clock, iso
from lastro.errors import CapacityRefused, PlanError, ProviderError, UsageError
from lastro.flow.alone import alone
from lastro.flow.freeze import draw_up
from lastro.flow.machine_events import note_created
from lastro.journal.events import EventType
from lastro.journal.projections import machine_views
from lastro.journal.provisioning import Provision, provisions
from lastro.journal.streams import StreamWriter, believed, read_stream
from lastro.locale import _
from lastro.paths import Home
from lastro.plan.model import Plan
from lastro.providers.base import Machine, MachineRequest, MachineState, Provider
from lastro.providers.registry import provider_for
from lastro.records import dataclass
from lastro.units import Money

#: A machine that is not up by then is given up and let go.
BOOT_SECONDS = 600.0
#: What deleting may take, which is paid as well. Assumed.
DELETE_SECONDS = 60.0
_LOOK_EVERY = 0.1
_CAMPAIGN = "probe"


@dataclass(frozen=True, kw_only=True)
class ProbeWish:
    """How many machines, for how much at most, and how many seconds from the start of one to the next."""

    campaign_file: Path
    count: int
    max_spend: Money
    every_seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Probed:
    """What came of it. `spent` None: nothing is paid for these machines. `why`: it ended before `count`."""

    machines: tuple[Provision, ...]
    spent: Money | None
    max_spend: Money
    why: str | None

    def as_json(self) -> dict[str, Any]:
        return {
            "machines": [one.as_json() for one in self.machines],
            "spent": self.spent.as_json() if self.spent is not None else None,
            "max_spend": self.max_spend.as_json(),
            "why": self.why,
        }


def may_begin(lease: Lease | None, spent: Money, cap: Money) -> str | None:
    """Say why no further machine may be taken; None: it may, whatever becomes of it. Pure.

    The most that one can cost counts: as long as it may take to boot and to be let go.
    """
    if lease is None:
        return None
    most = cost(lease, BOOT_SECONDS + DELETE_SECONDS)
    if most is None:
        return _("the price of {offer} is unknown, so no limit can be kept").format(offer=lease.offer)
    if most.currency != cap.currency:
        return _("{price} and a limit of {cap} cannot be compared without a dated rate").format(
            price=most, cap=cap
        )
    if (spent + most).amount > cap.amount:
        return _("the next one could cost {most}, and {spent} of {cap} are spent").format(
            most=most, spent=spent, cap=cap
        )
    return None


def probe_machines(wish: ProbeWish, home: Home, clock: Clock, tell: Callable[[str], None]) -> Probed:
    """Take machines one after the other; each is recorded at once, so a kill loses none.

    Raises:
        PlanError: not even one can be taken within the limit.
        UsageError: this provider makes no machines.
    """
    plan = draw_up(wish.campaign_file, clock).plan
    provider = provider_for(plan.provider, home, clock)
    if not provider.traits.creates:
        raise UsageError(
            _("'{name}' makes no machines, so none can be tried").format(name=provider.name),
            hint=_("name a provider that does, such as `provider: local`, in a copy of the campaign file"),
        )
    spent = Money(wish.max_spend.amount * 0, wish.max_spend.currency)
    first = may_begin(plan.lease, spent, wish.max_spend)
    if first is not None:
        raise PlanError(
            first,
            hint=_(
                "raise --max-spend, say it in the currency of the offer, or write the price into its file"
            ),
        )
    with alone(home.probes.parent, _("another `lastro preflight --probe` is under way")):
        atomic.make_folder(home.probes.parent)
        opening = {"campaign": _CAMPAIGN, "lastro": __version__, "host": ""}
        writer = StreamWriter(home.probes, clock, opening)
        try:
            return _Probe(wish, plan, provider, writer, home, clock, tell).run(spent)
        finally:
            writer.close()


class _Probe:
    """One command's machines."""

    def __init__(
        self,
        wish: ProbeWish,
        plan: Plan,
        provider: Provider,
        writer: StreamWriter,
        home: Home,
        clock: Clock,
        tell: Callable[[str], None],
    ) -> None:
        self._wish, self._plan, self._provider = wish, plan, provider
        self._writer, self._home, self._clock, self._tell = writer, home, clock, tell

    def run(self, spent: Money) -> Probed:
        self._let_go_of_older()
        tags: list[str] = []
        why = None
        while len(tags) < self._wish.count and why is None:
            began = self._clock.monotonic()
            tag = f"probe-{len(tags) + 1}-{secrets.token_hex(4)}"
            tags.append(tag)
            paid = self._one(tag)
            spent = spent + paid if paid is not None else spent
            if len(tags) < self._wish.count:
                why = may_begin(self._plan.lease, spent, self._wish.max_spend)
                wait = self._wish.every_seconds - (self._clock.monotonic() - began)
                if why is None and wait > 0:
                    due = iso(self._clock.now() + timedelta(seconds=wait))
                    self._tell(
                        _("the next one is taken at {at}; Ctrl-C leaves nothing behind").format(at=due)
                    )
                    self._clock.sleep(wait)
        events = believed(read_stream(self._home.probes)).events
        found = {one.tag: one for one in provisions(_CAMPAIGN, {self._home.probes.stem: events})}
        return Probed(
            machines=tuple(found[tag] for tag in tags),
            spent=spent if self._plan.lease is not None else None,
            max_spend=self._wish.max_spend,
            why=why,
        )

    def _one(self, tag: str) -> Money | None:
        """Take a machine, see it up, let it go. Returns what it cost; None: nothing is paid for it."""
        lease = self._plan.lease
        self._writer.append(
            EventType.MACHINE_INTENDED,
            tag=tag,
            provider=self._provider.name,
            lease=lease.as_json() if lease else None,
            why=_("to see how long it takes"),
        )
        try:
            machine = self._provider.create(self._request(tag))
        except CapacityRefused as error:
            self._writer.append(
                EventType.MACHINE_REFUSED, tag=tag, why=error.message, tries=1, wait_seconds=0
            )
            self._tell(_("{tag}: {why}").format(tag=tag, why=error.message))
            return None
        note_created(self._writer, tag, machine)
        try:
            self._see_it_up(machine)
        finally:
            used = self._end(machine.id)
        return cost(lease, used or 0.0) if lease is not None else None

    def _request(self, tag: str) -> MachineRequest:
        return MachineRequest(
            tag=tag,
            campaign=_CAMPAIGN,
            disk=atomic.make_folder(self._home.probes.parent / "disk"),
            lease=self._plan.lease,
            boot_seconds=self._plan.boot_seconds,
            workdir=self._home.probes.parent,
            unattended_seconds=BOOT_SECONDS,
        )

    def _see_it_up(self, machine: Machine) -> None:
        deadline = self._clock.monotonic() + BOOT_SECONDS
        while self._clock.monotonic() < deadline:
            now = self._provider.describe(machine.id)
            if now.state is MachineState.RUNNING:
                ready = now.ready_at or self._clock.now()
                seconds = (ready - now.created_at).total_seconds()
                self._writer.append(EventType.MACHINE_READY, machine=machine.id, seconds=seconds)
                self._tell(_("{id} was up after {seconds:.1f} s").format(id=machine.id, seconds=seconds))
                return
            if now.state is MachineState.GONE:
                self._tell(_("{id} is gone: {why}").format(id=machine.id, why=now.cause))
                return
            self._clock.sleep(_LOOK_EVERY)
        self._tell(_("{id} was not up in time and is let go").format(id=machine.id))

    def _end(self, machine_id: str) -> float | None:
        self._provider.delete(machine_id)
        machine = self._provider.describe(machine_id)
        self._writer.append(
            EventType.MACHINE_GONE, machine=machine.id, cause=machine.cause, seconds=machine.used_seconds
        )
        return machine.used_seconds

    def _let_go_of_older(self) -> None:
        """End what a probe that was killed has left: a machine that nobody uses is paid all the same."""
        events = believed(read_stream(self._home.probes)).events
        made = {machine.tag: machine for machine in self._provider.machines()}
        for view in machine_views(events, self._clock.stamp()):
            if view.state == "gone" or view.provider != self._provider.name:
                continue
            machine = made.get(view.tag)
            if machine is None:
                why = _("an earlier probe ended before anything was made")
                self._writer.append(EventType.MACHINE_REFUSED, tag=view.tag, why=why, tries=0, wait_seconds=0)
                continue
            if view.id is None:
                note_created(self._writer, view.tag, machine)
            try:
                self._end(machine.id)
            except ProviderError as error:
                self._tell(_("{id} may still be paid: {why}").format(id=machine.id, why=error.message))
            else:
                self._tell(_("{id} of an earlier probe was let go").format(id=machine.id))
