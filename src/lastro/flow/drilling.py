"""What a drill needs of home: the job as an order, the archive of its code, and a folder of its own."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from lastro import atomic
from lastro.clock import Clock
from lastro.drill.arm import Subject, marker_of
from lastro.drill.budget import budget_of
from lastro.drill.drill import EVERY_STEPS, Drill, Effort
from lastro.drill.progress import Progress
from lastro.drill.verdict import DrillResult
from lastro.flow.alone import alone
from lastro.flow.drills import keep_drill
from lastro.flow.freeze import Draft
from lastro.flow.job_copy import JobWish, find_job, lend
from lastro.locale import _
from lastro.paths import Home
from lastro.plan.build import PlannedRun
from lastro.plan.pilot import Pilot, pilot_of
from lastro.procs.killtree import end_tree


@dataclass(frozen=True, kw_only=True)
class DrillWish(JobWish):
    """What is to be drilled. `every_steps`: so many updates lie between two saves of a job that attaches."""

    every_steps: int = EVERY_STEPS


def drill_job(wish: DrillWish, home: Home, clock: Clock, effort: Effort, tell: Progress) -> DrillResult:
    """Drill a job on this computer, in copies of its code; the user's own folder is only read.

    Raises:
        LastroError: with the exit code of its kind.
    """
    job = find_job(wish, clock)
    draft, run, plan = job.draft, job.run, job.plan
    key = hashlib.sha256(f"{draft.folder} {draft.plan.campaign} {run.name}".encode()).hexdigest()[:16]
    root = home.drill(key)
    with alone(root, _("another drill of this job is under way")):
        end_tree(marker_of(root))  # what a drill that was killed has left
        if root.exists():
            atomic.remove_tree(root)
        atomic.make_folder(root)
        order, archive = lend(job, root, clock)
        subject = Subject(order=order, archive=archive, every_steps=wish.every_steps)
        budget = budget_of(effort.budget_seconds, _pilot(wish, draft, run), full=effort.full)
        result = Drill(subject, root, effort, budget, tell).run()
        if result.exit_code:
            result = replace(result, folder=str(root))
        else:
            atomic.remove_tree(root)
    keep_drill(home, key, plan, run, result, clock)
    return result


def _pilot(wish: DrillWish, draft: Draft, run: PlannedRun) -> Pilot:
    if wish.command is not None:
        return Pilot(hours=None, why=_("a command alone has no plan, and so no pilot"))
    return pilot_of(draft.plan, draft.loaded.spec.stages, run.name)
