"""Checks a machine on another computer: what is found there, judged here.

A machine that is reached by ssh, or a node of a cluster, tells what it is; that is judged here, by the
checks and the lock that judge this box. What has to be tried out (the tail of its disk, the job in small,
kernels) runs where lastro is installed: `lastro preflight` there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from lastro.clock import from_iso, iso
from lastro.errors import ProviderError
from lastro.flow.machine_check import offered_by
from lastro.flow.passed import Passed, keep_passed
from lastro.flow.trust import Trusting
from lastro.locale import _
from lastro.preflight import (
    descriptors,
    disk_space,
    gpu_visible,
    image,
    memory,
    origins,
    packages,
    python_version,
    shared_memory,
)
from lastro.preflight.check import Check, Finding, Level, Subject, verdict_of
from lastro.preflight.lock import (
    Answer,
    Reading,
    State,
    Value,
    filled,
    path_beside,
    read_lock,
    write_lock,
)
from lastro.preflight.lock_drift import judge_drift, judge_reading
from lastro.preflight.machine_facts import BUILD, PACKAGE, facts_of, kind_of
from lastro.preflight.risk import decide
from lastro.preflight.run import DRIVER_CHECKS
from lastro.providers.base import Machine
from lastro.stack import Stack
from lastro.stack.driver import Driver
from lastro.stack.versions import Versions

#: Checks that need no more than what a machine tells.
CHECKS: tuple[Check, ...] = (
    python_version.check,
    packages.check,
    memory.check,
    shared_memory.check,
    image.check,
    *DRIVER_CHECKS,
)
_SOFTWARE = ("python", PACKAGE, BUILD)
#: Findings about software that a set-up, or the code of the job, may still bring.
_BROUGHT = ("python_version", "packages")


@runtime_checkable
class Tells(Protocol):
    """A provider of machines on other computers, which can be asked what they are."""

    name: str

    def facts(
        self, machine: Machine, command: Sequence[str], packages: Sequence[str], variables: Sequence[str]
    ) -> Mapping[str, Any]:
        """Return what a machine says of itself: see `providers.telling.tell`, with `node` and `at`."""
        ...


def check_far(provider: Tells, machine: Machine, trusting: Trusting) -> Mapping[str, Any]:
    """Return the facts of `preflight.done` for a machine on another computer.

    Where it passes, it writes lastro.lock, or adds to it, as this box would.

    Raises:
        ProviderError: it says something that this lastro does not understand, or nothing.
    """
    spec = trusting.draft.loaded.spec
    wanted = packages.wanted_packages(spec.want)
    told = provider.facts(machine, spec.runs()[0].argv, wanted, (gpu_visible.VARIABLE, image.VARIABLE))
    now, reading = trusting.clock.now(), _reading(trusting)
    try:
        subject = subject_of(told, trusting)
        findings = list(judge(subject, told, reading, now))
    except (KeyError, TypeError, ValueError) as error:
        raise ProviderError(
            _("what {name} tells of itself cannot be read: {error!r}").format(
                name=provider.name, error=error
            ),
            hint=_("give it the lastro of this computer: type `lastro run` again"),
        ) from error
    trust = decide(findings, trusting.accepted)
    if not any(one.forbids for one in findings):
        _keep(trusting, subject, str(told["node"]), now)
    return {
        "verdict": verdict_of(findings).value,
        "summary": "; ".join(one.text for one in findings if one.forbids or one.level is Level.WARN),
        "findings": [one.as_json() for one in findings],
        "stack": subject.stack.as_json(),
        "node_id": told["node"],
        "lock": reading.digest if reading.state is State.READ else None,
        "trusted": trust.trusted,
        "trust_why": trust.why,
        "accepted": dict(trust.accepted),
    }


def subject_of(told: Mapping[str, Any], trusting: Trusting) -> Subject:
    """Return what is judged. Raises KeyError, TypeError or ValueError where that is not what was told."""
    draft, spec = trusting.draft, trusting.draft.loaded.spec
    versions = Versions(**told["versions"])
    return Subject(
        stack=Stack.from_json(told["stack"]),
        versions=replace(versions, architecture=str(told["architecture"])),
        command=spec.runs()[0].argv,
        workdir=draft.loaded.folder,
        disk=draft.disk,
        want=dict(spec.want),
        setup=spec.setup,
        driver=Driver.from_json(told["driver"]),
        offered=offered_by(draft.loaded, draft.plan.lease),
        image=versions.environment.get(image.VARIABLE),
        images={name: plan_b.image for name, plan_b in spec.plan_b.items() if plan_b.image},
        environment=versions.environment,
    )


def judge(subject: Subject, told: Mapping[str, Any], reading: Reading, now: datetime) -> Iterator[Finding]:
    """Return every finding. Pure.

    Args:
        subject: what is judged, made from what the machine told.
        told: that.
        reading: the lock beside the campaign file.
        now: on this computer.
    """
    found = [finding for check in CHECKS for finding in check(subject)]
    soft, hard = told["open_files"]
    found.append(descriptors.judge(int(soft), int(hard)))
    found += disk_space.judge(subject, int(told["free"]), told["names_free"])
    ahead = (from_iso(told["at"]) - now).total_seconds()
    found.append(origins.judge_offset(ahead, _("this computer")))
    found += judge_reading(reading, kind=kind_of(subject))
    if reading.lock is not None and reading.state is not State.FOREIGN:
        found += _drift(reading.lock.answers.get(kind_of(subject)), subject)
    for finding in found:
        yield (
            _to_come(finding)
            if finding.forbids and finding.code in _BROUGHT and brought(subject)
            else finding
        )


def brought(subject: Subject) -> bool:
    """Say whether software is still to come to this machine: by a set-up, or with the code of the job."""
    word = subject.command[0]
    return subject.setup is not None or ("/" in word and not Path(word).is_absolute())


def _drift(locked: Answer | None, subject: Subject) -> Iterator[Finding]:
    """Compare with the lock what can be compared before there is a job."""
    if locked is None:
        return
    if not brought(subject) and subject.versions.python is not None:
        yield from judge_drift(locked, facts_of(subject), subject.want)
        return
    facts = {name: value for name, value in locked.facts.items() if not name.startswith(_SOFTWARE)}
    yield from judge_drift(replace(locked, facts=facts), _hardware(subject), subject.want)
    yield Finding(
        code="lock",
        level=Level.NO_ANSWER,
        fact=_("locked software"),
        value=_("not compared: the job's Python is not there before its set-up or its code"),
    )


def _hardware(subject: Subject) -> dict[str, Value]:
    return {name: value for name, value in facts_of(subject).items() if not name.startswith(_SOFTWARE)}


def _to_come(finding: Finding) -> Finding:
    """Return a finding as one that does not forbid: nobody can know yet."""
    return replace(
        finding,
        level=Level.NO_ANSWER,
        required=False,
        expected=_("{expected}; the set-up or the code may still bring it").format(expected=finding.expected),
        consequence=None,
    )


def _reading(trusting: Trusting) -> Reading:
    loaded = trusting.draft.loaded
    if not trusting.locking:
        return Reading(path=path_beside(loaded.folder), state=State.ABSENT)
    return read_lock(loaded.folder, loaded.spec.campaign)


def _keep(trusting: Trusting, subject: Subject, node: str, now: datetime) -> None:
    """Keep that a machine has passed, and write what it adds to the lock: all of it, or nothing."""
    loaded, at = trusting.draft.loaded, iso(now)
    try:
        provider = trusting.draft.plan.provider
        keep_passed(
            trusting.home, Passed(at=at, node_id=node, provider=provider, region=None, image=subject.image)
        )
        if not trusting.locking or brought(subject) or subject.versions.python is None:
            return
        answer = Answer(at=at, node_id=node, facts=facts_of(subject))
        lock = filled(_reading(trusting), loaded.spec.campaign, kind_of(subject), answer, None)
        if lock is not None:
            write_lock(loaded.folder, lock)
            trusting.tell(_("lastro.lock was written: it belongs into the repository of the campaign"))
    except OSError as error:
        trusting.tell(_("lastro.lock could not be kept: {error}").format(error=error))


def checking(provider: Tells, trusting: Trusting) -> Callable[[Machine], Mapping[str, Any]]:
    """Return what checks such a machine, as the driver calls it."""
    return lambda machine: check_far(provider, machine, trusting)
