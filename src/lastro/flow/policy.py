"""What home does next: a pure function of what the journal and the provider say, with its reason."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field

from lastro.billing import LeaseKind
from lastro.flow.deciding import Standing
from lastro.flow.halting import HaltRequest
from lastro.flow.lateness import Late
from lastro.flow.limits import bars_start, left_for_lease
from lastro.flow.money import stormy, too_dear, weather_cap
from lastro.flow.moving_on import MAX_REFUSALS, Choice
from lastro.flow.next_offer import Move, Nothing
from lastro.flow.none_left import AskAgain, End, Question
from lastro.flow.placing import next_place
from lastro.flow.silence import left_behind, too_silent
from lastro.journal.views import CampaignView, MachineView, RunView
from lastro.locale import _
from lastro.plan.points import DecisionPoint
from lastro.providers.base import Machine, MachineState
from lastro.records import dataclass
from lastro.rules import LimitKind, Limits
from lastro.units import Money

_OVER = ("completed", "stopped", "failed", "superseded")
_USABLE = (MachineState.BOOTING, MachineState.RUNNING)
#: Starts of a supervisor in a row that brought nothing before its run is given up.
MAX_SILENT_STARTS = 3


@dataclass(frozen=True, kw_only=True)
class Situation:
    """What is known at one moment.

    machines: what the provider says, by machine id. supervised: runs whose supervisor lives.
    wanted: ids of the runs to carry out, in order. resumable: paused or failed runs that are to go on.
    silent_starts: by run, how often a supervisor was started in a row and brought nothing to the journal,
        or ended in an error.
    checked: machines that passed preflight.
    retiring: runs that were set aside and have been asked to end.
    silences: seconds since the last sign of life of each living supervisor. max_silence: more is a loss.
    others: machines that another home has rented, and that cannot always be asked from here.
    leaving: machines that have announced their end to a supervisor of theirs a short while ago.
    limits: what each rented machine may not exceed. fresh: what one that is taken now could not.
    halt: a person's request that nothing more is started.
    code_changed: why runs cannot begin again in the user's own folder: other code lies there; None, too,
        while no start has failed.
    standing: how far the plan's decision points are.
    away: the computer that everything runs on does not answer now, and is expected back.
    refusals: how often in a row no machine was to be had; retry_in: seconds until it is worth asking again.
    shells: machines on which somebody has a terminal open.
    overdue: machines that have not come up, or had their turn, by their deadline.
    choice: which offer of the plan is asked, or why none is.
    places: of a provider of several computers, in the order in which they are taken; shut: those that had no
        machine to give a short while ago; barred: those whose machine is not used for what it is.
    bound: runs that can go on at one place only, with that place.
    """

    view: CampaignView
    machines: Mapping[str, Machine]
    supervised: frozenset[str]
    wanted: tuple[str, ...]
    max_machines: int
    resumable: frozenset[str] = frozenset()
    budget: Money | None = None
    silent_starts: Mapping[str, int] = field(default_factory=dict)
    checked: frozenset[str] = frozenset()
    retiring: frozenset[str] = frozenset()
    silences: Mapping[str, float] = field(default_factory=dict)
    max_silence: float = math.inf
    others: frozenset[str] = frozenset()
    leaving: frozenset[str] = frozenset()
    limits: Mapping[str, Limits] = field(default_factory=dict)
    fresh: Limits = field(default_factory=Limits)
    max_weather: Money | None = None
    halt: HaltRequest | None = None
    code_changed: str | None = None
    standing: Standing = field(default_factory=Standing)
    away: bool = False
    refusals: int = 0
    retry_in: float = 0.0
    shells: frozenset[str] = frozenset()
    overdue: Mapping[str, Late] = field(default_factory=dict)
    choice: Choice = field(default_factory=Choice)
    places: tuple[str, ...] = ()
    shut: frozenset[str] = frozenset()
    barred: frozenset[str] = frozenset()
    bound: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Action:
    """The next thing to do, and why."""

    why: str


@dataclass(frozen=True, kw_only=True)
class Recover(Action):
    """Ask again for a machine whose creation was intended and never confirmed."""

    tag: str


@dataclass(frozen=True, kw_only=True)
class NoteReady(Action):
    """The provider says that it runs: record that it has booted."""

    machine: str


@dataclass(frozen=True, kw_only=True)
class NoteGone(Action):
    """The provider says that it is gone: record it, with the time it was used."""

    machine: str


@dataclass(frozen=True, kw_only=True)
class NoteLost(Action):
    """Record the end of an attempt whose machine went away without a word."""

    run: str
    attempt: int


@dataclass(frozen=True, kw_only=True)
class Abandon(Action):
    """Give up an attempt whose supervisor is silent: fence it, let its machine go, go on elsewhere."""

    run: str
    attempt: int
    machine: str


@dataclass(frozen=True, kw_only=True)
class Check(Action):
    """Run preflight on a machine before it is trusted."""

    machine: str


@dataclass(frozen=True, kw_only=True)
class Dispatch(Action):
    """Start the supervisor of a run on a machine."""

    run: str
    machine: str


@dataclass(frozen=True, kw_only=True)
class Await(Action):
    """Record that a decision point was reached: nothing more is started until a person has decided."""

    point: DecisionPoint


@dataclass(frozen=True, kw_only=True)
class GiveUp(Action):
    """Start nothing more for a run whose supervisor cannot even begin."""

    run: str


@dataclass(frozen=True, kw_only=True)
class Retire(Action):
    """Ask a living run that was set aside, or that a person wants halted, to save and end."""

    run: str


@dataclass(frozen=True, kw_only=True)
class Rent(Action):
    """Take the offer that is asked now. `place`: where, of a provider of several computers; else None."""

    place: str | None = None


@dataclass(frozen=True, kw_only=True)
class Reject(Action):
    """Record that a machine is not used, and let go before any work. `what`: as in `Rejection`."""

    machine: str
    what: str


@dataclass(frozen=True, kw_only=True)
class LetGo(Action):
    """Let a machine go that was rejected: nothing of value can lie there."""

    machine: str


@dataclass(frozen=True, kw_only=True)
class LeaveOffer(Action):
    """Record that an offer is left for the next one of the plan."""

    move: Move


@dataclass(frozen=True, kw_only=True)
class NoteSpent(Action):
    """Record that no further offer of the plan is left, and how it goes on."""


@dataclass(frozen=True, kw_only=True)
class Despair(Action):
    """No machine is to be had, and nothing is under way that would be worth waiting for.

    `end`: what the last offer has shown; None: it was refused too often.
    """

    end: End | None = None


@dataclass(frozen=True, kw_only=True)
class Release(Action):
    """Let a machine go."""

    machine: str


@dataclass(frozen=True, kw_only=True)
class Wait(Action):
    """Look again in a moment."""


@dataclass(frozen=True, kw_only=True)
class Halt(Action):
    """Stop driving before the end: a person asked for it, or the budget is used up."""


@dataclass(frozen=True, kw_only=True)
class Finish(Action):
    """Nothing is left to run and nothing is rented."""


def next_action(now: Situation) -> Action:
    """Return the one next thing to do. Facts are noted first, then work goes on, then machines are let go."""
    return (
        _note_machines(now)
        or _note_lost(now)
        or _reject(now)
        or _abandon(now)
        or _let_go_of_lost(now)
        or _await(now)
        or _retire(now)
        or _give_up(now)
        or _check(now)
        or _supervise_again(now)
        or _dispatch(now)
        or _move_on(now)
        or _rent(now)
        or _release(now)
        or _rest(now)
    )


def _alive(now: Situation) -> list[MachineView]:
    return [machine for machine in now.view.machines if machine.state != "gone"]


def _out_of_reach(now: Situation, machine: MachineView) -> bool:
    """Tell whether only the home that rented a machine can ask about it, and let it go."""
    return machine.id in now.others and _said(now, machine) is MachineState.UNKNOWN


def _trusted(now: Situation) -> list[MachineView]:
    """Return the rented machines that may be used: neither given up for lost nor rejected."""
    lost = left_behind(now.view)
    return [machine for machine in _alive(now) if machine.id not in lost and machine.rejected is None]


def _said(now: Situation, machine: MachineView) -> MachineState | None:
    said = now.machines.get(machine.id or "")
    return said.state if said else None


def _note_machines(now: Situation) -> Action | None:
    for machine in _alive(now):
        if machine.id is None:
            return Recover(tag=machine.tag, why=_("its creation was intended and never confirmed"))
        said = _said(now, machine)
        if said is MachineState.GONE:
            return NoteGone(machine=machine.id, why=now.machines[machine.id].cause or _("it is gone"))
        if machine.state in ("queued", "booting") and said is MachineState.RUNNING:
            return NoteReady(machine=machine.id, why=_("it has booted"))
    return None


def _note_lost(now: Situation) -> Action | None:
    gone = {machine.id: machine for machine in now.view.machines if machine.state == "gone"}
    for run in now.view.runs:
        for life in run.attempts:
            if life.alive and life.machine in gone:
                why = gone[life.machine].cause or _("its machine went away")
                return NoteLost(run=run.id, attempt=life.number, why=why)
    return None


def _reject(now: Situation) -> Action | None:
    """Let machines go before any work: one that does not come up, or that is not what it should be."""
    for machine in _alive(now):
        if machine.id is None or _said(now, machine) not in _USABLE:
            continue
        if machine.rejected is not None:
            return LetGo(machine=machine.id, why=machine.rejected.why)
        if machine.id in now.overdue:
            late = now.overdue[machine.id]
            return Reject(machine=machine.id, what=late.what, why=late.why)
    return None


def _abandon(now: Situation) -> Action | None:
    # What has saved on one computer only can go on nowhere else: giving it up would win nothing.
    free = {run: seconds for run, seconds in now.silences.items() if run not in now.bound}
    lost = too_silent(now.view, now.supervised, free, now.max_silence)
    if lost is None:
        return None
    return Abandon(run=lost.run, attempt=lost.life.number, machine=lost.life.machine, why=lost.why)


def _let_go_of_lost(now: Situation) -> Action | None:
    """Let a host's machine go that was given up and answers again: what came of its run works elsewhere."""
    lost = left_behind(now.view) if now.places else ()
    for machine in _running_of(now, _alive(now)):
        if machine.id is not None and machine.id in lost:
            return Release(machine=machine.id, why=_("it was given up for lost, and answers again"))
    return None


