"""A calendar that ends earlier, when the first one does not end as early as can be."""

from __future__ import annotations

import math
from collections.abc import Mapping

from lastro.plan.calendar import Calendar, Placement, calendar_of
from lastro.plan.intervals import CPU, GPU, PERSON, Interval, Work, hours_on
from lastro.plan.solve import NoPlan, Solution, Task, machine, shortest
from lastro.spec.durations import Hours

_HOUR = 3600
_CLASS = "machine"
#: Hours that are rounding of binary fractions.
_TOLERANCE = 1e-6
#: Ticks of a minute are fine enough to choose an order; shorter calendars get shorter ones.
_TICKS = 20_000


def shorter(
    work: Work,
    first: Calendar,
    *,
    machines: int,
    gpu: str | None = None,
    factors: Mapping[int, float] | None = None,
) -> Calendar:
    """Return a calendar that ends earlier than `first`, or `first` when none was found.

    Only order and lanes come from the solver: times are laid out from them as for every calendar.

    Args:
        work: the intervals; all of them have a duration on this card.
        first: how they were laid out.
        machines: how many machines there are at once.
        gpu: the card.
        factors: as for `lay_out`.
    """
    if first.total is None or first.total.likely <= first.least_hours + _TOLERANCE:
        return first
    hours = {index: _hours(index, one, gpu, factors) for index, one in enumerate(work.intervals)}
    tick = max(1, min(60, math.floor(first.total.likely * _HOUR / _TICKS) or 1))
    if min(each.likely for each in hours.values()) * _HOUR < tick:
        return first
    tasks = [_task(work, index, one, hours[index], tick) for index, one in enumerate(work.intervals)]
    found = shortest(tasks, [machine(f"{GPU} {place}", _CLASS) for place in range(1, machines + 1)])
    if isinstance(found, NoPlan):
        return first
    second = calendar_of(work, _placed(work, hours, found), machines=machines)
    assert second.total is not None, "all intervals were placed"
    return second if second.total.likely < first.total.likely - _TOLERANCE else first


def _hours(index: int, one: Interval, gpu: str | None, factors: Mapping[int, float] | None) -> Hours:
    hours = hours_on(one, gpu)
    assert hours is not None, "it was laid out on this card before"
    return hours.times((factors or {}).get(index, 1.0))


def _task(work: Work, index: int, one: Interval, hours: Hours, tick: int) -> Task:
    after = tuple(work.intervals[before].name for before in one.after)
    ticks = max(1, round(hours.likely * _HOUR / tick))
    if one.holds == GPU:
        return Task(name=one.name, ticks={_CLASS: ticks}, after=after)
    person = one.holds if one.holds in (PERSON, CPU) else None
    return Task(name=one.name, alone_ticks=ticks, person=person, after=after)


def _placed(work: Work, hours: Mapping[int, Hours], found: Solution) -> list[Placement]:
    index_of = {one.name: index for index, one in enumerate(work.intervals)}
    names = {number: f"{GPU} {place}" for place, number in enumerate(sorted(_used(found)), start=1)}
    placed = []
    for one in sorted(found.placed, key=lambda each: (each.start, index_of[each.task])):
        interval = work.intervals[index_of[one.task]]
        lane = interval.holds if one.machine is None else names[one.machine]
        index = index_of[one.task]
        placed.append(Placement(index=index, interval=interval, hours=hours[index], lane=lane))
    return placed


def _used(found: Solution) -> set[int]:
    return {one.machine for one in found.placed if one.machine is not None}
