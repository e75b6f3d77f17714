"""What a drill needs of home: the job as an order, the archive of its code, and a folder of its own."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lastro import atomic
from lastro.clock import Clock
from lastro.drill.arm import Subject, marker_of
from lastro.drill.budget import budget_of
from lastro.drill.drill import EVERY_STEPS, Drill, Effort
from lastro.drill.progress import Progress
from lastro.drill.verdict import DrillResult
from lastro.errors import UsageError
from lastro.flow.alone import alone
from lastro.flow.drills import keep_drill
from lastro.flow.freeze import Draft
from lastro.flow.job_copy import JobWish, find_job, lend
from lastro.locale import _
from lastro.paths import Home
from lastro.plan.model import PlannedRun
from lastro.plan.pilot import Pilot, pilot_of
from lastro.procs.killtree import end_tree
from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class DrillWish(JobWish):
    """What is to be drilled. `every_steps`: so many updates lie between two saves of a job that attaches."""

    every_steps: int = EVERY_STEPS


def drill_job(wish: DrillWish, home: Home, clock: Clock, effort: Effort, tell: Progress) -> DrillResult:
    """Drill a job on this computer, in copies of its code; the user's own folder is only read.

    Raises:
        LastroError: with the exit code of its kind.
    """
    if wish.command is not None:
        _require_program(wish.command, wish.folder)
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
        try:
            result = Drill(subject, root, effort, budget, tell).run()
        except KeyboardInterrupt:
            atomic.remove_tree(root)  # half a drill proves nothing
            raise
        if result.exit_code:
            result = replace(result, folder=str(root))
        else:
            atomic.remove_tree(root)
    keep_drill(home, key, plan, run, result, clock)
    return result


def _require_program(command: Sequence[str], folder: Path) -> None:
    """See that the command can begin at all: that is no question for a drill. A line for the shell may.

    Raises:
        UsageError: its program, or its script, is not there.
    """
    if not command or (len(command) == 1 and re.search(r"\s", command[0])):
        return
    program, script = command[0], command[1] if len(command) > 1 else ""
    missing = None
    if shutil.which(program, path=f"{folder}{os.pathsep}{os.environ.get('PATH', '')}") is None:
        missing = program if "=" not in program else None  # a variable that is set for the program
    elif Path(program).name.startswith("python") and script.endswith(".py"):
        missing = None if (folder / script).is_file() else script
    if missing is not None:
        raise UsageError(
            _("there is no {name} in {folder}, nor a program of that name").format(
                name=missing, folder=folder
            ),
            hint=_("type the command as it works in this folder without `lastro drill --`"),
        )


def _pilot(wish: DrillWish, draft: Draft, run: PlannedRun) -> Pilot:
    if wish.command is not None:
        return Pilot(hours=None, why=_("a command alone has no plan, and so no pilot"))
    return pilot_of(draft.plan, draft.loaded.spec.stages, run.name)
