"""The calendar of a plan as a picture needs it: lanes, one axis in hours, and colours. Pure.

The terminal and the page draw from the same values, so that they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lastro.plan.model import Plan
from lastro.plan.parts import Option, Slot
from lastro.records import dataclass

#: A window that is longer than this many calendars would press them into a stripe: it is told, not drawn.
_FAR = 4.0


@dataclass(frozen=True, kw_only=True)
class LaneSlots:
    """What one lane does, in the order of time. `lane` None: what holds nothing."""

    lane: str | None
    slots: tuple[Slot, ...]


@dataclass(frozen=True, kw_only=True)
class Axis:
    """From zero to `hours`. `window`: its end, where it lies on the axis; None: there is none, or far off."""

    hours: float
    window: float | None

    def share(self, hours: float) -> float:
        """Return where a moment lies, from 0 to 1; what is beyond the axis lies at its end."""
        return max(0.0, min(1.0, hours / self.hours))


@dataclass(frozen=True, kw_only=True)
class Lease:
    """From when until when a lot is paid, on the lane of one of its machines, in hours."""

    lane: str
    start: float
    end: float


def lanes_of(slots: Iterable[Slot]) -> tuple[LaneSlots, ...]:
    """Return the lanes in the order in which they are first used; what holds nothing comes last."""
    found: dict[str | None, list[Slot]] = {}
    for slot in sorted(slots, key=lambda one: (one.start_hours, one.end_hours)):
        found.setdefault(slot.lane, []).append(slot)
    order = sorted(found, key=lambda lane: lane is None)
    return tuple(LaneSlots(lane=lane, slots=tuple(found[lane])) for lane in order)


def axis_of(calendars: Iterable[Sequence[Slot]], window: float | None) -> Axis | None:
    """Return the axis that all these calendars share; None when there is nothing to draw."""
    ends = [max(slot.end_hours, slot.end_high_hours) for slots in calendars for slot in slots]
    last = max(ends, default=0.0)
    if last <= 0:
        return None
    if window is None or window > last * _FAR:
        return Axis(hours=last, window=None)
    return Axis(hours=max(last, window), window=window)


def offered(plan: Plan) -> tuple[Option, ...]:
    """Return the options that are offered, the one that is taken first."""
    shown = [option for option in plan.options if option.offered]
    return tuple(sorted(shown, key=lambda option: option.name != plan.option))


def taken(plan: Plan) -> Option | None:
    """Return the option that is taken; None: nothing is rented, or nothing can be."""
    return next((option for option in offered(plan) if option.name == plan.option), None)


def colours(plan: Plan) -> Mapping[str, int]:
    """Return the number of each run, also of those that are left out: it keeps its colour on all pictures."""
    names = [run.name for run in plan.runs]
    for slots in (plan.calendar, *(option.calendar for option in plan.options)):
        names += [slot.run for slot in slots if slot.run]
    return {name: index for index, name in enumerate(dict.fromkeys(names))}


def leases_of(option: Option) -> tuple[Lease, ...]:
    """Return how long each lot of an option is paid, where that can be told: all its leases are equally long.

    A lot lasts from the first use of one of its machines; its machines are taken in the order of the lanes.
    """
    found: list[Lease] = []
    lanes = sorted({slot.lane for slot in option.calendar if slot.lane and slot.lane.startswith("gpu")})
    for holding in option.holdings:
        equal = holding.terms is not None and (holding.leases == 1 or holding.terms == 1)
        if not equal or holding.leases * holding.machines < 1 or len(option.holdings) > 1:
            continue
        long = holding.hours / (holding.leases * holding.machines)
        for first in range(0, len(lanes), holding.machines):
            group = lanes[first : first + holding.machines]
            start = min(slot.start_hours for slot in option.calendar if slot.lane in group)
            found += [Lease(lane=lane, start=start, end=start + long) for lane in group]
    return tuple(found)