def _await(now: Situation) -> Action | None:
    point = now.standing.reached
    if point is None:
        return None
    return Await(
        point=point, why=_("the work before the decision after {stage} is done").format(stage=point.stage)
    )


def _retire(now: Situation) -> Action | None:
    """Two versions of a run never work at once: the new one waits for the machine of the old one.

    A run that begins while a person asks for a halt was not alive yet to be asked by them.
    """
    for run in now.view.runs:
        if run.id not in now.supervised or run.id in now.retiring:
            continue
        if run.status == "superseded":
            return Retire(run=run.id, why=run.why or _("it was set aside"))
        if now.halt is not None and now.halt.only in (None, run.id) and run.status not in _OVER:
            return Retire(run=run.id, why=now.halt.why)
    return None


def _give_up(now: Situation) -> Action | None:
    for run in _open_runs(now):
        tried = now.silent_starts.get(run.id, 0) >= MAX_SILENT_STARTS
        if tried and run.id not in now.supervised and not _waits_for_code(now, run):
            why = _("its supervisor was started {count} times and could not do its work").format(
                count=now.silent_starts[run.id]
            )
            return GiveUp(run=run.id, why=why)
    return None


def _waits_for_code(now: Situation, run: RunView) -> bool:
    """Say whether a run could not begin again because its code has changed: no failure of the run.

    With the old text put back it goes on; with the new one the next `lastro run` begins a new run.
    """
    failed = now.silent_starts.get(run.id, 0) > 0
    return now.code_changed is not None and failed and run.id not in now.supervised


