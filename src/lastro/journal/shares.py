"""What of the bill bought nothing: time at which nothing was at work, and work that was lost. Pure.

Neither is added to the bill: both are parts of lines that stand in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from lastro.clock import from_iso
from lastro.journal.views import AttemptView, CostLine, MachineView, RunView, ShareView
from lastro.locale import _
from lastro.records import dataclass
from lastro.rules import End
from lastro.units import Money

_NOT_LOST = (End.DONE.value, End.STOP_RULE.value)


@dataclass(frozen=True, kw_only=True)
class Use:
    """What shares are reckoned from.

    `lines`: of the bill. `cards`: how many GPUs each machine has, by its id; absent: unknown. `at`: the end
    of what still runs.
    """

    lines: Sequence[CostLine]
    machines: Sequence[MachineView]
    runs: Sequence[RunView]
    cards: Mapping[str, int]
    at: datetime


def cards_of(preflights: Sequence[Mapping[str, Any]]) -> Mapping[str, int]:
    """Return how many GPUs preflight has seen on each machine."""
    found: dict[str, int] = {}
    for facts in preflights:
        gpus = (facts.get("stack") or {}).get("gpus")
        if gpus is not None:
            found[str(facts["machine"])] = len(gpus)
    return found


def busy_seconds(machine: MachineView, runs: Sequence[RunView], at: datetime) -> float:
    """Return the seconds in which at least one attempt ran on a machine, at most its own life."""
    spans = sorted(
        (from_iso(life.started_at), from_iso(life.ended_at) if life.ended_at else at)
        for run in runs
        for life in run.attempts
        if life.machine == machine.id
    )
    total, until = 0.0, None
    for start, end in spans:
        begun = start if until is None else max(start, until)
        total += max(0.0, (end - begun).total_seconds())
        until = end if until is None else max(until, end)
    return total if machine.seconds is None else min(total, machine.seconds)


def idle_share(use: Use) -> ShareView | None:
    """Return the time for which machines were rented and nothing was at work; None when none was rented."""
    created = [machine for machine in use.machines if machine.created_at is not None]
    if not created:
        return None
    idle: dict[str, float | None] = {}
    for machine in created:
        busy = None if _was_set_back(machine, use.runs) else busy_seconds(machine, use.runs, use.at)
        known = machine.seconds is not None and busy is not None
        idle[str(machine.id)] = max(0.0, (machine.seconds or 0.0) - (busy or 0.0)) if known else None
    return _share(use, idle)


def _was_set_back(machine: MachineView, runs: Sequence[RunView]) -> bool:
    """Say whether an attempt on a machine ended, by its wall clock, before it began."""
    return any(
        life.ended_at is not None and from_iso(life.ended_at) < from_iso(life.started_at)
        for run in runs
        for life in run.attempts
        if life.machine == machine.id
    )


def lost_share(use: Use) -> ShareView | None:
    """Return the work that was done and did not last; None when no attempt was interrupted.

    Of an attempt that ended before its run did, the steps that no checkpoint covers, as a part of the steps
    that it did, are that part of the time for which it worked. Of one that told no steps it is unknown; of
    one that did not begin a step nothing was lost, and its time is idle nowhere: it was setting up.
    """
    lost: dict[str, float | None] = {}
    for run in use.runs:
        for before, life in zip([None, *run.attempts], run.attempts, strict=False):
            if life.alive or life.end in _NOT_LOST:
                continue
            seconds = _lost_seconds(life, before)
            known = lost.get(life.machine, 0.0)
            lost[life.machine] = None if seconds is None or known is None else known + seconds
    return _share(use, lost) if lost else None


def kept_seconds(life: AttemptView, before: AttemptView | None) -> float | None:
    """Return for how long an attempt has done work that lasts; None: it tells no steps, or not how long.

    One that has neither begun a step nor saved has done none. `before`: the attempt before it.
    """
    if life.first_step_seconds is None and life.items_done is None:
        return None if life.checkpoints else 0.0
    lost = 0.0 if life.alive or life.end in _NOT_LOST else _lost_seconds(life, before)
    if life.worked_seconds is None or lost is None:
        return None
    return max(0.0, life.worked_seconds - lost)


def _lost_seconds(life: AttemptView, before: AttemptView | None) -> float | None:
    if life.worked_seconds is None or life.lost_steps is None or life.last_step is None:
        return None
    if life.items_done is not None:
        done = life.last_step - ((before.items_done or 0) if before is not None else 0)
    else:
        done = life.last_step - (life.resumed_step or 0)
    if life.lost_steps == 0 or done <= 0:
        return 0.0
    return life.worked_seconds * min(1.0, life.lost_steps / done)


def _share(use: Use, seconds: Mapping[str, float | None]) -> ShareView:
    known = [value for value in seconds.values() if value is not None]
    whole = len(known) == len(seconds)
    amounts: dict[str, Money] = {}
    reason = None if whole else _("how much time it was is unknown of {names}").format(
        names=", ".join(name for name, value in seconds.items() if value is None)
    )  # fmt: skip
    lines = []
    for name, value in seconds.items():
        line = next((one for one in use.lines if name in one.machines), None)
        per_second = _per_second(use, line)
        if value == 0.0:
            continue
        if line is None or per_second is None or value is None:
            reason = reason or _("what an hour of machine {id} has cost is unknown").format(id=name)
            continue
        part = per_second.times(Decimal(str(value)))
        had = amounts.get(part.currency)
        amounts[part.currency] = part if had is None else had + part
        lines.append(line.what)
    gpus = [None if name not in use.cards else (value or 0.0) * use.cards[name] / 3600
            for name, value in seconds.items()]  # fmt: skip
    cards = [one for one in gpus if one is not None]
    return ShareView(
        seconds=sum(known) if whole else None,
        gpu_hours=sum(cards) if whole and len(cards) == len(gpus) else None,
        amounts=tuple(_rounded(amounts[currency]) for currency in sorted(amounts)),
        reason=reason,
        lines=tuple(dict.fromkeys(lines)),
    )


def _per_second(use: Use, line: CostLine | None) -> Money | None:
    """Return what a second of use has cost under a line: the whole line over all use of its machines."""
    if line is None or line.amount is None:
        return None
    uses = [machine.seconds for machine in use.machines if machine.id in line.machines]
    known = [value for value in uses if value is not None]
    total = sum(known)
    if len(known) < len(uses) or total <= 0:
        return None
    return line.amount.times(Decimal(1) / Decimal(str(total)))


def _rounded(money: Money) -> Money:
    return Money(money.amount.quantize(Decimal("0.000001")), money.currency)
