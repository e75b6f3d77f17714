"""A terminal on a machine: what is asked for (`order.json`), and when it has to be left. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field
from datetime import datetime, timedelta
from typing import Any

from lastro.locale import _
from lastro.records import dataclass
from lastro.rules.ending import Leave
from lastro.rules.limits import LimitKind, Limits, judge_limits
from lastro.units import show_duration

#: So long before a limit a shell is ended, so that what it leaves on the machine only can be copied. Assumed.
LEAVING_SECONDS = 60.0
#: So long before that it is told, each once.
TOLD_SECONDS = (600.0, 120.0)


@dataclass(frozen=True, kw_only=True)
class ShellOrder:
    """One terminal, or one command, on one machine.

    Paths are the machine's. `command` None: an interactive shell. `python`: the first word of the job's
    command where that names a Python; None: `python`. `environment`: beside what the machine gives to
    everything on it. `silence_seconds`: for how long home may not be heard.
    """

    token: str
    campaign: str
    machine: str
    node: str
    campaign_folder: str
    workdir: str
    command: tuple[str, ...] | None
    home_stream: str
    home_head: str
    python: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    silence_seconds: float = 120.0

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "limits": self.limits.as_json()}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ShellOrder:
        """Read what `as_json` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        command = value["command"]
        return cls(
            **{
                **value,
                "command": None if command is None else tuple(command),
                "limits": Limits.from_json(value["limits"]),
            }
        )


def must_leave(limits: Limits, now: datetime) -> Leave | None:
    """Return why a shell has to end now; None while it may stay. Idleness is no reason: somebody is there."""
    return judge_limits(limits, now, leaving=LEAVING_SECONDS)


def to_be_told(limits: Limits, before: datetime, now: datetime) -> str | None:
    """Return what a shell is told, when one of `TOLD_SECONDS` before its end lies between two looks."""
    if not limits.ends:
        return None
    end, kind = limits.ends[0]
    leaves_at = end - timedelta(seconds=LEAVING_SECONDS)
    passed = [seconds for seconds in TOLD_SECONDS if before < leaves_at - timedelta(seconds=seconds) <= now]
    if not passed or now >= leaves_at:
        return None
    return _("{limit}: this shell is ended in {time}").format(
        limit=name_of(kind), time=show_duration(leaves_at - now)
    )


def name_of(kind: LimitKind) -> str:
    """Return what people call a limit of a machine."""
    names = {
        LimitKind.LEASE_END: _("the machine's lease ends"),
        LimitKind.BUDGET: _("the machine's share of the budget is used up"),
        LimitKind.DEADLINE: _("the campaign's window ends"),
    }
    return names[kind]