def _at_work(now: Situation, run: RunView) -> bool:
    """Say whether a run lives, or its supervisor is about to begin it."""
    return run.id in now.supervised or (run.status == "running" and not _waits_for_code(now, run))


def _check(now: Situation) -> Action | None:
    if not _open_runs(now) or now.halt is not None or now.standing.awaits is not None:
        return None
    for machine in _running(now):
        if machine.id is not None and machine.id not in now.checked:
            return Check(machine=machine.id, why=_("nothing is known of it yet"))
    return None


def _running(now: Situation) -> list[MachineView]:
    return _running_of(now, _trusted(now))


def _running_of(now: Situation, machines: Sequence[MachineView]) -> list[MachineView]:
    return [machine for machine in machines if _said(now, machine) is MachineState.RUNNING]


def _open_runs(now: Situation) -> list[RunView]:
    """Return the wanted runs that are not over; a paused one counts only when it is to go on."""
    runs = [now.view.run(run_id) for run_id in now.wanted]
    return [run for run in runs if not _is_over(now, run) and not _rests(now, run)]


def _rests(now: Situation, run: RunView) -> bool:
    """Say whether a run is paused and stays so.

    One that has used up its machine's share of the budget goes on by itself when others have left enough:
    twice what leaving needs, or the next machine would be left at once.
    """
    if run.status != "paused" or run.id in now.resumable:
        return False
    by_budget = run.attempts[-1].limit == LimitKind.BUDGET.value
    return not by_budget or bars_start(now.fresh, run, now.view.at, times=2) is not None


