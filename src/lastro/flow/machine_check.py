"""Checks a machine as a campaign asks for it: how much is due, the lock beside the file, what is kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lastro.billing import Lease
from lastro.clock import Clock
from lastro.flow.machine_memory import bad_record
from lastro.flow.passed import Passed, keep_passed, passed_machines
from lastro.flow.trial import Trials, trial_of
from lastro.locale import _
from lastro.paths import Disk, Home
from lastro.preflight import image, size
from lastro.preflight.check import Finding, Level, Offered, Subject
from lastro.preflight.lock import (
    Lock,
    Reading,
    Relock,
    State,
    copy_to_disk,
    filled,
    path_beside,
    read_lock,
    write_lock,
)
from lastro.preflight.lock_drift import judge_drift
from lastro.preflight.machine_facts import facts_of, kind_of
from lastro.preflight.price import price_of
from lastro.preflight.run import Report, Scope, examine, look
from lastro.preflight.size import Due, Known, Size, size_due
from lastro.records import dataclass
from lastro.spec.load import LoadedCampaign, load_offers_file

#: Machines of these are this box itself.
_THIS_BOX = ("here", "local")


@dataclass(frozen=True, kw_only=True)
class CheckWish:
    """What is to be checked.

    Args:
        loaded: the campaign.
        disk: where everything of value will be kept.
        provider: where the machine comes from.
        asked: the size that a person asked for; None: the one that is due.
        lease: what it is paid by; None: it was not rented.
        region: where it stands; None: not told.
        relock: why the lock is made anew; None: it holds.
        locking: compare with the lock and write it; not where the campaign is another than its file says.
        notes: what was noted of this node before.
        began: when it was asked for, on the monotonic clock: its time counts from there; None: from now.
    """

    loaded: LoadedCampaign
    disk: Path
    provider: str
    asked: Size | None = None
    lease: Lease | None = None
    region: str | None = None
    relock: str | None = None
    locking: bool = True
    notes: tuple[str, ...] = ()
    began: float | None = None


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What came of it. `lock`: the one that was written because this machine passed; None: none was."""

    report: Report
    lock: Lock | None


def check_machine(
    wish: CheckWish, home: Home, clock: Clock, tell: Callable[[str], None] = lambda _text: None
) -> Checked:
    """Check this machine; where it passes, lock what nobody has locked yet.

    `tell` is told the size and its budget before the steps are taken.
    """
    spec, folder = wish.loaded.spec, wish.loaded.folder
    looked = look(
        spec,
        folder,
        wish.disk,
        offered=offered_by(wish.loaded, wish.lease),
        cpu_only=wish.asked is Size.CPU,
        rehearsal=wish.provider == "local",
        began=wish.began,
    )
    subject = looked.subject
    reading = (
        read_lock(folder, spec.campaign)
        if wish.locking
        else Reading(path=path_beside(folder), state=State.ABSENT)
    )
    against = bad_record(home, clock, subject.stack.node)
    if against is not None and against.bad is not None:
        wish = replace(wish, notes=(*wish.notes, against.bad))
    due = _due(wish, home, subject, reading)
    tell(_("{size}: {why}").format(size=price_of(due.size, wish.lease).text, why=due.why))
    budgets = ", ".join(f"{name} {seconds:g} s" for name, seconds in size.BUDGETS[due.size].items())
    tell(_("budgets: {budgets}").format(budgets=budgets))
    trials = Trials(loaded=wish.loaded, home=home, clock=clock, size=due.size)
    scope = Scope(due=due, extras={size.TRIAL: trial_of(trials)}, relock=wish.relock is not None)
    report = examine(looked, reading, scope, clock)
    if report.failed:
        return Checked(report=report, lock=None)
    try:
        keep_passed(home, _passed(wish, subject, report))
        return _locked(wish, report) if wish.locking else Checked(report=report, lock=None)
    except OSError as error:
        # The machine is well all the same; a folder that may only be read is somebody's choice.
        tell(_("lastro.lock could not be kept: {error}").format(error=error))
        return Checked(report=report, lock=None)


def _locked(wish: CheckWish, report: Report) -> Checked:
    """Write what this machine adds to the lock, and bring the copy on the disk up to date."""
    spec, folder = wish.loaded.spec, wish.loaded.folder
    relock = None
    if wish.relock is not None:
        relock = Relock(why=wish.relock, at=report.answer.at, replaces=report.reading.digest)
    lock = filled(report.reading, spec.campaign, report.kind, report.answer, relock)
    if lock is not None:
        write_lock(folder, lock)
        reading = read_lock(folder, spec.campaign)
        report = replace(report, reading=reading)
    copy_to_disk(folder, Disk(wish.disk).campaign(spec.campaign))
    return Checked(report=report, lock=lock)


def offered_by(loaded: LoadedCampaign, lease: Lease | None) -> Offered | None:
    """Return what an offer says of the GPUs of its machines; None where there is no such offer."""
    if lease is None or loaded.offers_path is None:
        return None
    found = {one.name: one for one in load_offers_file(loaded.offers_path).offers}.get(lease.offer)
    if found is None or found.gpu is None:
        return None
    return Offered(offer=found.name, gpu=found.gpu, gpus=found.gpus, memory_bytes=found.memory)


def _due(wish: CheckWish, home: Home, subject: Subject, reading: Reading) -> Due:
    if wish.asked is not None:
        return Due(size=wish.asked, why=_("it was asked for"))
    passed = passed_machines(home)
    return size_due(
        Known(
            rented=wish.provider not in _THIS_BOX,
            has_gpu=bool(subject.driver.cards),
            lock=_state(reading, subject),
            provider=wish.provider,
            providers=frozenset(one.provider for one in passed),
            region=wish.region,
            regions=frozenset(one.region for one in passed if one.region is not None),
            image=os.environ.get(image.VARIABLE),
            images=frozenset(one.image for one in passed if one.image is not None),
            notes=wish.notes,
        )
    )


def _state(reading: Reading, subject: Subject) -> str:
    """Return how a machine stands to the lock, in the words of `size.Known`."""
    if reading.lock is None or kind_of(subject) not in reading.lock.answers:
        return "none"
    locked = reading.lock.answers[kind_of(subject)]
    drift: list[Finding] = list(judge_drift(locked, facts_of(subject), subject.want))
    return "changed" if any(one.level is not Level.PASS for one in drift) else "unchanged"


def _passed(wish: CheckWish, subject: Subject, report: Report) -> Passed:
    return Passed(
        at=report.answer.at,
        node_id=report.node_id,
        provider=wish.provider,
        region=wish.region,
        image=subject.image,
    )
