"""Intervals laid on lanes: what holds the same machine or the same person never overlaps.

Order and lanes are chosen for the likely durations; low and high keep them, so that a longer duration never
ends a campaign earlier.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from lastro.locale import _
from lastro.plan.draws import DrawnInterval
from lastro.plan.intervals import CPU, GPU, PERSON, Interval, Work, hours_on
from lastro.plan.parts import Slot, Span, Unplaced
from lastro.records import dataclass
from lastro.spec.durations import Hours

#: The wait for the first machine among the drawn intervals; no stage can be named so.
_LEAD = "(lead)"

__all__ = [
    "Calendar",
    "Placement",
    "calendar_of",
    "keeping",
    "lay_out",
    "unknown_on",
    "without_unknown",
]


@dataclass(frozen=True, kw_only=True)
class Calendar:
    """The slots in the order of their start, what could not be placed, and how long it all takes.

    `total` None: something could not be placed. `least_hours`: no calendar on these lanes can be shorter.
    `drawn`: the same intervals in the order in which they were placed, to draw their durations; `lanes`: the
    names of the lanes that they hold.
    """

    slots: tuple[Slot, ...]
    unplaced: tuple[Unplaced, ...]
    total: Span | None
    least_hours: float
    drawn: tuple[DrawnInterval, ...] = ()
    lanes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Placement:
    """An interval with its hours and its lane; `index` is its place among the intervals of the work."""

    index: int
    interval: Interval
    hours: Hours
    lane: str | None


def lay_out(
    work: Work,
    *,
    machines: int,
    gpu: str | None = None,
    lead_hours: float = 0.0,
    factors: Mapping[int, float] | None = None,
) -> Calendar:
    """Lay out all intervals for machines with one kind of card.

    Args:
        work: intervals whose duration on this card is known; `unknown_on` names the others.
        machines: how many machines there are at once; each is one lane.
        gpu: the card, named as in an offer; None: whatever is there.
        lead_hours: from the start until the first machine can be had.
        factors: by how much intervals take longer than they say, by their index.
    """
    known = [(index, one, hours_on(one, gpu)) for index, one in enumerate(work.intervals)]
    longer = factors or {}
    items = [
        (index, one, hours.times(longer.get(index, 1.0))) for index, one, hours in known if hours is not None
    ]
    if len(items) < len(known):
        raise ValueError("the duration of an interval is unknown on this card")
    return calendar_of(work, _assign(items, machines, lead_hours), machines=machines, lead_hours=lead_hours)


def calendar_of(
    work: Work, placed: Sequence[Placement], *, machines: int, lead_hours: float = 0.0
) -> Calendar:
    """Return the calendar for an order and lanes that are chosen already.

    Args:
        work: whose intervals are placed.
        placed: each after all that it waits for, and those of one lane in their order.
        machines: how many machines there are at once.
        lead_hours: from the start until the first machine can be had.
    """
    likely, low, high = (_laid(placed, case, lead_hours) for case in ("likely", "low", "high"))
    slack = _slack(placed, likely)
    slots = [
        Slot(
            stage=one.interval.stage,
            run=one.interval.run,
            lane=one.lane,
            start_hours=likely[index][0],
            end_hours=likely[index][1],
            start_low_hours=low[index][0],
            end_low_hours=low[index][1],
            start_high_hours=high[index][0],
            end_high_hours=high[index][1],
            slack_hours=slack[index],
            decide=one.interval.decide,
            origin=one.hours.origin,
        )
        for index, one in enumerate(placed)
    ]
    total = Span(low=_end(low), likely=_end(likely), high=_end(high)) if not work.unplaced else None
    slots.sort(key=lambda slot: slot.start_hours)
    lanes = tuple(sorted({one.lane for one in placed if one.lane}))
    return Calendar(
        slots=tuple(slots),
        unplaced=work.unplaced,
        total=total,
        least_hours=_least(placed, machines),
        drawn=_drawn(placed, lanes, lead_hours),
        lanes=lanes,
    )


def unknown_on(work: Work, gpu: str | None) -> tuple[Interval, ...]:
    """Return the intervals whose duration on a card nobody has told."""
    return tuple(one for one in work.intervals if hours_on(one, gpu) is None)


def without_unknown(work: Work, gpu: str | None) -> Work:
    """Return the work without what cannot be laid out on this card; that stands among what is unplaced."""
    unknown = unknown_on(work, gpu)
    if not unknown:
        return work
    kept = keeping(work, [one.name for one in work.intervals if one not in unknown])
    why = _("its duration is known for some cards only, and no offer is taken")
    unplaced = tuple(Unplaced(stage=one.stage, run=one.run, why=why) for one in unknown)
    return Work(intervals=kept.intervals, unplaced=(*work.unplaced, *unplaced))


def keeping(work: Work, names: Collection[str]) -> Work:
    """Return the work with the intervals of these names alone; what waited for another one waits no more."""
    kept = [index for index, one in enumerate(work.intervals) if one.name in names]
    place = {old: new for new, old in enumerate(kept)}
    intervals = tuple(
        replace(one, after=tuple(place[before] for before in one.after if before in place))
        for one in (work.intervals[index] for index in kept)
    )
    return Work(intervals=intervals, unplaced=work.unplaced)


def _end(cases: Sequence[tuple[float, float]]) -> float:
    return max((end for _start, end in cases), default=0.0)


def _least(placed: Sequence[Placement], machines: int) -> float:
    """Return a time that no calendar can beat: the longest chain, or all that one kind of lane has to do."""
    chain: dict[int, float] = {}
    load = {GPU: 0.0, CPU: 0.0, PERSON: 0.0}
    for one in placed:
        before = max((chain[index] for index in one.interval.after), default=0.0)
        chain[one.index] = before + one.hours.likely
        if one.interval.holds:
            load[one.interval.holds] += one.hours.likely
    load[GPU] /= machines
    return round(max([*chain.values(), *load.values()], default=0.0), 9)


def _drawn(placed: Sequence[Placement], lanes: Sequence[str], lead_hours: float) -> tuple[DrawnInterval, ...]:
    """Return what durations are drawn from. All runs of a stage are long together: they share an estimate.

    The wait for the first machine is an interval that holds nothing, because it runs beside what is before.
    """
    drawn = []
    if lead_hours:
        wait = Span(low=lead_hours, likely=lead_hours, high=lead_hours)
        drawn.append(DrawnInterval(name=_LEAD, hours=wait))
    place = {one.index: number for number, one in enumerate(placed, start=len(drawn))}
    for one in placed:
        waits = {place[before] for before in one.interval.after}
        if lead_hours and one.interval.holds == GPU:
            waits.add(0)
        drawn.append(
            DrawnInterval(
                name=one.interval.name,
                hours=Span(low=one.hours.low, likely=one.hours.likely, high=one.hours.high),
                lanes=(lanes.index(one.lane),) if one.lane else (),
                after=tuple(sorted(waits)),
                together=one.interval.stage if one.interval.run else None,
            )
        )
    return tuple(drawn)


def _assign(
    items: Sequence[tuple[int, Interval, Hours]], machines: int, lead_hours: float
) -> list[Placement]:
    """Choose order and lanes: always what can begin first; the order of the file breaks ties."""
    lanes = {GPU: [f"{GPU} {number}" for number in range(1, machines + 1)], CPU: [CPU], PERSON: [PERSON]}
    free = {lane: lead_hours if names is lanes[GPU] else 0.0 for names in lanes.values() for lane in names}
    ends: dict[int, float] = {}
    waiting, placed = list(items), []
    while waiting:
        best: tuple[float, int, str | None] | None = None
        for position, (_index, interval, _hours) in enumerate(waiting):
            if not all(before in ends for before in interval.after):
                continue
            ready = max([ends[before] for before in interval.after], default=0.0)
            lane = (
                _lane({name: free[name] for name in lanes[interval.holds]}, ready) if interval.holds else None
            )
            start = max(ready, free[lane] if lane else 0.0)
            if best is None or start < best[0]:
                best = (start, position, lane)
        assert best is not None, "stages that wait for each other are refused with the campaign file"
        start, position, lane = best
        index, interval, hours = waiting.pop(position)
        ends[index] = start + hours.likely
        if lane:
            free[lane] = ends[index]
        placed.append(Placement(index=index, interval=interval, hours=hours, lane=lane))
    return placed


def _lane(free: Mapping[str, float], ready: float) -> str:
    """Choose the lane that is free first; of those that are free in time, the one that was used last."""
    return min(free, key=lambda name: (max(free[name], ready), -free[name]))


def _laid(placed: Sequence[Placement], case: str, lead_hours: float) -> list[tuple[float, float]]:
    """Return start and end of each, for one of the three durations, with order and lanes as they are."""
    free: dict[str, float] = {}
    ends: dict[int, float] = {}
    times = []
    for one in placed:
        ready = max([ends[before] for before in one.interval.after], default=0.0)
        begin = lead_hours if one.interval.holds == GPU else 0.0
        start = max(ready, free.get(one.lane, begin) if one.lane else 0.0)
        # Rounded to some microseconds, so that a plan does not show what binary fractions cannot hold.
        end = round(start + float(getattr(one.hours, case)), 9)
        ends[one.index] = end
        if one.lane:
            free[one.lane] = end
        times.append((start, end))
    return times


def _slack(placed: Sequence[Placement], times: Sequence[tuple[float, float]]) -> list[float]:
    """Return by how much each may take longer before the end moves; what follows it is pushed on."""
    latest = {one.index: _end(times) for one in placed}
    lane_latest: dict[str, float] = {}
    slack = [0.0] * len(placed)
    for position in range(len(placed) - 1, -1, -1):
        one, (start, end) = placed[position], times[position]
        limit = min(latest[one.index], lane_latest.get(one.lane, latest[one.index]) if one.lane else math.inf)
        slack[position] = round(max(0.0, limit - end), 9)
        begin = limit - (end - start)
        if one.lane:
            lane_latest[one.lane] = begin
        for before in one.interval.after:
            latest[before] = min(latest[before], begin)
    return slack