def _is_over(now: Situation, run: RunView) -> bool:
    """Say whether nothing more is to be done for a run; one that failed may be tried again on purpose."""
    again = run.id in now.resumable and now.silent_starts.get(run.id, 0) < MAX_SILENT_STARTS
    return run.status in _OVER and not (run.status == "failed" and again)


def _supervise_again(now: Situation) -> Action | None:
    running = {machine.id for machine in _running(now)}
    for run in _open_runs(now):
        at_work = run.status == "running" and _at_work(now, run)
        if at_work and run.id not in now.supervised and run.attempts[-1].machine in running:
            return Dispatch(run=run.id, machine=run.attempts[-1].machine, why=_("its supervisor is gone"))
    return None


def _busy(now: Situation) -> set[str]:
    """Return the machines that a run holds."""
    held = (run for run in now.view.runs if _at_work(now, run))
    return {run.machine for run in held if run.machine is not None}


def _dispatch(now: Situation) -> Action | None:
    halted = _halt(now)
    if halted is not None:
        return None
    busy = _busy(now)
    held = busy | now.leaving
    free = [machine.id for machine in _running(now) if machine.id is not None and machine.id not in held]
    fitting = [(run, machine) for run in _waiting(now) for machine in free if _fits(now, machine, run)]
    if not fitting:
        return None
    run, machine_id = fitting[0]
    why = _("it is the next run of the plan")
    if run.attempts:
        why = _("it goes on after attempt {number}: {why}").format(
            number=run.attempts[-1].number, why=run.why
        )
    return Dispatch(run=run.id, machine=machine_id, why=why)


def _fits(now: Situation, machine_id: str, run: RunView) -> bool:
    """Say whether a run that begins on a machine now would have time to work before a limit ends it."""
    limits = now.limits.get(machine_id, Limits())
    if not _reaches(now, machine_id, run):
        return False
    return bars_start(limits, run, now.view.at) is None and not left_for_lease(run, machine_id)


