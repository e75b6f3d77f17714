"""A job as it may be run beside everything else: its order, and its code in an archive.

Nothing of it is changed: a drill and a profile start it in copies, so the user's own folder is only read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from lastro.clock import Clock
from lastro.errors import UsageError
from lastro.flow.freeze import Draft, draw_up
from lastro.flow.orders import Place, make_order
from lastro.flow.quick import quick_campaign
from lastro.locale import _
from lastro.paths import Disk
from lastro.plan.model import Plan, PlannedRun
from lastro.providers.base import Machine, MachineState, Traits
from lastro.records import dataclass
from lastro.rules import Order
from lastro.storage.snapshot import write_archive


@dataclass(frozen=True, kw_only=True)
class JobWish:
    """Which job is meant: a command in a folder, or a run of a campaign file (None: its first)."""

    command: tuple[str, ...] | None
    folder: Path
    campaign_file: Path
    run: str | None = None
    checkpoints: str | None = None
    resume_arg: str | None = None


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job. `draft`: with all files that a machine needs; `plan`: as `lastro run` would make it."""

    draft: Draft
    run: PlannedRun
    plan: Plan


def find_job(wish: JobWish, clock: Clock) -> Job:
    """Return the job that is meant. Raises LastroError where there is none, or what names it is wrong."""
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
    return Job(draft=draft, run=runs[name], plan=plan)


def lend(job: Job, root: Path, clock: Clock) -> tuple[Order, Path]:
    """Write the archive of a job's code into a folder; return the order for it, and the archive.

    The corpus is not copied: it is linked from where it lies.
    """
    draft, archive = job.draft, root / "code.tar"
    write_archive(draft.folder, _without_saves(draft), archive)
    order = make_order(draft.plan, job.run, _place(root, clock))
    assert order.code is not None
    links = {order.corpus.path: str(draft.folder / order.corpus.path)} if order.corpus else {}
    return replace(order, code=replace(order.code, links=links), corpus=None), archive


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
        id="copy",
        node="copy",
        tag="copy",
        state=MachineState.RUNNING,
        workdir=root,
        created_at=clock.now(),
    )
    return Place(
        machine=machine,
        traits=Traits(creates=True, own_workdir=True, takes_faults=False),
        disk=Disk(root / "disk"),
        home_stream="copy",
        home_head="",
    )
