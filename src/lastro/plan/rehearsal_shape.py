"""What of a plan its rehearsal is held against: its runs on their lanes, in hours, and what it promises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from lastro.billing import Lease
from lastro.checkpoint.interval import SaveCost, choose_interval
from lastro.locale import _
from lastro.plan.bill import MACHINE_LINE
from lastro.plan.calendar import Placement, calendar_of, keeping
from lastro.plan.intervals import GPU, Work, hours_on, work_of
from lastro.plan.learning import informed
from lastro.plan.lifetimes import Lifetimes
from lastro.plan.model import Plan
from lastro.plan.on_spot import ASSUMED_RESTART, ASSUMED_SAVE, lifetimes_of, saves_of
from lastro.plan.parts import CostLine, Slot
from lastro.records import dataclass
from lastro.spec.campaign import Campaign
from lastro.spec.durations import Hours
from lastro.spec.offers import Offer
from lastro.spec.stage import Stage
from lastro.units import Money, show_duration

_EXPLORATORY, _TRAINING = "exploratory", "training"
_HOUR = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True)
class RunTime:
    """A run of the plan: its longest interval on the calendar, and how long that takes undisturbed.

    `hours` None: nobody knows. `steps`: how many the whole run has, as its stage says; None: it does not.
    """

    run: str
    required: bool
    interval: str | None
    hours: float | None
    steps: int | None


@dataclass(frozen=True, kw_only=True)
class Pauses:
    """What a loss costs beside the work that is done again, in hours; `said` names what was only assumed.

    `away` None: nobody has said how long it takes until another machine is to be had.
    """

    boot: float
    restart: float
    away: float | None
    silence: float
    save: float
    said: tuple[str, ...]

    @property
    def replacing(self) -> float:
        """From one machine to work on the next, as far as it is known."""
        return self.boot + self.restart + (self.away or 0.0)


@dataclass(frozen=True, kw_only=True)
class Saving:
    """How often the plan saves: each so many steps, or each such time; None of what is not known.

    `bound`: hours of work that may be lost; None: nobody can tell. `why`: where both come from. `saves`: runs
    save on their way; False of those that go over items, or are made again.
    """

    steps: int | None
    every: float | None
    bound: float | None
    why: str
    saves: bool = True


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A plan as its rehearsal sees it. `lanes`: the runs that one machine does after another, in their order.

    `work`, `slots`: the calendar with its order, to push what comes later. `other`: what is paid beside
    machines, as planned; `machine`: what is planned for these.
    """

    runs: tuple[RunTime, ...]
    lanes: tuple[tuple[str, ...], ...]
    pauses: Pauses
    saving: Saving
    lives: Lifetimes | None
    lease: Lease | None
    by_hour: bool
    window: float | None
    budget: Money | None
    other: tuple[CostLine, ...]
    machine: tuple[CostLine, ...]
    work: Work
    slots: tuple[Slot, ...]
    gpu: str | None
    lead: float
    machines: int
    complete: bool

    def run(self, name: str) -> RunTime:
        """Return one run. Raises KeyError."""
        for one in self.runs:
            if one.run == name:
                return one
        raise KeyError(name)


def shape_of(campaign: Campaign, plan: Plan, offer: Offer | None) -> Shape:
    """Return what a rehearsal of this plan is held against.

    Args:
        campaign: of the file that was planned.
        plan: frozen, or as it would be.
        offer: what its machines are; None when nothing is rented.
    """
    told = informed(campaign, plan.estimates)
    names = [slot.name for slot in plan.calendar]
    work = keeping(work_of(told, [run.name for run in plan.runs]), names)
    gpu = offer.gpu if offer else None
    known = {one.name: hours for one in work.intervals if (hours := hours_on(one, gpu)) is not None}
    work = keeping(work, list(known))
    runs = _runs(told, plan, work, known)
    option = next((one for one in plan.options if one.name == plan.option), None)
    lines = option.cost.lines if option else ()
    lives = lifetimes_of(offer) if offer else None
    return Shape(
        runs=runs,
        lanes=_lanes(plan, runs),
        pauses=_pauses(campaign, plan),
        saving=_saving(campaign, offer, lives),
        lives=lives,
        lease=plan.lease,
        by_hour=offer is not None and offer.by_hour is not None,
        window=plan.window_hours,
        budget=plan.budget,
        other=tuple(line for line in lines if line.kind != MACHINE_LINE),
        machine=tuple(line for line in lines if line.kind == MACHINE_LINE),
        work=work,
        slots=tuple(slot for slot in plan.calendar if slot.name in known),
        gpu=gpu,
        lead=offer.lead / _HOUR if offer and offer.lead else 0.0,
        machines=plan.machines,
        complete=not plan.unplaced and len(known) == len(set(names)),
    )


