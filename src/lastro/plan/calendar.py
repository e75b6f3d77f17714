"""Stages laid end to end on lanes: what holds the same machine or the same person never overlaps.

Order and lanes are chosen for the likely durations; low and high keep them, so that a longer duration never
ends a campaign earlier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lastro.locale import _
from lastro.plan.model import Slot, Span, Unplaced
from lastro.spec.campaign import Campaign, RunSpec, waits_for
from lastro.spec.stage import Hours, Stage

PERSON, CPU, GPU = "person", "cpu", "gpu"
_IMPORTANCE = {"required": 0, "useful": 1, "exploratory": 2}


@dataclass(frozen=True, kw_only=True)
class Calendar:
    """The slots in the order of their start, what could not be placed, and how long it all takes."""

    slots: tuple[Slot, ...]
    unplaced: tuple[Unplaced, ...]
    total: Span | None


@dataclass(frozen=True, kw_only=True)
class _Item:
    """One interval to be placed: a stage, or a stage for one run."""

    stage: str
    run: str | None
    hours: Hours
    holds: str | None
    after: tuple[str, ...]
    decide: bool


@dataclass(frozen=True, kw_only=True)
class _Placed:
    item: _Item
    lane: str | None


def make_calendar(campaign: Campaign) -> Calendar:
    """Lay out a campaign's stages; without stages, name each run as one whose duration is unknown."""
    runs = sorted(campaign.runs(), key=lambda run: _IMPORTANCE[run.priority])
    if not campaign.stages:
        why = _("its duration is unknown: the campaign file has no stages")
        return Calendar(
            slots=(), unplaced=tuple(Unplaced(stage="run", run=run.name, why=why) for run in runs), total=None
        )
    items, unplaced = _items(campaign, runs)
    placed = _assign(items, campaign.machines)
    likely, low, high = (_laid(placed, case) for case in ("likely", "low", "high"))
    slots = [
        Slot(
            stage=one.item.stage,
            run=one.item.run,
            lane=one.lane,
            start_hours=likely[index][0],
            end_hours=likely[index][1],
            start_low_hours=low[index][0],
            end_low_hours=low[index][1],
            start_high_hours=high[index][0],
            end_high_hours=high[index][1],
            decide=one.item.decide,
        )
        for index, one in enumerate(placed)
    ]
    total = Span(low=_end(low), likely=_end(likely), high=_end(high)) if not unplaced else None
    slots.sort(key=lambda slot: slot.start_hours)
    return Calendar(slots=tuple(slots), unplaced=tuple(unplaced), total=total)


def _end(cases: Sequence[tuple[float, float]]) -> float:
    return max((end for _start, end in cases), default=0.0)


def _items(campaign: Campaign, runs: Sequence[RunSpec]) -> tuple[list[_Item], list[Unplaced]]:
    items, unplaced = [], []
    for name, stage in campaign.stages.items():
        hours, holds = _duration(campaign.stages, stage)
        for run in [run.name for run in runs] if stage.each else [stage.run]:
            if hours is None:
                why = _("a part of {run}, and no stage says how long {run} takes").format(run=run)
                unplaced.append(Unplaced(stage=name, run=run, why=why))
                continue
            items.append(
                _Item(
                    stage=name,
                    run=run,
                    hours=hours,
                    holds=holds,
                    after=waits_for(campaign.stages, name),
                    decide=stage.decide,
                )
            )
    covered = {item.run for item in items if campaign.stages[item.stage].part is None}
    why = _("its duration is unknown: no stage is for this run")
    unplaced += [Unplaced(stage="run", run=run.name, why=why) for run in runs if run.name not in covered]
    return items, unplaced


def _duration(stages: Mapping[str, Stage], stage: Stage) -> tuple[Hours | None, str | None]:
    """Return how long a stage takes, and what it holds meanwhile."""
    if stage.person is not None:
        return stage.person, PERSON
    if stage.hours is not None:
        return stage.hours, _holds(stage)
    whole = next(
        (
            other
            for other in stages.values()
            if other.hours is not None and (other.run == stage.run or other.each is not None)
        ),
        None,
    )
    if whole is None or whole.hours is None or stage.part is None:
        return None, None
    hours = whole.hours
    part = Hours(hours.low * stage.part, hours.likely * stage.part, hours.high * stage.part)
    return part, _holds(stage) or _holds(whole)


def _holds(stage: Stage) -> str | None:
    return GPU if stage.gpu else CPU if stage.cpu else None


def _assign(items: Sequence[_Item], machines: int) -> list[_Placed]:
    """Choose order and lanes: always what can begin first; the order of the file breaks ties."""
    lanes = {GPU: [f"{GPU} {number}" for number in range(1, machines + 1)], CPU: [CPU], PERSON: [PERSON]}
    free = {lane: 0.0 for names in lanes.values() for lane in names}
    ends: dict[str, float] = {}
    waiting, placed = list(items), []
    while waiting:
        open_stages = {item.stage for item in waiting}
        best: tuple[float, int, _Item, str | None] | None = None
        for index, item in enumerate(waiting):
            if open_stages & set(item.after):
                continue
            ready = max([ends.get(stage, 0.0) for stage in item.after], default=0.0)
            lane = _lane({name: free[name] for name in lanes[item.holds]}, ready) if item.holds else None
            start = max(ready, free[lane] if lane else 0.0)
            if best is None or start < best[0]:
                best = (start, index, item, lane)
        assert best is not None, "stages that wait for each other are refused with the campaign file"
        start, index, item, lane = best
        del waiting[index]
        end = start + item.hours.likely
        ends[item.stage] = max(ends.get(item.stage, 0.0), end)
        if lane:
            free[lane] = end
        placed.append(_Placed(item=item, lane=lane))
    return placed


def _lane(free: Mapping[str, float], ready: float) -> str:
    """Choose the lane that is free first; of those that are free in time, the one that was used last."""
    return min(free, key=lambda name: (max(free[name], ready), -free[name]))


def _laid(placed: Sequence[_Placed], case: str) -> list[tuple[float, float]]:
    """Return start and end of each, for one of the three durations, with order and lanes as they are."""
    free: dict[str, float] = {}
    ends: dict[str, float] = {}
    times = []
    for one in placed:
        ready = max([ends.get(stage, 0.0) for stage in one.item.after], default=0.0)
        start = max(ready, free.get(one.lane, 0.0) if one.lane else 0.0)
        # Rounded to some microseconds, so that a plan does not show what binary fractions cannot hold.
        end = round(start + float(getattr(one.item.hours, case)), 9)
        ends[one.item.stage] = max(ends.get(one.item.stage, 0.0), end)
        if one.lane:
            free[one.lane] = end
        times.append((start, end))
    return times
