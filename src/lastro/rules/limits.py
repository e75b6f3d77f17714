"""Limits that end an attempt although nothing is wrong: lease, budget, deadline, idleness, a pilot."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

from lastro.billing import Lease, affordable_seconds
from lastro.clock import from_iso
from lastro.locale import _
from lastro.records import dataclass
from lastro.rules.ending import End, Leave
from lastro.units import Money, show_duration

#: A save may take this many times as long as the last one did: disks are busy when many leave at once.
SAVE_FACTOR = 2.0
#: Kept to end what the save has left alive, and for the last words.
RESERVE_SECONDS = 5.0


class LimitKind(str, Enum):
    """What was reached. The value stands in the cause of the attempt's end."""

    LEASE_END = "lease_end"
    DEADLINE = "deadline"
    BUDGET = "budget"
    IDLE = "idle"
    PILOT = "pilot"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What may not be exceeded on one machine. None: there is no such limit, or it is unknown.

    lease_end_at, deadline_at: moments (ISO 8601, UTC). budget: what this machine may cost in all, under
    `lease` and from `billed_since` on. idle_seconds: how long a job may do nothing at all. save_seconds: what
    the last save of an earlier attempt took, for the time until this one has saved. work_seconds: how long
    the run may work, over all its attempts, before a person decides.
    """

    lease_end_at: str | None = None
    deadline_at: str | None = None
    budget: Money | None = None
    lease: Lease | None = None
    billed_since: str | None = None
    idle_seconds: float | None = None
    save_seconds: float | None = None
    work_seconds: float | None = None

    @property
    def none(self) -> bool:
        """Whether there is no limit at all."""
        return not self.ends and self.idle_seconds is None and self.work_seconds is None

    def as_json(self) -> dict[str, Any]:
        return {
            "lease_end_at": self.lease_end_at,
            "deadline_at": self.deadline_at,
            "budget": self.budget.as_json() if self.budget else None,
            "lease": self.lease.as_json() if self.lease else None,
            "billed_since": self.billed_since,
            "idle_seconds": self.idle_seconds,
            "save_seconds": self.save_seconds,
            "work_seconds": self.work_seconds,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Limits:
        """Read what `as_json` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        budget, lease = value["budget"], value["lease"]
        return cls(
            **{
                **value,
                "budget": Money.from_json(budget) if budget else None,
                "lease": Lease.from_json(lease) if lease else None,
            }
        )

    @property
    def ends(self) -> tuple[tuple[datetime, LimitKind], ...]:
        """The moments at which the machine may not be used any more, and by what; the soonest first."""
        known = (
            (from_iso(self.lease_end_at) if self.lease_end_at else None, LimitKind.LEASE_END),
            (self.budget_end_at, LimitKind.BUDGET),
            (from_iso(self.deadline_at) if self.deadline_at else None, LimitKind.DEADLINE),
        )
        return tuple(sorted(((at, kind) for at, kind in known if at is not None), key=lambda end: end[0]))

    @property
    def budget_end_at(self) -> datetime | None:
        """When the budget is used up, if the machine is kept until then; None when it never is."""
        if self.budget is None or self.lease is None or self.billed_since is None:
            return None
        seconds = affordable_seconds(self.lease, self.budget)
        return None if seconds is None else from_iso(self.billed_since) + timedelta(seconds=seconds)


def leaving_seconds(
    save_seconds: float | None,
    step_seconds: float,
    grace_seconds: float,
    *,
    way_out_seconds: float = 0.0,
) -> float:
    """Return how long before a limit a job has to be asked to leave, so that its last save fits.

    Args:
        save_seconds: what the last save took; None before the first one.
        step_seconds: the longest step seen: a save begins when the step in work is done.
        grace_seconds: what stands for a save that nobody has measured yet.
        way_out_seconds: what it takes to get a checkpoint off a machine whose disk goes with it.
    """
    save = grace_seconds if save_seconds is None else SAVE_FACTOR * save_seconds
    return save + step_seconds + RESERVE_SECONDS + SAVE_FACTOR * way_out_seconds


def judge_limits(
    limits: Limits,
    now: datetime,
    *,
    leaving: float,
    idle_for: float | None = None,
    worked: float | None = None,
    way_out_seconds: float = 0.0,
) -> Leave | None:
    """Return why a job has to leave now; of several limits, the one that is reached first.

    Args:
        limits: what may not be exceeded.
        now: wall time; it must not jump, so the caller moves it on by a clock that never goes back.
        leaving: see `leaving_seconds`.
        idle_for: seconds in which the job did nothing that can be seen; None when nobody looked.
        worked: seconds that the run has worked, over all its attempts; None when nobody looked.
        way_out_seconds: see `leaving_seconds`; the job has to have ended so long before the machine does.
    """
    left = [((end - now).total_seconds(), kind) for end, kind in limits.ends]
    reached = [(seconds, kind) for seconds, kind in left if seconds <= leaving]
    if reached:
        seconds, kind = min(reached, key=lambda item: item[0])
        return Leave(
            end=End.LIMIT,
            why=_why(limits, kind, seconds),
            seconds=_grace(kind, seconds - SAVE_FACTOR * way_out_seconds, leaving),
            limit=kind.value,
        )
    if limits.work_seconds is not None and worked is not None and worked >= limits.work_seconds:
        why = _("the pilot is over: it has worked for {time}").format(
            time=show_duration(timedelta(seconds=worked))
        )
        return Leave(end=End.LIMIT, why=why, seconds=leaving, limit=LimitKind.PILOT.value)
    if limits.idle_seconds is not None and idle_for is not None and idle_for >= limits.idle_seconds:
        why = _("idle: for {time} the job has done nothing that can be seen").format(
            time=show_duration(timedelta(seconds=idle_for))
        )
        return Leave(end=End.LIMIT, why=why, seconds=leaving, limit=LimitKind.IDLE.value)
    return None


def _grace(kind: LimitKind, left: float, leaving: float) -> float:
    """Return how long the job may take. Only a lease's end is the machine's: words have to come before it."""
    before_the_end = left - RESERVE_SECONDS
    return before_the_end if kind is LimitKind.LEASE_END and before_the_end > 0 else leaving


def _why(limits: Limits, kind: LimitKind, left: float) -> str:
    time = show_duration(timedelta(seconds=abs(left)))
    if kind is LimitKind.LEASE_END:
        if left > 0:
            return _("the machine's lease ends in {time}").format(time=time)
        return _("the machine's lease ended {time} ago").format(time=time)
    if kind is LimitKind.BUDGET:
        if left > 0:
            return _("budget: {budget} for this machine last {time} more, which leaving may need").format(
                budget=limits.budget, time=time
            )
        return _("budget: {budget} for this machine are spent").format(budget=limits.budget)
    if left > 0:
        return _("deadline: the campaign's window ends in {time}").format(time=time)
    return _("deadline: the campaign's window ended {time} ago").format(time=time)
