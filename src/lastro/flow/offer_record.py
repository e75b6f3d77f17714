"""What each offer of a campaign has shown, from its journal, and so where it stands on the ladder. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from lastro.billing import LeaseKind, billed_seconds
from lastro.clock import from_iso
from lastro.flow.next_offer import BOOT, QUEUE, Shown, Situation, SpotAccount
from lastro.journal.shares import kept_seconds
from lastro.journal.views import AttemptView, CampaignView, MachineView
from lastro.plan.model import Plan
from lastro.plan.rung import Rung
from lastro.providers.base import Traits
from lastro.rules import End
from lastro.units import Money

#: So many offers of one region have to fail in a row before the region is called down.
_OFFERS_OF_A_REGION = 2
_TAKEN_AWAY = (End.LOST.value, End.NOTICE.value)
_PREEMPTED = "preempted"


class _Losses:
    """Which machines were taken away, and what has worked on each."""

    def __init__(self, view: CampaignView, going: Collection[str]) -> None:
        self._going = going
        self._lives: dict[str, list[tuple[AttemptView | None, AttemptView]]] = {}
        for run in view.runs:
            for before, life in zip([None, *run.attempts], run.attempts, strict=False):
                self._lives.setdefault(life.machine, []).append((before, life))

    def lives_on(self, machine: MachineView) -> Sequence[tuple[AttemptView | None, AttemptView]]:
        """Return the attempts on a machine, each with the one of its run before it."""
        return self._lives.get(machine.id, ()) if machine.id is not None else ()

    def is_lost(self, machine: MachineView) -> bool:
        """Say whether a machine was taken away; one that was let go was not.

        One that has announced its end, or that its runs have left for that, is lost before it is gone: what
        is asked for meanwhile is asked for in the knowledge of it.
        """
        here = [life for _before, life in self.lives_on(machine)]
        taken = any(life.end in _TAKEN_AWAY for life in here)
        if machine.state != "gone":
            return machine.id in self._going or (taken and not any(life.alive for life in here))
        return taken or (machine.id is not None and (machine.cause or "").startswith(_PREEMPTED))


def rungs_of(plan: Plan, traits: Traits) -> tuple[Rung, ...]:
    """Return the offers that can be asked, in their order; the only one where there is no ladder.

    Args:
        plan: the frozen one.
        traits: of its provider, whose machines go by the offer that is asked for, or by the place of it: the
            first offer of each place is asked then. Else all are the first offer's.
    """
    if plan.ladder:
        if traits.takes_offers:
            return plan.ladder
        if not traits.takes_places:
            return plan.ladder[:1]
        places = [rung.place for rung in plan.ladder]
        return tuple(rung for number, rung in enumerate(plan.ladder) if rung.place not in places[:number])
    return (
        Rung(
            offer=plan.lease.offer if plan.lease is not None else plan.provider,
            lease=plan.lease,
            why=plan.lease_why,
            cost=None,
            slack_hours=plan.slack_hours,
            boot_seconds=plan.boot_seconds,
            place=plan.place,
        ),
    )


def situation_of(
    plan: Plan,
    view: CampaignView,
    rungs: Sequence[Rung],
    waiting_per_hour: Money | None = None,
    going: Collection[str] = (),
) -> Situation:
    """Return where a campaign stands on its ladder.

    Args:
        plan: the frozen one.
        view: what the journal says.
        rungs: one at least, see `rungs_of`.
        waiting_per_hour: what waiting costs; None: unknown.
        going: machines of which their provider says that they are about to be taken away.
    """
    lost = _Losses(view, going)
    asked = view.machines[view.offers.since :]
    left = {move.offer: move.what for move in view.offers.left}
    current = _current(view, rungs, left)
    return Situation(
        rungs=tuple(rungs),
        current=current,
        left=left,
        shown=_shown(view, [one for one in asked if _offer(one) in (current, None)], lost),
        # Where there is no other offer to try, one machine that is not well is enough to call a person.
        rules=plan.move_on if len(rungs) > 1 else replace(plan.move_on, boxes=1),
        down=_down(lost, asked, rungs),
        waiting_per_hour=waiting_per_hour,
    )


def _current(view: CampaignView, rungs: Sequence[Rung], left: Iterable[str]) -> str:
    """Return the offer that the last move led to; the first that was not left, where the plan lacks that."""
    names = [rung.offer for rung in rungs if rung.offer not in left]
    led_to = [move.to for move in view.offers.left]
    if led_to and led_to[-1] in names:
        return led_to[-1]
    return names[0] if names else rungs[-1].offer


def _offer(machine: MachineView) -> str | None:
    return machine.lease.offer if machine.lease is not None else None


def _shown(view: CampaignView, machines: Sequence[MachineView], lost: _Losses) -> Shown:
    """Return what machines of one offer have shown, in the order in which they were asked for."""
    refused: list[MachineView] = []
    for machine in reversed(machines):
        if not _was_refused(machine):
            break
        refused.append(machine)
    rejected = [one.rejected for one in _since_work(view, machines) if one.rejected is not None]
    boots = [one for one in rejected if one.what == BOOT]
    by_offer = [one for one in rejected if one.by_offer]
    queues = [one for one in rejected if one.what == QUEUE]
    boxes = [one for one in rejected if one.what not in (BOOT, QUEUE) and not one.by_offer]
    return Shown(
        refusals=len(refused),
        waited_seconds=_since(view, refused[-1]) if refused else 0.0,
        boots=len(boots),
        boot_why=boots[-1].why if boots else "",
        queues=len(queues),
        queue_why=queues[-1].why if queues else "",
        by_offer=by_offer[-1].why if by_offer else None,
        boxes=len(boxes),
        box_why=boxes[-1].why if boxes else "",
        spot=_account(machines, lost),
    )


def _since_work(view: CampaignView, machines: Sequence[MachineView]) -> Sequence[MachineView]:
    """Return the machines that were asked for after the last one on which a run has worked."""
    worked = {life.machine for run in view.runs for life in run.attempts}
    last = max((number for number, one in enumerate(machines, 1) if one.id in worked), default=0)
    return machines[last:]


def _was_refused(machine: MachineView) -> bool:
    return machine.id is None and machine.state == "gone"


def _since(view: CampaignView, machine: MachineView) -> float:
    """Return the seconds since a machine was asked for; none where the clock was set back meanwhile."""
    return max(0.0, (view.at - from_iso(machine.intended_at)).total_seconds())


# --- spot ---------------------------------------------------------------------------------------------


def _account(machines: Sequence[MachineView], losses: _Losses) -> SpotAccount:
    """Return what spot machines have brought; of those that still work, at least so much."""
    spot = [
        one
        for one in machines
        if one.id is not None and one.lease is not None and one.lease.kind is LeaseKind.SPOT
    ]
    if not spot:
        return SpotAccount()
    lost = [one for one in spot if losses.is_lost(one)]
    kept = [kept_seconds(life, before) for one in spot for before, life in losses.lives_on(one)]
    paid = [
        float(billed_seconds(one.lease, one.seconds)) if one.lease and one.seconds is not None else None
        for one in spot
    ]
    return SpotAccount(losses=len(lost), kept_hours=_hours(kept), paid_hours=_hours(paid))


def _hours(seconds: Sequence[float | None]) -> float | None:
    known = [value for value in seconds if value is not None]
    return sum(known) / 3600 if len(known) == len(seconds) else None


# --- regions ------------------------------------------------------------------------------------------


def _down(losses: _Losses, asked: Sequence[MachineView], rungs: Sequence[Rung]) -> frozenset[str]:
    """Return the region in which the last machines were all refused or lost, of two offers at least."""
    region_of = {rung.offer: rung.region for rung in rungs}
    region: str | None = None
    offers: set[str | None] = set()
    for machine in reversed(asked):
        offer = _offer(machine)
        here = region_of.get(offer or "")
        failed = _was_refused(machine) or losses.is_lost(machine)
        if not failed or here is None or region not in (None, here):
            break
        region = here
        offers.add(offer)
    return frozenset({region}) if region is not None and len(offers) >= _OFFERS_OF_A_REGION else frozenset()