def _reaches(now: Situation, machine_id: str, run: RunView) -> bool:
    """Say whether a run can go on on a machine: what it has saved lies there, or can be brought there."""
    places = {machine.id: machine.provider for machine in now.view.machines}
    return now.bound.get(run.id) in (None, places[machine_id])


def _useless(now: Situation) -> list[MachineView]:
    """Return the rented machines on which none of the waiting runs is worth beginning."""
    waiting = _waiting(now)
    return [
        machine
        for machine in _alive(now)
        if machine.id is not None
        and _said(now, machine) in _USABLE
        and waiting
        and not any(_fits(now, machine.id, run) for run in waiting)
    ]


def _waiting(now: Situation) -> list[RunView]:
    return [run for run in _idle(now) if run.id not in now.standing.held]


def _idle(now: Situation) -> list[RunView]:
    return [run for run in _open_runs(now) if run.status != "running" and run.id not in now.supervised]


def _halt(now: Situation) -> Halt | None:
    if now.standing.awaits is not None:
        return Halt(why=now.standing.awaits)
    if now.halt is not None:
        return Halt(why=_("stopped on request: {why}; `lastro run` goes on").format(why=now.halt.why))
    if any(_waits_for_code(now, run) for run in _open_runs(now)):
        told = _("{why}; put it back to go on, or `lastro run` begins a new run with the new code")
        return Halt(why=told.format(why=now.code_changed))
    paused = [run for run in now.view.runs if run.id in now.wanted and _rests(now, run)]
    limited = [run for run in paused if run.attempts[-1].limit is not None]
    if limited:
        told = "; ".join(f"{run.name}: {run.why}" for run in limited)
        return Halt(why=_("{reasons}; {way_out}").format(reasons=told, way_out=_way_out(limited[0])))
    if paused:
        names = ", ".join(run.name for run in paused)
        return Halt(why=_("{names} was stopped on request; `lastro run` goes on").format(names=names))
    waiting = _waiting(now)
    if not waiting:
        return _held(now)
    cap = weather_cap(now.budget, now.max_weather)
    why = stormy(now.view, waiting, cap) or _nowhere(now, waiting) or _asks(now)
    return Halt(why=why) if why is not None else None


def _asks(now: Situation) -> str | None:
    """Return what a person is asked when no offer is left; None while machines are there that can be used."""
    usable = any(_said(now, machine) in _USABLE for machine in _trusted(now))
    return now.choice.then.why if isinstance(now.choice.then, Question) and not usable else None


def _held(now: Situation) -> Halt | None:
    """Say that what is left begins after a decision only, for which other runs have to work first."""
    held = [run.name for run in _idle(now) if run.id in now.standing.held]
    if not held:
        return None
    told = _("{names} begin after the decision after {stage}, and what comes before it is not done")
    return Halt(why=told.format(names=", ".join(held), stage=now.standing.by))


def _way_out(run: RunView) -> str:
    """Return the next step for a run that a limit has paused."""
    if run.attempts[-1].limit == LimitKind.IDLE.value:
        return _("look at `lastro logs`; `lastro run` goes on")
    return _("to go on, change the campaign file and give `lastro run` the reason: --revise WHY")


def _nowhere(now: Situation, waiting: Sequence[RunView]) -> str | None:
    """Say why no machine is worth having: each would have to be left at once; None while one is."""
    useless = {machine.id for machine in _useless(now)}
    usable = {machine.id for machine in _alive(now) if _said(now, machine) in _USABLE}
    if usable - useless:
        return None
    if (dear := too_dear(now.view, now.budget, now.fresh.lease)) is not None:
        return dear
    barred = [bars_start(now.fresh, run, now.view.at) for run in waiting]
    first = barred[0]
    if first is None or None in barred:
        return None
    return _("{why}; too little for a start that could save").format(why=first.why)


