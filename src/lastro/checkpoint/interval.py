"""How often to save: Young's interval from what one save really costs, within what may be lost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from math import sqrt

from lastro.errors import PlanError
from lastro.locale import _
from lastro.units import show_duration

#: Mean time between interruptions where nobody has told one. Assumed: community spot cards live for hours.
ASSUMED_BETWEEN = timedelta(hours=4)

#: A save never takes more than one part in eleven of the time: it is followed by ten times its stall.
STALL_MULTIPLE = 10

#: Until the first save has shown what a save costs.
FIRST_INTERVAL = timedelta(seconds=30)


@dataclass(frozen=True)
class Interval:
    """Time between two saves, and why that long."""

    every: timedelta
    why: str


def young(stall: timedelta, between_interruptions: timedelta) -> timedelta:
    """Return the interval between checkpoints that wastes the least time.

    Args:
        stall: how long one checkpoint stops the work.
        between_interruptions: mean time between interruptions.

    Raises:
        PlanError: stall is half of between_interruptions or more; the formula does not hold.

    Source: J. W. Young, CACM 17(9), 1974: sqrt(2 * stall * between_interruptions).
    """
    if 2 * stall >= between_interruptions:
        raise PlanError(
            _("a checkpoint stops the work for {stall}, but it is interrupted every {between}").format(
                stall=show_duration(stall), between=show_duration(between_interruptions)
            ),
            hint=_("use a faster disk, or an offer with fewer interruptions"),
        )
    return timedelta(seconds=sqrt(2 * stall.total_seconds() * between_interruptions.total_seconds()))


def choose_interval(
    stall: timedelta | None,
    *,
    between_interruptions: timedelta | None = None,
    max_loss: timedelta | None = None,
) -> Interval:
    """Return the time between two saves: Young's, no longer than `max_loss`, no shorter than 10 stalls.

    Args:
        stall: measured length of the last save; None before the first.
        between_interruptions: mean time between interruptions; None takes `ASSUMED_BETWEEN`.
        max_loss: the most work that may be lost; None sets no bound.
    """
    if stall is None:
        every = min(FIRST_INTERVAL, max_loss or FIRST_INTERVAL)
        return Interval(every, _("no save has been measured yet"))
    between = between_interruptions or ASSUMED_BETWEEN
    least = STALL_MULTIPLE * stall
    if 2 * stall >= between:
        why = _("a save takes {stall}, too long for an interruption every {between}")
        return Interval(least, why.format(stall=show_duration(stall), between=show_duration(between)))
    best = young(stall, between)
    if least > min(best, max_loss or best):
        why = _("a save takes {stall}, so it is made only every {multiple} times that")
        return Interval(least, why.format(stall=show_duration(stall), multiple=STALL_MULTIPLE))
    if max_loss is not None and max_loss < best:
        return Interval(max_loss, _("no more than {loss} may be lost").format(loss=show_duration(max_loss)))
    why = _("a save takes {stall}, one interruption every {between} ({origin})")
    origin = _("told") if between_interruptions else _("assumed")
    return Interval(
        best, why.format(stall=show_duration(stall), between=show_duration(between), origin=origin)
    )
