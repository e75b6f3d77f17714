"""Runs the checks, each step within its budget, and sums them up."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from lastro.clock import Clock, SystemClock, iso
from lastro.errors import PreflightFailed
from lastro.locale import _
from lastro.preflight import (
    command,
    descriptors,
    disk_kind,
    disk_space,
    disk_write,
    gpu_cards,
    gpu_driver,
    gpu_heat,
    gpu_link,
    gpu_memory_errors,
    gpu_processes,
    gpu_visible,
    image,
    isolation,
    memory,
    origins,
    packages,
    python_version,
    shared_memory,
    size,
)
from lastro.preflight.budget import Step, Yielded, take
from lastro.preflight.burn.check import SPARE_SECONDS, run_steps
from lastro.preflight.burn.judge import PACES, judge_burn, judge_paces
from lastro.preflight.burn.steps import burn_steps
from lastro.preflight.check import Check, Finding, Level, Offered, Subject, verdict_of
from lastro.preflight.interpreter import ask_versions
from lastro.preflight.io_soak import soak
from lastro.preflight.launch import dtypes_of, launch
from lastro.preflight.lock import Answer, Reading, State, Value, read_lock
from lastro.preflight.lock_drift import judge_drift, judge_reading
from lastro.preflight.machine_facts import facts_of, kind_of
from lastro.preflight.size import BUDGETS, Due, Size
from lastro.preflight.speed import check as speed
from lastro.preflight.watch import Watch
from lastro.preflight.watch import judge as judge_watched
from lastro.records import dataclass
from lastro.spec.campaign import Campaign
from lastro.stack import Stack, capture, with_driver
from lastro.stack.driver import DEADLINE_SECONDS, NO_LIBRARY, SILENT, Asking, Driver

#: A driver has its deadline from the moment in which somebody asked for a verdict, and this at least: a
#: command that was slow to start says nothing of the driver. Healthy ones answer within a second; assumed.
LEAST_DRIVER_SECONDS = 3.0

#: Every check of the host, in the order of the report.
CHECKS: tuple[Check, ...] = (
    command.check,
    python_version.check,
    packages.check,
    isolation.check,
    memory.check,
    shared_memory.check,
    descriptors.check,
    disk_space.check,
    disk_write.check,
    disk_kind.check,
    image.check,
)
#: Every check of what the driver says.
DRIVER_CHECKS: tuple[Check, ...] = (
    gpu_driver.check,
    gpu_cards.check,
    gpu_visible.check,
    gpu_processes.check,
    gpu_memory_errors.check,
    gpu_heat.check,
    gpu_link.check,
)


@dataclass(frozen=True)
class Extra:
    """A step that needs more than this room knows.

    `work` is given the subject, the seconds that it has, and figures that are locked. `leave`: see `take`.
    """

    work: Callable[[Subject, float, Mapping[str, Mapping[str, Value]]], Iterable[Yielded]]
    leave: Callable[[], None] = lambda: None


@dataclass(frozen=True, kw_only=True)
class Scope:
    """How a machine is checked.

    Args:
        due: the size, and why it is this one.
        extras: further steps, by their names in `size`; one that is not there is not taken.
        relock: the lock is to be made anew, so it is not compared.
    """

    due: Due
    extras: Mapping[str, Extra] = field(default_factory=dict)
    relock: bool = False


#: Without anything that was asked for: this box, shortly.
def _usual() -> Scope:
    return Scope(due=Due(size=Size.CANARY, why=_("nothing else was asked for")))


@dataclass(frozen=True, kw_only=True)
class Report:
    """What preflight found. `seconds`: how long it took. `answer`: what a machine that has passed locks."""

    verdict: Level
    findings: tuple[Finding, ...]
    stack: Stack
    seconds: float
    due: Due
    steps: tuple[Step, ...]
    kind: str
    answer: Answer
    reading: Reading

    @property
    def node_id(self) -> str:
        return self.stack.node

    @property
    def budget_seconds(self) -> float:
        """The most that all steps of this size take together."""
        return size.seconds_of(self.due.size)

    @property
    def failed(self) -> tuple[Finding, ...]:
        """The findings because of which the machine must not be trusted."""
        return tuple(finding for finding in self.findings if finding.forbids)

    @property
    def summary(self) -> str:
        """What is not well, in one line; empty when all is."""
        told = [finding for finding in self.findings if finding.forbids or finding.level is Level.WARN]
        return "; ".join(finding.text for finding in told)

    def as_json(self) -> dict[str, Any]:
        """Return the report; its keys are the facts of the event `preflight.done` too."""
        return {
            "verdict": self.verdict.value,
            "summary": self.summary,
            "findings": [finding.as_json() for finding in self.findings],
            "stack": self.stack.as_json(),
            "node_id": self.node_id,
            "size": self.due.size.value,
            "size_why": self.due.why,
            "budget_s": self.budget_seconds,
            "seconds": self.seconds,
            "steps": [
                {"name": step.name, "budget_s": step.budget_seconds, "seconds": step.seconds}
                for step in self.steps
            ],
            "measured": {one.name: dict(one.values) for step in self.steps for one in step.measured},
            "lock": self.reading.digest if self.reading.state is State.READ else None,
        }

    def require_trust(self) -> None:
        """Raise PreflightFailed, naming what failed, when the machine must not be trusted."""
        if self.failed:
            steps = [finding.next_step for finding in self.failed if finding.next_step]
            raise PreflightFailed(
                "; ".join(finding.text for finding in self.failed), hint="; ".join(steps) or None
            )


def preflight(campaign: Campaign, folder: Path, disk: Path) -> Report:
    """Check this box for a campaign, shortly. Writes only into places on the disk that it removes again.

    Args:
        campaign: what is to run here.
        folder: the folder of the campaign file, where the command starts and its lock lies.
        disk: where everything of value will be kept; it need not be there yet.
    """
    return examine(
        look(campaign, folder, disk), read_lock(folder, campaign.campaign), _usual(), SystemClock()
    )


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What the checks look at, and the step that was taken while the driver was asked."""

    subject: Subject
    host: Step