def _lacks_machine(now: Situation) -> bool:
    """Say whether runs wait for a machine that the plan may rent beside those that there are."""
    useless = {machine.id for machine in _useless(now)}
    usable = [machine for machine in _trusted(now) if _said(now, machine) in _USABLE]
    busy = _busy(now)
    free = [machine for machine in usable if machine.id not in busy and machine.id not in useless]
    return bool(_waiting(now)) and len(usable) < now.max_machines and not free


def _move_on(now: Situation) -> Action | None:
    """Leave the offer for the next one of the plan, or record that none is left."""
    offer = now.choice.offer
    if now.away or now.halt is not None or not _lacks_machine(now):
        return None
    if isinstance(offer, Nothing) and now.choice.tells and now.view.offers.spent is None:
        return NoteSpent(why=offer.why)
    if isinstance(offer, Move) and _halt(now) is None:
        return LeaveOffer(move=offer, why=offer.why)
    return None


def _rent(now: Situation) -> Action | None:
    if now.away or _halt(now) is not None or not _lacks_machine(now) or now.retry_in > 0:
        return None
    then, busy, place = now.choice.then, _busy(now), _place(now)
    if isinstance(then, Question):
        return None  # it is asked when nothing works any more
    over = isinstance(then, End) or (then is None and now.refusals > MAX_REFUSALS)
    if now.places:  # what speaks against one of several computers says nothing of the others
        over = now.barred.issuperset(now.places) or now.refusals > MAX_REFUSALS
    if over:
        end = then if isinstance(then, End) else None
        return None if busy else Despair(why=_("no machine was to be had"), end=end)
    if now.places and place is None:
        return None
    lost = [machine for machine in now.view.machines if machine.state == "gone"]
    why = _("runs are waiting")
    if lost:
        why = _("runs are waiting, and {id} went away: {why}").format(id=lost[-1].id, why=lost[-1].cause)
    return Rent(why=then.why if isinstance(then, AskAgain) else why, place=place)


def _place(now: Situation) -> str | None:
    """Return at which of several computers a machine is taken now; None: at none, or there is only one."""
    taken = {machine.provider for machine in _alive(now)}
    needed = {now.bound[run.id] for run in _waiting(now) if run.id in now.bound}
    everywhere = any(run.id not in now.bound for run in _waiting(now))
    places = now.places if everywhere else [place for place in now.places if place in needed]
    return next_place(places, taken, now.shut | now.barred, needed)


def _release(now: Situation) -> Action | None:
    busy = _busy(now)
    for machine in _useless(now):
        if machine.id is not None and machine.id not in busy and not _has_shell(now, machine):
            return Release(machine=machine.id, why=_("a limit is too near for another start"))
    if any(_at_work(now, run) for run in now.view.runs):
        return None
    halted = _halt(now)
    if _waiting(now) and halted is None:
        return None
    for machine in _alive(now):
        stays = _kept(now, machine) or _has_shell(now, machine)
        if machine.id is not None and _said(now, machine) in _USABLE and not stays:
            why = halted.why if halted else _("nothing is left to run")
            return Release(machine=machine.id, why=why)
    return None


def _kept(now: Situation, machine: MachineView) -> bool:
    """Say whether a machine stays while a person decides: a lot is paid, and another would be paid too."""
    lot = machine.lease is not None and machine.lease.kind is LeaseKind.LOT
    return lot and now.standing.awaits is not None


def _has_shell(now: Situation, machine: MachineView) -> bool:
    """Say whether somebody works on a machine, so that it is not idle; who asks for a halt means that too."""
    return machine.id in now.shells and now.halt is None


def _rest(now: Situation) -> Action:
    ours = [one for one in _alive(now) if not _out_of_reach(now, one) and not _kept(now, one)]
    if ours or now.supervised or now.away:
        return Wait(why=_("runs or machines are under way"))
    halted = _halt(now)
    if halted is None and (now.retry_in > 0 or now.places) and _waiting(now):
        return Wait(why=_("no machine was to be had; asked again later"))
    return halted or Finish(why=_("every run has ended"))
