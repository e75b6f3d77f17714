"""How long the pilot of a run is, as its plan says. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from lastro.locale import _
from lastro.plan.findings_of_design import does
from lastro.plan.model import Plan
from lastro.records import dataclass
from lastro.spec.stage import Stage


@dataclass(frozen=True, kw_only=True)
class Pilot:
    """Hours of a pilot, and where they come from. `hours` None: nothing says so, and `why` says that."""

    hours: float | None
    why: str


def pilot_of(plan: Plan, stages: Mapping[str, Stage], run: str) -> Pilot:
    """Return what a run does before a person decides about the rest of it; else the stage that is a pilot.

    Args:
        plan: its calendar has the likely hours.
        stages: of the campaign, which say what each is for.
        run: its name. A campaign often has one pilot, of its control, which is then that of every run.
    """
    for point in plan.decision_points:
        for share in point.shares:
            if share.run == run and share.hours:
                why = _("what {run} does before the decision after {stage}")
                return Pilot(hours=share.hours, why=why.format(run=run, stage=point.stage))
    pilots = {name for name, stage in stages.items() if does(name, stage, "pilot")}
    slots = [slot for slot in plan.calendar if slot.stage in pilots and slot.end_hours > slot.start_hours]
    own = [slot for slot in slots if slot.run == run] or slots
    if not own:
        return Pilot(hours=None, why=_("no stage of the plan is a pilot"))
    longest = max(own, key=lambda slot: slot.end_hours - slot.start_hours)
    hours = round(longest.end_hours - longest.start_hours, 9)
    return Pilot(hours=hours, why=_("the stage {stage}").format(stage=longest.name))
