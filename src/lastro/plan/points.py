"""The decision points of a plan: after which work a person decides, and what waits for that. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from lastro.plan.parts import Slot
from lastro.records import dataclass
from lastro.spec.campaign import Campaign, RunSpec, waits_for
from lastro.spec.stage import Stage

#: Starts on request only, so nothing waits for it.
EXPLORATORY = "exploratory"


@dataclass(frozen=True, kw_only=True)
class Share:
    """What one run does before a decision.

    `hours`: of work, over all its attempts; None: to its end. `steps`: how many the whole run has; None:
    nobody has said so.
    """

    run: str
    hours: float | None
    steps: int | None = None


@dataclass(frozen=True, kw_only=True)
class DecisionPoint:
    """A stage after which a person decides.

    `shares`: the work that has to be done before. `holds`: names of the runs that begin after the decision
    only; those of `shares` go on after it.
    """

    stage: str
    shares: tuple[Share, ...]
    holds: tuple[str, ...]

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> DecisionPoint:
        """Read what stands in `plan.json`."""
        shares = tuple(Share(**share) for share in value["shares"])
        return cls(stage=value["stage"], shares=shares, holds=tuple(value["holds"]))


def decision_points(campaign: Campaign, slots: Sequence[Slot]) -> tuple[DecisionPoint, ...]:
    """Return the points of a campaign in the order of its file.

    A run has to work for as long as its stages up to the point are likely to take, when more of it follows
    after the point: these were its pilot. Otherwise it has to end. A run that no stage names, and one of
    which a stage comes after the point, is held; what has nothing to do with the point is not.

    Args:
        campaign: its stages; `part`, `hours` and the order say what a pilot is.
        slots: the calendar, for the likely hours; a pilot that is not on it has no length: it is to its end.
    """
    return tuple(_point(campaign, name, slots) for name, stage in campaign.stages.items() if stage.decide)


def _point(campaign: Campaign, name: str, slots: Sequence[Slot]) -> DecisionPoint:
    stages = campaign.stages
    before = {name, *_all_before(stages, name)}
    after = {other for other in stages if name in _all_before(stages, other)}
    shares, holds = [], []
    for run in campaign.runs():
        mine = {other for other, stage in stages.items() if _is_for(stage, run)}
        if mine & before and run.priority != EXPLORATORY:
            goes_on = bool(mine & after)
            hours = _hours(slots, mine & before, run) if goes_on else None
            shares.append(Share(run=run.name, hours=hours, steps=whole_steps(campaign, run)))
        elif mine & (before | after) or not mine:
            holds.append(run.name)
    return DecisionPoint(stage=name, shares=tuple(shares), holds=tuple(holds))


def _all_before(stages: Mapping[str, Stage], name: str) -> frozenset[str]:
    """Return every stage that one waits for, at whatever distance."""
    found: set[str] = set()
    waiting = [*waits_for(stages, name)]
    while waiting:
        other = waiting.pop()
        if other not in found:
            found.add(other)
            waiting += waits_for(stages, other)
    return frozenset(found)


def whole_steps(campaign: Campaign, run: RunSpec) -> int | None:
    """Return how many steps a run has in all, as its stages say; the first that says so counts."""
    told = (stage.steps for stage in campaign.stages.values() if _is_for(stage, run))
    return next((steps for steps in told if steps is not None), None)


def _is_for(stage: Stage, run: RunSpec) -> bool:
    return stage.each is not None or stage.run == run.name


def _hours(slots: Sequence[Slot], stages: Collection[str], run: RunSpec) -> float | None:
    mine = [
        slot.end_hours - slot.start_hours for slot in slots if slot.stage in stages and slot.run == run.name
    ]
    return round(sum(mine), 9) if mine else None
