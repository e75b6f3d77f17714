"""A campaign from its file to its report: what `lastro run` does."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from lastro.clock import Clock
from lastro.errors import NotProven, UsageError
from lastro.flow import policy
from lastro.flow.closing import close, closed_before, with_second_copy
from lastro.flow.deciding import REDUCE, REVISE
from lastro.flow.drills import record_drills
from lastro.flow.drive import Driver
from lastro.flow.driven import Drive, Tell
from lastro.flow.earlier_disk import left_elsewhere
from lastro.flow.far_check import Tells, checking
from lastro.flow.freeze import Draft, Durations, Sources, draw_up, freeze, open_session, require_reason
from lastro.flow.halting import HaltRequest, lift, standing_halt
from lastro.flow.live import live_of
from lastro.flow.lock_record import record_lock
from lastro.flow.machine_memory import bad_record
from lastro.flow.moving_on import reopen
from lastro.flow.ownership import own
from lastro.flow.quick import exit_code_of
from lastro.flow.session import Session
from lastro.flow.trust import Accepted, Trusting, preflight_of
from lastro.flow.waiting import Waiting, waiting_for
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.journal.views import CampaignView, RunView
from lastro.locale import _
from lastro.paths import Disk, Home
from lastro.plan.model import Plan
from lastro.plan.possible import require_possible
from lastro.providers.base import Fault, Provider, numbered
from lastro.providers.machine_ids import takes_no_faults
from lastro.providers.registry import provider_for
from lastro.records import dataclass
from lastro.spec.campaign import Campaign
from lastro.spec.load import LoadedCampaign, load_faults
from lastro.view.gather import page_from
from lastro.view.parts import Page

#: Seconds between two looks at a campaign that another `lastro run` drives.
FOLLOW_SECONDS = 0.5


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What a person asked for. None: as the campaign file says. `adapt` makes another campaign of it.

    `echo` shows a line that a job has printed, while it runs; None: nothing is shown of it. `accept_risk`:
    codes of findings for which no machine is refused, and `why`.
    """

    campaign_file: Path
    on: str | None = None
    disk: Path | None = None
    faults: Path | None = None
    only: str | None = None
    close: bool = True
    revise: str | None = None
    take_over: bool = False
    quick: LoadedCampaign | None = None
    adapt: Callable[[Campaign], Campaign] | None = None
    echo: Callable[[str], None] | None = None
    accept_risk: tuple[str, ...] = ()
    why: str | None = None

    @property
    def locking(self) -> bool:
        """Whether machines are held to the lock beside the campaign file: where it is the file's campaign."""
        return self.quick is None and self.adapt is None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How it ended. `halted`: why it stopped before the end; None when it went to the end.

    `waiting`: for which decision it has stopped; None when it waits for none.
    """

    page: Page
    exit_code: int
    halted: str | None = None
    waiting: Waiting | None = None


@dataclass(frozen=True, kw_only=True)
class _Journey:
    """A wish that has been understood."""

    wish: Wish
    draft: Draft
    session: Session
    provider: Provider
    faults: tuple[Fault, ...]
    only: frozenset[str] | None
    resumable: dict[str, int]
    halt: HaltRequest | None
    accepted: Mapping[str, str]
    clock: Clock
    tell: Tell


def run_campaign(wish: Wish, home: Home, clock: Clock, tell: Tell) -> Outcome:
    """Carry a campaign to its report; go on where an earlier call stopped, whatever ended it.

    Raises:
        LastroError: with the exit code of its kind; what was achieved stays, and the next call goes on.
    """
    accepted = Accepted(codes=wish.accept_risk, why=wish.why).reasons()
    draft = _drawn_up(wish, clock)
    provider = provider_for(draft.plan.provider, home, clock)
    faults = _faults(wish, draft, provider)
    only = _only(wish, draft.plan)
    require_possible(draft.plan)
    if draft.loaded.disk_path is None and wish.disk is None:
        place = draft.disk if draft.there is None else f"{provider.name}/{draft.there}"
        tell(_("disk: {path} (persistence unknown)").format(path=place))
    if draft.warning:
        tell(draft.warning)
    before = Disk(draft.disk).campaign(draft.plan.campaign).plan.exists()
    session = open_session(draft, home, clock, provider)
    if not before and session.on_disk.plan.exists():  # it is known now that this was frozen elsewhere
        draft = _drawn_up(wish, clock)
    if (elsewhere := left_elsewhere(session, clock)) is not None:
        tell(elsewhere)
    journey = _Journey(
        wish=wish,
        draft=draft,
        session=session,
        provider=provider,
        faults=faults,
        only=only,
        # As of now: who follows another `lastro run` must not undo a `lastro stop` that comes later.
        resumable={
            run.id: len(run.attempts)
            for run in session.view().runs
            if run.status in ("paused", "superseded") or (wish.quick is not None and run.status == "failed")
        },
        halt=standing_halt(session),
        accepted=accepted,
        clock=clock,
        tell=tell,
    )
    followed = False
    while True:
        with journey.session.owned() as writer:
            if writer is not None:
                return _own(journey, writer)
        if not followed:
            followed = True
            tell(_("another `lastro run` drives this campaign; following it"))
        clock.sleep(FOLLOW_SECONDS)


def _drawn_up(wish: Wish, clock: Clock) -> Draft:
    return draw_up(
        wish.quick or wish.campaign_file,
        clock,
        on=wish.on,
        disk=wish.disk,
        faults=wish.faults,
        adapt=wish.adapt,
    )


def _faults(wish: Wish, draft: Draft, provider: Provider) -> tuple[Fault, ...]:
    if wish.faults is None:
        return ()
    if not provider.traits.takes_faults:
        raise takes_no_faults(provider.name)
    specs = load_faults(wish.faults, [run.name for run in draft.plan.runs])
    return numbered(
        Fault(
            index=fault.index,
            run=fault.run,
            step=fault.step,
            notice_seconds=fault.notice_seconds,
            create=fault.create,
            silent=fault.silent,
            offer=fault.offer,
            never_up=fault.never_up,
            finding=fault.finding,
        )
        for fault in specs
    )


def _only(wish: Wish, plan: Plan) -> frozenset[str] | None:
    if wish.only is None:
        return None
    try:
        return frozenset({plan.run(wish.only).id})
    except KeyError as error:
        names = ", ".join(run.name for run in plan.runs)
        raise UsageError(
            _("{name!r} is not a run of this campaign").format(name=wish.only),
            hint=_("its runs are: {names}").format(names=names),
        ) from error


def _own(journey: _Journey, writer: StreamWriter) -> Outcome:
    wish, session, tell = journey.wish, journey.session, journey.tell
    before = session.view()
    if before.closed is None:
        own(session, writer, journey.clock, take_over=wish.take_over)
    _same_provider(before, journey.provider)
    plan = _frozen(journey, writer, before)
    view = session.view()
    reopen(view, writer, wish.revise)
    if view.closed is not None:
        closing = with_second_copy(session, writer, closed_before(session, view.closed, plan, tell), tell)
        _all_fired(journey, plan)
        return Outcome(page=closing.page, exit_code=closing.exit_code)
    if view.open_decision is None:
        lift(session, writer, journey.halt)
    record_drills(session, writer, plan)
    if wish.locking:
        record_lock(session, writer, journey.draft.loaded)
    tell(_("plan {digest}, frozen {at}").format(digest=str(view.plan_digest)[:12], at=view.frozen_at))
    if wish.quick is not None and all(run.status == "completed" for run in _runs(view, plan)):
        tell(_("this command has completed before: here is its result; changed code would be a new run"))
    ended = Driver(_drive(journey, writer, plan)).run()
    if wish.locking:
        record_lock(session, writer, journey.draft.loaded)
    if isinstance(ended, policy.Halt):
        waiting = waiting_for(session, plan, ended.why, journey.draft, journey.clock)
        page = _page_now(session)
        return Outcome(page=page, exit_code=NotProven.exit_code, halted=ended.why, waiting=waiting)
    if not wish.close or journey.only is not None:
        codes = [exit_code_of(run) for run in _answered_for(journey, session.view(), plan)]
        outcome = Outcome(page=_page_now(session), exit_code=max(codes, default=0))
    else:
        closing = with_second_copy(session, writer, close(session, writer, plan, tell), tell)
        outcome = Outcome(page=closing.page, exit_code=closing.exit_code)
    _all_fired(journey, plan)
    return outcome


def _frozen(journey: _Journey, writer: StreamWriter, view: CampaignView) -> Plan:
    """Return the plan that holds from here on: frozen, or revised by what a person has decided.

    While nobody has decided nothing changes: neither code nor campaign file is looked at. What is decided is
    followed once its plan is frozen, so a kill in between begins it again.

    Raises:
        UsageError: the campaign file says something else than the frozen plan, and nobody said why.
    """
    wish, session, draft, decision = journey.wish, journey.session, journey.draft, view.open_decision
    if decision is None or view.plan is None or view.closed is not None:
        return freeze(draft, session, writer, wish.revise)
    revising = decision.choice == REVISE and decision.revised_at is None
    if decision.choice is None or (revising and wish.revise is None):
        return Plan.from_json(view.plan)
    if decision.choice == REDUCE:
        if decision.revised_at is None:  # else it is what a kill has left half done
            require_reason(draft, view.plan, wish.revise)
        plan = freeze(_reduced(journey), session, writer, wish.revise or decision.why)
    else:
        plan = freeze(draft, session, writer, wish.revise)
    now = session.view().open_decision
    if now is None or now.choice != REVISE or now.revised_at is not None:
        writer.append(EventType.DECISION_FOLLOWED, stage=decision.stage, choice=decision.choice)
    return plan


def _reduced(journey: _Journey) -> Draft:
    """Return the reduced protocol, for durations as they are known now: what a person has decided by."""
    wish = journey.wish
    return draw_up(
        wish.quick or wish.campaign_file,
        journey.clock,
        on=wish.on,
        disk=wish.disk,
        faults=wish.faults,
        adapt=wish.adapt,
        reduced=True,
        sources=Sources(durations=Durations.MEASURED),
    )


def _answered_for(journey: _Journey, view: CampaignView, plan: Plan) -> list[RunView]:
    """Return the runs that a command without a closing answers for: the one named, else the required."""
    if journey.only is not None:
        return [view.run(run) for run in journey.only]
    return [run for run in _runs(view, plan) if run.priority == "required"]


def _runs(view: CampaignView, plan: Plan) -> list[RunView]:
    """Return the plan's own runs, without those that were set aside."""
    return [view.run(run.id) for run in plan.runs]