def examine(looked: Looked, reading: Reading, scope: Scope, clock: Clock) -> Report:
    """Take the steps of a size, and sum them up.

    Args:
        looked: what is looked at.
        reading: the lock beside the campaign file.
        scope: how much, and how.
        clock: for the day of the lock.
    """
    began, subject = time.monotonic(), looked.subject
    steps = (looked.host, *_steps(subject, reading, scope))
    findings = tuple(finding for step in steps for finding in step.findings)
    return Report(
        verdict=verdict_of(findings),
        findings=findings,
        stack=subject.stack,
        seconds=round(time.monotonic() - began + subject.look_seconds, 3),
        due=scope.due,
        steps=steps,
        kind=kind_of(subject),
        answer=Answer(
            at=iso(clock.now()),
            node_id=subject.stack.node,
            facts=facts_of(subject),
            measured={one.name: one.values for step in steps for one in step.measured},
        ),
        reading=reading,
    )


def look(
    campaign: Campaign,
    folder: Path,
    disk: Path,
    *,
    offered: Offered | None = None,
    cpu_only: bool = False,
    rehearsal: bool = False,
    began: float | None = None,
) -> Looked:
    """Gather what the checks look at, and check the host.

    The driver is asked meanwhile, in a child with a deadline of its own: where it hangs, nothing else is left
    to be done when its time is over.

    Args:
        campaign: what is to run here.
        folder: of the campaign file.
        disk: where everything of value will be kept.
        offered: what the lease says of the machine's GPUs; None: nothing is rented.
        cpu_only: ask for no GPU.
        rehearsal: the machine is a process of this box, so nothing beyond the box is asked for.
        began: when somebody asked for it, on the monotonic clock; None: now.
    """
    began = time.monotonic() if began is None else began
    asking = None if cpu_only else Asking(driver_seconds(time.monotonic() - began))
    wanted = packages.wanted_packages(campaign.want)
    runs = campaign.runs()
    unasked = Driver(state=NO_LIBRARY)
    subject = Subject(
        stack=capture(wanted, unasked),
        versions=ask_versions(runs[0].argv, folder, wanted),
        command=runs[0].argv,
        workdir=folder,
        disk=disk.absolute(),
        want=dict(campaign.want),
        corpus_bytes=_corpus_bytes(folder / campaign.corpus.path) if campaign.corpus else None,
        setup=campaign.setup,
        driver=unasked,
        offered=offered,
        cpu_only=cpu_only,
        dtypes=dtypes_of([run.config for run in runs]),
        origins=() if rehearsal or cpu_only else origins.origins_of(campaign, os.environ),
        image=os.environ.get(image.VARIABLE),
        images={name: plan_b.image for name, plan_b in campaign.plan_b.items() if plan_b.image},
        environment=dict(os.environ),
    )
    before = time.monotonic() - began
    host = take(size.HOST, max(1.0, size.HOST_SECONDS - before), lambda: _all(CHECKS, subject))
    host = replace(host, budget_seconds=size.HOST_SECONDS, seconds=round(host.seconds + before, 3))
    driver = unasked if asking is None else asking.answer()
    subject = replace(
        subject,
        driver=driver,
        stack=with_driver(subject.stack, driver),
        look_seconds=time.monotonic() - began,
    )
    return Looked(subject=subject, host=host)


def driver_seconds(gone: float) -> float:
    """Return how long a driver is waited for, so many seconds after somebody has asked for a verdict."""
    return max(LEAST_DRIVER_SECONDS, DEADLINE_SECONDS - gone)