def end_hours(shape: Shape, longer: Mapping[str, float]) -> float | None:
    """Return when the plan ends if its runs take so many hours longer; None: a duration is unknown.

    Order and lanes stay as planned: what has to wait is pushed on, and nobody reacts to that.
    """
    if not shape.complete:
        return None
    place = {one.name: index for index, one in enumerate(shape.work.intervals)}
    more = {one.interval: longer.get(one.run, 0.0) for one in shape.runs if one.interval}
    placed = []
    for slot in sorted(shape.slots, key=lambda slot: (slot.start_hours, place[slot.name])):
        interval = shape.work.intervals[place[slot.name]]
        hours = hours_on(interval, shape.gpu)
        assert hours is not None, "what is not known here was left out"
        whole = hours.likely + more.get(slot.name, 0.0)
        placed.append(
            Placement(
                index=place[slot.name],
                interval=interval,
                hours=Hours(whole, whole, whole),
                lane=slot.lane,
            )
        )
    laid = calendar_of(shape.work, placed, machines=shape.machines, lead_hours=shape.lead)
    return max((slot.end_hours for slot in laid.slots), default=0.0)


def machine_hours(shape: Shape) -> tuple[float, ...] | None:
    """Return how long each lane that has runs works undisturbed, other stages too; None: unknown."""
    if not shape.complete:
        return None
    known = {one.name: one for one in shape.work.intervals}
    lane_of = {slot.name: slot.lane for slot in shape.slots}
    used = {lane_of[one.interval] for one in shape.runs if one.interval}
    hours: dict[str | None, float] = dict.fromkeys(sorted(used, key=str), 0.0)
    for name, lane in lane_of.items():
        found = hours_on(known[name], shape.gpu)
        if lane in hours and found is not None:
            hours[lane] += found.likely
    return tuple(hours.values())


def _runs(campaign: Campaign, plan: Plan, work: Work, known: Mapping[str, Hours]) -> tuple[RunTime, ...]:
    begins = {slot.name: slot.start_hours for slot in plan.calendar}
    found = []
    for run in plan.runs:
        if run.priority == _EXPLORATORY:
            continue
        mine = [one for one in work.intervals if one.run == run.name]
        longest = max(mine, key=lambda one: (one.holds == GPU, known[one.name].likely), default=None)
        stage: Stage | None = campaign.stages[longest.stage] if longest else None
        found.append(
            RunTime(
                run=run.name,
                required=run.priority == "required",
                interval=longest.name if longest else None,
                hours=known[longest.name].likely if longest else None,
                steps=stage.steps if stage else None,
            )
        )
    return tuple(sorted(found, key=lambda one: begins.get(one.interval or "", float("inf"))))


def _lanes(plan: Plan, runs: Sequence[RunTime]) -> tuple[tuple[str, ...], ...]:
    """Return the runs by their lane; those that are on none follow each other on the first."""
    lane_of = {slot.name: slot.lane for slot in plan.calendar}
    lanes: dict[str | None, list[str]] = {}
    for one in runs:
        lanes.setdefault(lane_of.get(one.interval or ""), []).append(one.run)
    nowhere = lanes.pop(None, [])
    found = list(lanes.values()) or [[]]
    found[0].extend(nowhere)
    return tuple(tuple(lane) for lane in found if lane)


def _pauses(campaign: Campaign, plan: Plan) -> Pauses:
    told = campaign.interruption
    said = []
    if told.restart is None:
        said.append(
            _("a new start of {time} (interruption.restart)").format(time=show_duration(ASSUMED_RESTART))
        )
    if told.save is None:
        said.append(_("a save of {time} (interruption.save)").format(time=show_duration(ASSUMED_SAVE)))
    return Pauses(
        boot=plan.boot_seconds / 3600,
        restart=(ASSUMED_RESTART if told.restart is None else told.restart) / _HOUR,
        away=told.away / _HOUR if told.away is not None else None,
        silence=plan.silence_seconds / 3600,
        save=(told.save or ASSUMED_SAVE) / _HOUR,
        said=tuple(said),
    )


def _saving(campaign: Campaign, offer: Offer | None, lives: Lifetimes | None) -> Saving:
    """Return how often the plan saves: as `checkpoint.due` does, with a save that was measured or assumed."""
    policy = campaign.checkpoint.policy()
    save = campaign.interruption.save or ASSUMED_SAVE
    cost = SaveCost(blocked=save, durable=save)
    most = campaign.checkpoint.max_loss
    bound = most / _HOUR if most else None
    if campaign.resume != _TRAINING:
        why = (
            _("the file's checkpoint.max_loss")
            if most
            else _("what is in hand is lost, and nothing bounds it")
        )
        return Saving(steps=None, every=None, bound=bound, why=why, saves=False)
    if policy.every_steps is not None:
        every = (most - save) / _HOUR if most is not None and most > save else None
        return Saving(
            steps=policy.every_steps, every=every, bound=bound, why=_("the file's checkpoint.every")
        )
    if policy.every_seconds is not None:
        seconds = timedelta(seconds=policy.every_seconds)
        if most is not None and most > save:
            seconds = min(seconds, most - save)
        between, why = seconds, _("the file's checkpoint.every")
    elif offer is not None and lives is not None and (found := saves_of(campaign, offer, lives)).every:
        between, why = found.every, found.why
    else:
        interval = choose_interval(cost, max_loss=most)
        between, why = interval.every, interval.why
    return Saving(
        steps=None,
        every=between / _HOUR,
        bound=(between + save) / _HOUR if bound is None else bound,
        why=why,
    )
