"""How long a drill may take: a small part of the pilot that it protects, or as somebody says. Pure."""

from __future__ import annotations

from datetime import timedelta

from lastro.locale import _
from lastro.plan.pilot import Pilot
from lastro.records import dataclass
from lastro.units import show_duration

#: A pilot is a tenth of a run as a rule, so the proof costs half a per cent of what it saves.
SHARE_OF_PILOT = 0.05


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Seconds for all lives of a drill, and where they come from. `seconds` None: the usual lives, or all."""

    seconds: float | None
    why: str


def budget_of(asked_seconds: float | None, pilot: Pilot, *, full: bool) -> Budget:
    """Return the budget: as asked, else a part of the pilot; none where nothing says how long that is.

    Args:
        asked_seconds: what the user gives to it; None: nothing was said.
        pilot: of the run that is drilled.
        full: every kill, whatever it takes.
    """
    if full:
        return Budget(seconds=None, why=_("every kill that is possible, as asked"))
    if asked_seconds is not None:
        return Budget(seconds=asked_seconds, why=_("as asked"))
    if pilot.hours is None:
        return Budget(seconds=None, why=_("the usual kills: {why}").format(why=pilot.why))
    why = _("{share:.0%} of the pilot of {time}: {why}").format(
        share=SHARE_OF_PILOT, time=show_duration(timedelta(hours=pilot.hours)), why=pilot.why
    )
    return Budget(seconds=pilot.hours * 3600 * SHARE_OF_PILOT, why=why)