def _steps(subject: Subject, reading: Reading, scope: Scope) -> Iterator[Step]:
    """Take the steps of a size, in order, after that of the host."""
    locked = _locked(reading, subject, scope)
    measured = locked.measured if locked is not None else {}
    works: dict[str, Callable[[float], Iterable[Yielded]]] = {
        size.DRIVER: lambda _seconds: _all(DRIVER_CHECKS, subject),
        size.LOCK: lambda _seconds: _lock(reading, locked, subject, scope),
        size.IO: lambda seconds: soak(subject.disk, seconds * 0.8, measured),
    }
    if subject.origins:
        works[size.REACH] = lambda _seconds: origins.check(subject)
    if subject.cpu_only or subject.driver.cards:
        works[size.LAUNCH] = lambda seconds: launch(subject, seconds * 0.9)
    for name, extra in scope.extras.items():
        works[name] = lambda seconds, extra=extra: extra.work(subject, seconds, measured)  # type: ignore[misc]
    if subject.driver.cards:
        works[size.BURN] = lambda seconds: _burn(subject, seconds, measured)
        works[size.SPEED] = lambda seconds: speed.check(subject, seconds * 0.9)
        watch = Watch()
        works[size.WATCH] = lambda _seconds: judge_watched(watch.end(), subject.driver.cards)
    budgets = {name: budget for name, budget in BUDGETS[scope.due.size].items() if name in works}
    if subject.driver.state == SILENT:
        # The verdict is certain, and who waits for it is paying; what follows may hang in the same driver.
        left_out = [name for name in budgets if name not in (size.DRIVER, size.LOCK)]
        works[size.DRIVER] = lambda _seconds: (*_all(DRIVER_CHECKS, subject), *_left_out(left_out))
        budgets = {name: budget for name, budget in budgets.items() if name not in left_out}
    # What was asked while looking is a part of the step that judges it.
    before = {size.DRIVER: subject.driver.seconds}
    began, most = time.monotonic() - subject.look_seconds, size.seconds_of(scope.due.size)
    for name, budget in budgets.items():
        # The last one has what the others left over: a job that starts slowly is no fault of its machine.
        seconds = max(1.0, most - (time.monotonic() - began)) if name == size.TRIAL else budget
        leave = scope.extras[name].leave if name in scope.extras else lambda: None
        step = take(name, round(seconds, 1), functools.partial(works[name], seconds), leave)
        yield replace(step, seconds=round(step.seconds + before.get(name, 0.0), 3))


def _all(checks: Sequence[Check], subject: Subject) -> Iterator[Finding]:
    for check in checks:
        yield from check(subject)


def _left_out(names: Sequence[str]) -> Iterator[Finding]:
    """Say which steps are not taken where a driver hangs: not asked is not the same as well."""
    if names:
        yield Finding(
            code="step",
            level=Level.NO_ANSWER,
            fact=_("steps {names}").format(names=", ".join(names)),
            value=_("not taken: the driver hangs, so the verdict is certain without them"),
        )


def _burn(subject: Subject, seconds: float, locked: Mapping[str, Mapping[str, Value]]) -> Iterator[Yielded]:
    """Let every card work for as long as the step has, less what beginning and ending take."""
    steps = burn_steps(len(subject.driver.cards), subject.dtypes, seconds - SPARE_SECONDS)
    told = run_steps(subject.versions.path, steps, seconds - 5.0)
    if isinstance(told, str):
        yield Finding(code="burn", level=Level.NO_ANSWER, fact=_("burn-in"), value=told)
        return
    yield from judge_burn(steps, told)
    yield from judge_paces(told, locked.get(PACES))


def _locked(reading: Reading, subject: Subject, scope: Scope) -> Answer | None:
    """Return what this machine is compared with; None where nothing of its kind is locked."""
    if scope.relock or reading.lock is None or reading.state is State.FOREIGN:
        return None
    return reading.lock.answers.get(kind_of(subject))


def _lock(reading: Reading, locked: Answer | None, subject: Subject, scope: Scope) -> Iterator[Finding]:
    if scope.relock:
        return
    yield from judge_reading(reading, kind=kind_of(subject))
    if locked is not None:
        yield from judge_drift(locked, facts_of(subject), subject.want)


def _corpus_bytes(path: Path) -> int | None:
    try:
        if path.is_dir():
            return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        return path.stat().st_size
    except OSError:
        return None


def unwell(report: Report) -> str:
    """Return the line that says how many checks were not well, and how many could not be asked."""
    count = len(report.findings)
    bad = sum(1 for finding in report.findings if finding.forbids or finding.level is Level.WARN)
    silent = sum(1 for one in report.findings if one.level is Level.NO_ANSWER and not one.forbids)
    if not bad and not silent:
        return _("{count} checks, all well").format(count=count)
    return _("{count} checks, {bad} not well, {silent} without an answer").format(
        count=count, bad=bad, silent=silent
    )
