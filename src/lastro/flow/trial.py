"""Lets the user's own job make some updates on this machine: killed once, and gone on with in a new one."""

from __future__ import annotations

import hashlib
import os
import statistics
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lastro import atomic
from lastro.clock import Clock
from lastro.drill.arm import Arm, Subject, live_through, marker_of
from lastro.drill.trace import Life, Update
from lastro.errors import LastroError
from lastro.flow.alone import alone
from lastro.flow.freeze import draw_up
from lastro.flow.job_copy import Job, lend
from lastro.flow.small import ENVIRONMENT, tiny, with_environment
from lastro.locale import _
from lastro.paths import Home, RunFolder
from lastro.preflight import check as checks
from lastro.preflight import trial as judging
from lastro.preflight.budget import Yielded
from lastro.preflight.check import Finding, Level
from lastro.preflight.lock import Value
from lastro.preflight.run import Extra
from lastro.preflight.size import TRIAL_STEPS, Size
from lastro.preflight.trial import Trial
from lastro.probe.instructions import KILL, UPDATE, Instructions, Kill
from lastro.procs.killtree import end_tree
from lastro.records import dataclass
from lastro.spec.load import LoadedCampaign

#: Saves that a trial sees of a job that saves when it is told to.
_SAVES = 4
#: Of the step's time, what its lives may take; the rest is for beginning and for clearing up.
_FOR_LIVES = 0.85


@dataclass(frozen=True, kw_only=True)
class Trials:
    """What is tried: the first run of a campaign, as it is or, for `--cpu`, in small."""

    loaded: LoadedCampaign
    home: Home
    clock: Clock
    size: Size

    @property
    def name(self) -> str:
        """Of the figures in the lock: the small job has other losses."""
        return "trial_cpu" if self.size is Size.CPU else "trial"


def trial_of(trials: Trials) -> Extra:
    """Return the step of preflight that tries a campaign's job."""
    left = threading.Event()

    def work(
        subject: checks.Subject, seconds: float, locked: Mapping[str, Mapping[str, Value]]
    ) -> Iterable[Yielded]:
        try:
            trial = _try(
                trials, seconds * _FOR_LIVES, _computed_on(subject), bool(subject.driver.cards), left
            )
        except _Left:
            return []
        except LastroError as error:
            return [_not_tried(error)]
        return judging.judge(trial, trials.name, locked.get(trials.name))

    def leave() -> None:
        left.set()
        end_tree(marker_of(_root(trials)))

    return Extra(work=work, leave=leave)


class _Left(Exception):
    """Nobody waits for this trial any more."""


def _root(trials: Trials) -> Path:
    loaded = trials.loaded
    key = hashlib.sha256(f"{loaded.folder} {loaded.spec.campaign}".encode()).hexdigest()[:16]
    return trials.home.trial(key)


def _not_tried(error: LastroError) -> Finding:
    return Finding(
        code="trial",
        level=Level.FAIL,
        fact=_("trial of the job"),
        value=error.message,
        consequence=_("no run can start"),
        next_step=error.hint or _("`lastro run --smoke` shows all of it in small"),
    )


def _computed_on(subject: checks.Subject) -> str:
    """Return what has to be the same for the same bits."""
    cards = ", ".join(sorted({str(card.name) for card in subject.driver.cards}))
    place = cards or f"{subject.stack.cpu_model} x {subject.stack.cpu_count}"
    return f"{place}; torch {subject.versions.installed.get('torch')}"


