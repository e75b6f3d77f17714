"""Where runs may go on, and where a machine is taken next, in a campaign on several computers.

A computer that goes takes its disk along. So a run that has saved goes on where its checkpoints are: on its
last computer, or anywhere once home has a copy of one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from lastro.checkpoint.store import committed, names
from lastro.journal.views import CampaignView, RunView
from lastro.paths import CampaignFolder
from lastro.plan.model import Plan


def bound_runs(plan: Plan, view: CampaignView, copy: CampaignFolder) -> Mapping[str, str]:
    """Return the runs that can go on at one place only, with that place.

    What was published item by item stays with its computer; so does what has saved, until home's copy of the
    campaign holds a whole checkpoint of it.
    """
    places = {machine.id: machine.provider for machine in view.machines if machine.id is not None}
    bound = {}
    for run in view.runs:
        place = places.get(run.attempts[-1].machine) if run.attempts else None
        if place is not None and _has_to_stay(plan, run, copy):
            bound[run.id] = place
    return bound


def _has_to_stay(plan: Plan, run: RunView, copy: CampaignFolder) -> bool:
    if plan.resume == "rerun":
        return False
    if plan.resume == "items":
        return True
    if all(life.committed_step is None for life in run.attempts):
        return False
    return all(isinstance(committed(path), str) for path in names(copy.run(run.id).checkpoints))


def next_place(
    places: Sequence[str], taken: Collection[str], shut: Collection[str], needed: Collection[str]
) -> str | None:
    """Return where the next machine is taken; None: nowhere now.

    Args:
        places: all there are, in the order in which they are taken.
        taken: those that have a machine of this campaign.
        shut: those that had none to give a short while ago.
        needed: those that a waiting run has to go on at.
    """
    free = [place for place in places if place not in taken and place not in shut]
    first = [place for place in free if place in needed]
    return next(iter(first or free), None)
