"""Why an attempt ended, in words, from what was seen of it."""

from __future__ import annotations

from dataclasses import asdict
from enum import Enum
from typing import Any

from lastro.errors import SAVED_ON_REQUEST, Fenced
from lastro.locale import _
from lastro.records import dataclass
from lastro.rules.stop import Stop


class End(str, Enum):
    """Why one attempt ended."""

    DONE = "done"
    NOTICE = "notice"
    LOST = "lost"
    ASKED = "asked"
    STOP_RULE = "stop_rule"
    SAVED = "saved"
    CRASHED = "crashed"
    KILLED = "killed"
    FENCED = "fenced"
    HUNG = "hung"
    LIMIT = "limit"
    DISK_FULL = "disk_full"
    DISK_GONE = "disk_gone"


@dataclass(frozen=True, kw_only=True)
class Leave:
    """A reason for a job to go before it is done. `end`: what its attempt will have ended by.

    `seconds`: how long it may take to save and leave before it is ended; 0: it is ended at once.
    `limit`: which limit was reached (a value of LimitKind) when the end is LIMIT.
    """

    end: End
    why: str
    seconds: float
    limit: str | None = None


@dataclass(frozen=True, kw_only=True)
class Stay:
    """A notice was taken back: a job that has not left yet may stay."""

    why: str


@dataclass(frozen=True, kw_only=True)
class Cause:
    """The end of one attempt. `failure` is the exception's type and message when the job told one."""

    end: End
    why: str
    exit_code: int | None = None
    signal: int | None = None
    step: int | None = None
    failure: str | None = None
    stop: Stop | None = None
    limit: str | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Ended:
    """What is known of a job's end when its cause is decided. `full`: its disk takes no more.

    `killer`: who killed it, in words, where the kernel did.
    """

    exit_code: int | None
    signal: int | None
    step: int | None
    leave: Leave | None = None
    stop: Stop | None = None
    failure: str | None = None
    grace_over: bool = False
    full: bool = False
    killer: str | None = None


def cause_of(ended: Ended) -> Cause:
    """Say why a job ended, in words, from what was seen of it."""
    late = _(" (killed when the grace was over)") if ended.grace_over else ""
    crash = _("the command ended with exit code {code}").format(code=ended.exit_code)
    first_that_holds = (
        (ended.stop is not None, End.STOP_RULE, ended.stop.why if ended.stop else ""),
        (ended.exit_code == 0, End.DONE, _("the command ended with exit code 0")),
        (ended.exit_code == Fenced.exit_code, End.FENCED, _("a later attempt owns this run")),
        (
            ended.leave is not None,
            ended.leave.end if ended.leave else End.KILLED,
            (ended.leave.why if ended.leave else "") + late,
        ),
        (
            ended.exit_code == SAVED_ON_REQUEST,
            End.SAVED,
            _("the job saved and asked to be run again (exit code {code})").format(code=SAVED_ON_REQUEST),
        ),
        (
            ended.full,
            End.DISK_FULL,
            _("the disk is full: {what}").format(what=ended.failure or crash),
        ),
        (
            ended.signal is not None,
            End.KILLED,
            _("the job was killed by signal {signal}").format(signal=ended.signal),
        ),
        (
            ended.exit_code is None,
            End.KILLED,
            _("the job and its parent vanished without an exit status"),
        ),
        (True, End.CRASHED, f"{crash}: {ended.failure}" if ended.failure else crash),
    )
    end, why = next((end, why) for holds, end, why in first_that_holds if holds)
    if ended.killer is not None and end in (End.KILLED, End.CRASHED):
        why = f"{why}: {ended.killer}"
    limit = ended.leave.limit if ended.leave and end is End.LIMIT else None
    return Cause(
        end=end,
        why=why,
        exit_code=ended.exit_code,
        signal=ended.signal,
        step=ended.step,
        failure=ended.failure,
        stop=ended.stop,
        limit=limit,
    )
