"""How often to save: Young's interval from what one save really costs, within what may be lost."""

from __future__ import annotations

from datetime import timedelta
from math import sqrt

from lastro.errors import PlanError
from lastro.locale import _
from lastro.records import dataclass
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


@dataclass(frozen=True)
class SaveCost:
    """What one save was measured to cost.

    blocked: the work stood still. slowdown: work that was lost while it went on beside the save; None where
    that could not be told. durable: from its begin until it could not be lost any more.
    """

    blocked: timedelta
    durable: timedelta
    slowdown: timedelta | None = None

    @property
    def stall(self) -> timedelta:
        """All that the save has taken from the work; what is not known of it counts as nothing."""
        return self.blocked + (self.slowdown or timedelta())

    def show(self) -> str:
        """Return it for people."""
        return _("a save takes {stall} from the work and is durable after {durable}").format(
            stall=show_duration(self.stall), durable=show_duration(self.durable)
        )


def choose_interval(
    cost: SaveCost | None,
    *,
    between_interruptions: timedelta | None = None,
    max_loss: timedelta | None = None,
) -> Interval:
    """Return the time between two saves: Young's, within the bound on the loss, never too short to be kept.

    An interruption right before a save is durable loses the interval and the time to durable, so the bound
    holds for their sum. Whatever it is, no interval is shorter than ten stalls, or than the time to durable.

    Args:
        cost: of the last save; None before the first.
        between_interruptions: mean time between interruptions; None takes `ASSUMED_BETWEEN`.
        max_loss: the most work that may be lost; None sets no bound.
    """
    if cost is None:
        every = min(FIRST_INTERVAL, max_loss or FIRST_INTERVAL)
        return Interval(every, _("no save has been measured yet"))
    between = between_interruptions or ASSUMED_BETWEEN
    least = max(STALL_MULTIPLE * cost.stall, cost.durable)
    if 2 * cost.stall >= between:
        why = _("{cost}, too much for an interruption every {between}")
        return Interval(least, why.format(cost=cost.show(), between=show_duration(between)))
    best = young(cost.stall, between)
    bound = None if max_loss is None else max_loss - cost.durable
    if max_loss is not None and bound is not None and bound < least:
        why = _("{cost}, so up to {lost} may be lost and not only {loss}")
        lost = show_duration(least + cost.durable)
        return Interval(least, why.format(cost=cost.show(), lost=lost, loss=show_duration(max_loss)))
    if max_loss is not None and bound is not None and bound < best:
        why = _("no more than {loss} may be lost; {cost}")
        return Interval(bound, why.format(loss=show_duration(max_loss), cost=cost.show()))
    if least > best:
        return Interval(least, _("{cost}, so it is not made more often").format(cost=cost.show()))
    why = _("{cost}; one interruption every {between} ({origin})")
    origin = _("told") if between_interruptions else _("assumed")
    return Interval(best, why.format(cost=cost.show(), between=show_duration(between), origin=origin))


def wasted_share(cost: SaveCost, every: timedelta, between_interruptions: timedelta | None) -> float:
    """Return which part of the rented time saves and interruptions waste, between 0 and 1.

    Each interval has one stall; each interruption loses half an interval and the time to durable, on average.

    Args:
        cost: of one save.
        every: between two of them.
        between_interruptions: None takes `ASSUMED_BETWEEN`.
    """
    between = between_interruptions or ASSUMED_BETWEEN
    return min(1.0, cost.stall / every + (every / 2 + cost.durable) / between)
