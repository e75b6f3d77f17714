"""What becomes of a run after an attempt: restart by verified progress, or an end with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from lastro.locale import _
from lastro.records import dataclass
from lastro.rules.ending import Cause, End
from lastro.rules.limits import LimitKind
from lastro.rules.order import RestartPolicy


@dataclass(frozen=True, kw_only=True)
class Life:
    """One attempt as the restart policy sees it: what was verified before it and after it, and its end.

    `progress_before` and `progress_after` are steps of checkpoints, `items_before` and `items_after` counts
    of published items; None where there is none.
    """

    number: int
    cause: Cause
    progress_before: int | None
    progress_after: int | None
    items_before: int | None = None
    items_after: int | None = None

    @property
    def progressed(self) -> bool:
        """Say whether a checkpoint or an item was added."""
        return _grew(self.progress_before, self.progress_after) or _grew(self.items_before, self.items_after)


def _grew(before: int | None, after: int | None) -> bool:
    return (after if after is not None else -1) > (before if before is not None else -1)


class Verdict(str, Enum):
    """What becomes of a run after an attempt."""

    RESTART = "restart"
    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    PAUSED = "paused"
    STOPPED = "stopped"
    FAILED = "failed"
    FENCED = "fenced"


@dataclass(frozen=True, kw_only=True)
class Next:
    """What to do after an attempt, and why. INTERRUPTED means: go on, on another machine."""

    verdict: Verdict
    why: str


#: Nobody's fault: these never count against a run.
_WEATHER = (End.NOTICE, End.LOST, End.DISK_GONE, End.DISK_FULL)
_BY_END = {
    End.DONE: Verdict.COMPLETED,
    End.STOP_RULE: Verdict.STOPPED,
    End.ASKED: Verdict.PAUSED,
    End.FENCED: Verdict.FENCED,
    End.NOTICE: Verdict.INTERRUPTED,
    End.LOST: Verdict.INTERRUPTED,
    End.DISK_GONE: Verdict.INTERRUPTED,
    End.DISK_FULL: Verdict.RESTART,  # when there is room, and not before
}
#: Only a lease's end says nothing against going on elsewhere; the others need a person's word first.
_OF_LIMIT = {LimitKind.LEASE_END.value: Verdict.INTERRUPTED}


def after_attempt(lives: Sequence[Life], policy: RestartPolicy) -> Next:
    """Decide what becomes of a run whose last attempt has just ended.

    Progress is a verified checkpoint or a published item. A machine that was taken away is weather, not a
    failure: it never counts against the run. The same exception at the same step twice stops at once,
    whatever was saved.

    Args:
        lives: all attempts of the run, oldest first; at least one.
        policy: how many starts in a row may bring nothing.
    """
    last = lives[-1]
    cause = last.cause
    if cause.end in _BY_END:
        return Next(verdict=_BY_END[cause.end], why=cause.why)
    if cause.end is End.LIMIT:
        return Next(verdict=_OF_LIMIT.get(cause.limit or "", Verdict.PAUSED), why=cause.why)
    if cause.failure is not None:
        for earlier in lives[:-1]:
            if earlier.cause.failure == cause.failure and earlier.cause.step == cause.step:
                why = _("the same failure at the same step twice (attempts {a} and {b}): {failure}").format(
                    a=earlier.number, b=last.number, failure=cause.failure
                )
                return Next(verdict=Verdict.FAILED, why=why)
    barren = 0
    for life in reversed(lives):
        if life.progressed:
            break
        barren += life.cause.end not in _WEATHER
    if barren >= policy.starts_without_progress:
        why = _("{count} starts without a new verified checkpoint or item; the last: {why}").format(
            count=barren, why=cause.why
        )
        return Next(verdict=Verdict.FAILED, why=why)
    return Next(verdict=Verdict.RESTART, why=cause.why)