def _same_provider(view: CampaignView, provider: Provider) -> None:
    """Refuse to go elsewhere while a machine is rented: nobody here could look at it, or let it go."""
    here = (provider.name, *provider.places)
    others = [one for one in view.machines if one.state != "gone" and one.provider not in here]
    if others:
        raise UsageError(
            _("machine {id} of '{other}' is still rented, so this campaign cannot go on at '{name}'").format(
                id=others[0].id or others[0].tag, other=others[0].provider, name=provider.name
            ),
            hint=_("go on with `lastro run --on {other}`; `lastro stop` then lets the machine go").format(
                other=others[0].provider
            ),
        )


def _drive(journey: _Journey, writer: StreamWriter, plan: Plan) -> Drive:
    trusting = Trusting(
        draft=journey.draft,
        home=journey.session.home,
        clock=journey.clock,
        tell=journey.tell,
        locking=journey.wish.locking,
        accepted=journey.accepted,
    )
    return Drive(
        session=journey.session,
        writer=writer,
        provider=journey.provider,
        plan=plan,
        clock=journey.clock,
        preflight=checking(journey.provider, trusting)
        if isinstance(journey.provider, Tells)
        else preflight_of(trusting),
        tell=journey.tell,
        faults=journey.faults,
        only=journey.only,
        resumable=journey.resumable,
        echo=journey.wish.echo,
        recall=lambda node: bad_record(journey.session.home, journey.clock, node),
    )


def _all_fired(journey: _Journey, plan: Plan) -> None:
    """A rehearsal in which a fault never happened has shown nothing of it."""
    if not journey.faults:
        return
    fired = journey.provider.fired(journey.session.disk.root, plan.campaign)
    missed = [fault for fault in journey.faults if fault.key not in fired]
    if missed:
        names = ", ".join(map(_scripted, missed))
        raise NotProven(
            _("scripted faults never fired: {names}").format(names=names),
            hint=_("the runs ended before these steps; the campaign itself ended as `lastro status` shows"),
        )


def _scripted(fault: Fault) -> str:
    if fault.create is None:
        return _("{run} at step {step}").format(run=fault.run, step=fault.step)
    told = _("machine {number} not to be had").format(number=fault.create)
    if fault.never_up or fault.finding is not None:
        told = _("something amiss with machine {number}").format(number=fault.create)
    return told if fault.offer is None else _("{what} (of {offer})").format(what=told, offer=fault.offer)


def _page_now(session: Session) -> Page:
    view = session.view()
    return page_from(session.on_disk, view, live=live_of(session, view, time.monotonic()))
