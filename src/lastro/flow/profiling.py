"""Looks into a job's loop: one short life, in a copy of its code, with a watch between loop and loader."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lastro import atomic, probe, strictjson
from lastro.clock import Clock
from lastro.errors import UsageError
from lastro.flow.alone import alone
from lastro.flow.job_copy import JobWish, find_job, lend
from lastro.journal.events import EventType
from lastro.journal.streams import read_stream
from lastro.locale import _
from lastro.paths import CampaignFolder, Disk, Home, RunFolder, stream_of_attempt
from lastro.preflight.profile.result import Profile, profile_of
from lastro.probe.profiling import VARIABLE
from lastro.procs.killtree import end_tree
from lastro.providers.environment import with_interpreter
from lastro.records import dataclass
from lastro.rules import CheckpointPolicy, End, Order, RestartPolicy

#: Marks everything that a profile has started, with its folder: so nothing of it stays.
MARK = "LASTRO_PROFILED"
#: A save in the middle would be booked to the computing.
_NEVER = 10**9
_LOOK_EVERY = 0.05


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How long to look.

    At least so many batches in each part, and up to `most` while their mean is not sure, unless they take
    longer than `part_seconds`. The job is ended after `seconds`, whatever was seen by then.
    """

    batches: int = 25
    most: int = 150
    part_seconds: float = 15.0
    seconds: float = 300.0


def profile_job(
    wish: JobWish, home: Home, clock: Clock, effort: Effort, tell: Callable[[str], None]
) -> Profile:
    """Profile a job on this computer, in a copy of its code; the user's own folder is only read.

    Raises:
        LastroError: with the exit code of its kind.
    """
    job = find_job(wish, clock)
    key = hashlib.sha256(f"{job.draft.folder} {job.plan.campaign} {job.run.name}".encode()).hexdigest()[:16]
    root = home.profile(key)
    with alone(root, _("another profile of this job is under way")):
        end_tree(_marker(root))  # what a profile that was killed has left
        if root.exists():
            atomic.remove_tree(root)
        atomic.make_folder(root)
        order, archive = lend(job, root, clock)
        tell(_("one life of {run}, in a copy of its code").format(run=job.run.name))
        told, ended = _live(order, archive, root, effort)
        profile = profile_of(told, ended)
        atomic.remove_tree(root)
    return profile


def workers_to_try(cpus: int) -> tuple[int, ...]:
    """Return the numbers of workers that a loader is tried with: doubled, up to what the machine has."""
    return tuple(count for power in range(6) if (count := 2**power) <= cpus)


def _marker(root: Path) -> tuple[str, str]:
    return (MARK, str(root))


def _live(
    order: Order, archive: Path, root: Path, effort: Effort
) -> tuple[Mapping[str, Any] | None, str | None]:
    """Let the job live until it was looked into. Returns what was seen, and why it ended without that."""
    out, told = root / "seen.json", root / "profile.json"
    cpus = len(os.sched_getaffinity(0))
    asked = {
        "out": str(out),
        "batches": effort.batches,
        "most": effort.most,
        "seconds": effort.part_seconds,
        "workers": list(workers_to_try(cpus)),
    }
    atomic.write_text(told, strictjson.pretty(asked))
    run = Disk(root / "disk").campaign("profile").run(order.run)
    assert order.code is not None
    atomic.make_folder(run.root / "code")
    shutil.copyfile(archive, run.code(order.code.digest))
    atomic.write_text(run.order, strictjson.pretty(_order(order, run, root, told).as_json()))
    over = _supervise(run, root, out, effort.seconds)
    if out.exists():
        return strictjson.loads(out.read_bytes()), None
    if over:
        why = _("the job was ended after {seconds:.0f} s, before enough batches were seen")
        return None, why.format(seconds=effort.seconds)
    return None, _failure(run)


def _order(order: Order, run: RunFolder, root: Path, told: Path) -> Order:
    site = Path(str(probe.__file__)).parent / "site"
    before = order.environment.get("PYTHONPATH", os.environ.get("PYTHONPATH"))
    return replace(
        order,
        campaign="profile",
        workdir=str(root / "work"),
        campaign_folder=str(run.root.parent.parent),
        machine="profile",
        environment={
            **order.environment,
            VARIABLE: str(told),
            "PYTHONPATH": os.pathsep.join([str(site), *filter(None, [before])]),
            **dict([_marker(root)]),
        },
        checkpoint=CheckpointPolicy(every_steps=_NEVER),
        restart=RestartPolicy(starts_without_progress=1),
        stop=(),
    )


def _supervise(run: RunFolder, root: Path, out: Path, seconds: float) -> bool:
    """Carry out the order until it was seen enough; says whether the time was over before."""
    marker, deadline = _marker(root), time.monotonic() + seconds
    environment = {**with_interpreter(os.environ), marker[0]: marker[1]}
    command = [sys.executable, "-m", "lastro.run", str(run.root)]
    with (root / "profile.log").open("ab") as log:
        process = subprocess.Popen(
            command, cwd=run.root, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True,
        )  # fmt: skip
        try:
            while process.poll() is None and not out.exists() and time.monotonic() < deadline:
                time.sleep(_LOOK_EVERY)
            return process.poll() is None and not out.exists()
        finally:
            end_tree(marker)
            process.wait()


def _failure(run: RunFolder) -> str | None:
    """Return why the job ended before it was looked into, in words; None when it came to its end.

    Raises:
        UsageError: it could not be started at all.
    """
    campaign = CampaignFolder(run.root.parent.parent)
    stream = campaign.stream(stream_of_attempt(run.root.name, 1))
    if not stream.exists():
        raise UsageError(
            _("the job could not be started"),
            hint=_("try `lastro run` first: a profile needs a job that runs"),
        )
    ended = [event for event in read_stream(stream).events if event.type is EventType.ATTEMPT_ENDED]
    if not ended or ended[-1].facts["cause"]["end"] == End.DONE.value:
        return None
    lines = run.attempt(1).log.read_text(errors="replace").strip().splitlines()[-1:]
    return _("the job failed before it was looked into: {why}").format(
        why="; ".join([str(ended[-1].facts["cause"]["why"]), *(line.strip()[:200] for line in lines)])
    )
