"""What a drill needs of home: the job as an order, the archive of its code, and a folder of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

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
from lastro.flow.freeze import Draft, draw_up
from lastro.flow.orders import Place, make_order
from lastro.flow.quick import quick_campaign
from lastro.locale import _
from lastro.paths import Disk, Home
from lastro.plan.build import Plan, PlannedRun
from lastro.plan.pilot import Pilot, pilot_of
from lastro.procs.killtree import end_tree
from lastro.providers.base import Machine, MachineState, Traits
from lastro.storage.snapshot import write_archive


@dataclass(frozen=True, kw_only=True)
class DrillWish:
    """What is to be drilled: a command in a folder, or a run of a campaign file.

    `every_steps`: so many updates lie between two saves of a job that attaches.
    """

    command: tuple[str, ...] | None
    folder: Path
    campaign_file: Path
    run: str | None = None
    checkpoints: str | None = None
    resume_arg: str | None = None
    every_steps: int = EVERY_STEPS


def drill_job(wish: DrillWish, home: Home, clock: Clock, effort: Effort, tell: Progress) -> DrillResult:
    """Drill a job on this computer, in copies of its code; the user's own folder is only read.

    Raises:
        LastroError: with the exit code of its kind.
    """
    draft, run, plan = _subject(wish, clock)
    key = hashlib.sha256(f"{draft.folder} {draft.plan.campaign} {run.name}".encode()).hexdigest()[:16]
    root = home.drill(key)
    with alone(root, _("another drill of this job is under way")):
        end_tree(marker_of(root))  # what a drill that was killed has left
        if root.exists():
            atomic.remove_tree(root)
        atomic.make_folder(root)
        archive = root / "code.tar"
        write_archive(draft.folder, _without_saves(draft), archive)
        order = make_order(draft.plan, run, _place(root, clock))
        assert order.code is not None
        links = {order.corpus.path: str(draft.folder / order.corpus.path)} if order.corpus else {}
        order = replace(order, code=replace(order.code, links=links), corpus=None)
        subject = Subject(order=order, archive=archive, every_steps=wish.every_steps)
        budget = budget_of(effort.budget_seconds, _pilot(wish, draft, run), full=effort.full)
        result = Drill(subject, root, effort, budget, tell).run()
        if result.exit_code:
            result = replace(result, folder=str(root))
        else:
            atomic.remove_tree(root)
    keep_drill(home, key, plan, run, result, clock)
    return result


def _subject(wish: DrillWish, clock: Clock) -> tuple[Draft, PlannedRun, Plan]:
    """Return the job with all files that a machine needs, and the plan that `lastro run` makes of it."""
    if wish.command is not None:
        there, here = (
            quick_campaign(
                wish.command,
                wish.folder,
                provider=provider,
                checkpoints=wish.checkpoints,
                resume_arg=wish.resume_arg,
            )
            for provider in ("local", "here")
        )
        draft = draw_up(there.loaded, clock, on="local")
        plan = draw_up(here.loaded, clock, on="here").plan
    else:
        draft = draw_up(wish.campaign_file, clock, on="local")
        plan = draft.plan
    runs = {run.name: run for run in draft.plan.runs}
    name = wish.run or next(iter(runs))
    if name not in runs:
        raise UsageError(
            _("there is no run {name} in this campaign").format(name=name),
            hint=_("its runs: {names}").format(names=", ".join(runs)),
        )
    return draft, runs[name], plan


def _pilot(wish: DrillWish, draft: Draft, run: PlannedRun) -> Pilot:
    if wish.command is not None:
        return Pilot(hours=None, why=_("a command alone has no plan, and so no pilot"))
    return pilot_of(draft.plan, draft.loaded.spec.stages, run.name)


def _without_saves(draft: Draft) -> Sequence[str]:
    """Leave out what the job has saved before: a life that begins must find nothing."""
    pattern = draft.plan.checkpoints
    if pattern is None:
        return draft.files
    return [
        name
        for name in draft.files
        if not any(part.match(pattern) for part in (PurePosixPath(name), *PurePosixPath(name).parents))
    ]


def _place(root: Path, clock: Clock) -> Place:
    machine = Machine(
        id="drill",
        node="drill",
        tag="drill",
        state=MachineState.RUNNING,
        workdir=root,
        created_at=clock.now(),
    )
    return Place(
        machine=machine,
        traits=Traits(creates=True, own_workdir=True, takes_faults=False),
        disk=Disk(root / "disk"),
        home_stream="drill",
        home_head="",
    )