def _try(trials: Trials, seconds: float, computed_on: str, on_card: bool, left: threading.Event) -> Trial:
    loaded, steps = trials.loaded, TRIAL_STEPS[trials.size]
    ends = time.monotonic() + seconds
    small = trials.size is Size.CPU
    with with_environment(ENVIRONMENT if small else {}):
        draft = draw_up(loaded, trials.clock, on="local", adapt=tiny if small else None)
        job = Job(draft=draft, run=draft.plan.runs[0], plan=draft.plan)
        root = _root(trials)
        with alone(root, _("another preflight tries this job")):
            end_tree(marker_of(root))  # what a trial that was killed has left
            if root.exists():
                atomic.remove_tree(root)
            atomic.make_folder(root)
            try:
                subject = _subject(job, root, steps, trials.clock, ENVIRONMENT if small else {})
                memory = _SharedMemory()
                arm = _live(subject, root, steps, ends - time.monotonic(), left, memory)
            finally:
                end_tree(marker_of(root))
                atomic.remove_tree(root)
    told = seen(arm, steps)
    return replace(told, run=job.run.id, computed_on=computed_on, on_card=on_card, shared=memory.told)


def _subject(job: Job, root: Path, steps: int, clock: Clock, environment: Mapping[str, str]) -> Subject:
    order, archive = lend(job, root, clock)
    order = replace(order, environment={**order.environment, **environment})
    return Subject(order=order, archive=archive, every_steps=_between_saves(steps))


def _between_saves(steps: int) -> int:
    return max(2, steps // _SAVES)


class _SharedMemory:
    """How much of /dev/shm is taken while somebody looks: where loader workers queue their batches."""

    def __init__(self) -> None:
        self._before = self._least = self._free()

    @staticmethod
    def _free() -> int | None:
        try:
            found = os.statvfs("/dev/shm")
        except OSError:
            return None
        return found.f_bavail * found.f_frsize

    def look(self) -> None:
        free = self._free()
        if free is not None and self._least is not None:
            self._least = min(self._least, free)

    @property
    def told(self) -> tuple[int, int] | None:
        """Bytes that were free before, and the most that were taken since."""
        if self._before is None or self._least is None:
            return None
        return self._before, self._before - self._least


def _live(
    subject: Subject,
    root: Path,
    steps: int,
    seconds: float,
    left: threading.Event,
    memory: _SharedMemory,
) -> Arm:
    every = _between_saves(steps)
    told = Instructions(
        until=steps,
        kills={1: Kill(KILL, UPDATE, 2 * every + every // 2 + 1)},
        pattern=subject.order.checkpoints,
    )

    def look(_run: RunFolder) -> None:
        memory.look()
        if left.is_set():
            raise _Left

    return live_through(subject, "trial", told, root, seconds=max(1.0, seconds), look=look)


def seen(arm: Arm, wanted: int) -> Trial:
    """Return what the lives of an arm have shown. Pure."""
    lives = [life for life in arm.lives if life.updates]
    first = lives[0].updates if lives else ()
    later = [update for life in lives[1:] for update in life.updates]
    losses = _losses([*later, *first])
    # A job that attaches tells what it restored; of any other, where its updates go on.
    restored = [life.resumed_at for life in lives[1:] if life.resumed_at > 0]
    return Trial(
        wanted=wanted,
        losses=losses,
        again={step: loss for step, loss in _losses(later).items() if step in _losses(first)},
        updates=max((update.step for life in lives for update in life.updates), default=0),
        restored_at=restored[0] if restored else None,
        second=len(lives) > 1,
        seconds=_pace(lives),
        wait_share=_wait_share(lives),
        failure=None if arm.over else arm.failure,
        over=arm.over,
    )


def _losses(updates: Sequence[Update]) -> dict[int, float]:
    return {update.step: sum(update.losses) for update in updates if update.losses}


def _intervals(lives: Sequence[Life]) -> Iterator[tuple[float, Update]]:
    """Give each update but the first of a life, with the seconds since the one before."""
    for life in lives:
        for before, update in zip(life.updates, life.updates[1:], strict=False):
            yield update.mono - before.mono, update


def _pace(lives: Sequence[Life]) -> float | None:
    seconds = [between for between, _update in _intervals(lives)]
    return statistics.median(seconds) if seconds else None


def _wait_share(lives: Sequence[Life]) -> float | None:
    pairs = [(between, sum(update.waits)) for between, update in _intervals(lives) if update.waits]
    total = sum(between for between, _waited in pairs)
    return min(1.0, sum(waited for _between, waited in pairs) / total) if total > 0 else None
