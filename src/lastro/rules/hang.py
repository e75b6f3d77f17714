"""When a silent job hangs: learned from the pace that it has shown itself. Pure."""

from __future__ import annotations

from datetime import timedelta

from lastro.locale import _
from lastro.records import dataclass
from lastro.units import show_duration


@dataclass(frozen=True, kw_only=True)
class HangPolicy:
    """How long a job may be silent. Times in seconds.

    `least`: never judged before; None: never judged at all. `factor`: of the longest interval between two
    steps that was seen, saves and evaluations included. `first`: before two steps were seen. `busy`: for a
    job that is silent and works all the same: an evaluation without output, but also a wait that spins.
    """

    least: float | None = 300.0
    factor: float = 10.0
    first: float = 1800.0
    busy: float = 1800.0


@dataclass(frozen=True, kw_only=True)
class Silence:
    """What is known of a job that says nothing. Times in seconds.

    `silent`: since it last did a step, measured, signalled or printed. `idle`: since it last did so, or used
    processors or disks. `longest`: between two steps so far; None before the second.
    """

    silent: float
    idle: float
    longest: float | None


def judge_silence(policy: HangPolicy, silence: Silence) -> str | None:
    """Return why a job is held to hang; None while it may only be slow.

    A job that has shown no pace (it prepares its data, or knows nothing of lastro) is never judged while it
    works: nobody can tell how long it should take.
    """
    if policy.least is None:
        return None
    if silence.longest is None:
        if silence.idle >= max(policy.first, policy.least):
            return _("no output, no step and no work for {time}, before a second step").format(
                time=_shown(silence.idle)
            )
        return None
    learned = policy.factor * silence.longest
    if silence.idle >= max(policy.least, learned):
        return _("no sign of life for {time}, where the longest step took {longest}").format(
            time=_shown(silence.idle), longest=_shown(silence.longest)
        )
    if silence.silent >= max(policy.least, policy.busy, learned):
        return _("no sign of progress for {time} although it works; the longest step took {longest}").format(
            time=_shown(silence.silent), longest=_shown(silence.longest)
        )
    return None


def _shown(seconds: float) -> str:
    return show_duration(timedelta(seconds=seconds))
