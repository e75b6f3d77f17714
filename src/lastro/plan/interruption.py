"""What interruptions and saves take from rented time: interval, loss, restart; or that no number holds."""

from __future__ import annotations

import math
from datetime import timedelta

from lastro.checkpoint.interval import SaveCost, choose_interval
from lastro.locale import _
from lastro.plan.lifetimes import Lifetimes
from lastro.records import dataclass
from lastro.units import show_duration

_HOUR = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True)
class Interruption:
    """How often to save on a machine that is taken away, and what both cost.

    `every`: work between two saves. `loss`: work that one interruption loses on average. `restart`: from an
    interruption until work goes on, on a machine that is there. `wasted`: the share of rented time that is
    no work, in [0, 1). None in all three: no number holds, and `why` says what does not.
    """

    every: timedelta | None
    loss: timedelta | None
    restart: timedelta
    wasted: float | None
    why: str


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """What may be lost, against what it was seen to cost to lose no more.

    `kept` None: no save has been measured. `worst`: the most that is lost. `stalled`: the share of the work's
    time that saving so often takes.
    """

    kept: bool | None
    worst: timedelta | None
    stalled: float | None
    why: str


def plan_saves(
    cost: SaveCost, lifetimes: Lifetimes, *, restart: timedelta, max_loss: timedelta | None = None
) -> Interruption:
    """Return how often to save, and what saves and interruptions take.

    The interval is Young's, for the time between two interruptions of work: the mean life, or, where lives
    were observed, what is left after the restart of those that outlive it. It is never shorter than
    `checkpoint.interval` allows, and the bound on the loss counts as there.

    Args:
        cost: of one save, measured.
        lifetimes: of the machines.
        restart: boot, set-up and restore.
        max_loss: the most work that may be lost; None sets no bound.

    Source of the share that is wasted, for a mean alone: J. T. Daly, FGCS 22(3), 2006, the expected time
    M exp(R / M) (exp((t + s) / M) - 1) to get t hours of work saved, when a save takes s and a restart R, and
    each may be interrupted; the time until a save is durable is work that is done twice, so it counts with R.
    For observed lives it is counted: each loses its restart, and half an interval on average.
    """
    between = _between(lifetimes, restart)
    if between is None:
        return _nothing_kept(restart, restart)
    if 2 * cost.stall >= between:
        why = _(
            "a save takes {stall} and work goes on for {between} between interruptions: Young's formula "
            "holds for saves that take less than half of that, so no interval is given"
        ).format(stall=show_duration(cost.stall), between=show_duration(between))
        return Interruption(every=None, loss=None, restart=restart, wasted=None, why=why)
    interval = choose_interval(cost, between_interruptions=between, max_loss=max_loss)
    every, wasted_of = interval.every, _wasted_of_lives if lifetimes.observed else _wasted_of_mean
    wasted = wasted_of(cost, lifetimes, restart, every)
    if wasted >= 1:
        return _nothing_kept(restart, restart + every + cost.stall)
    return Interruption(
        every=every, loss=every / 2 + cost.durable, restart=restart, wasted=wasted, why=interval.why
    )


def _nothing_kept(restart: timedelta, needed: timedelta) -> Interruption:
    why = _("no machine lives for the {needed} that it takes to save for the first time, so no work is kept")
    return Interruption(
        every=None, loss=None, restart=restart, wasted=None, why=why.format(needed=show_duration(needed))
    )


def _between(lifetimes: Lifetimes, restart: timedelta) -> timedelta | None:
    """Return how long work goes on between two interruptions; None when no machine lives so long."""
    if not lifetimes.observed:
        return lifetimes.mean * _HOUR
    left = [life - restart / _HOUR for life in lifetimes.hours if life * _HOUR > restart]
    return math.fsum(left) / len(left) * _HOUR if left else None


def _wasted_of_mean(cost: SaveCost, lifetimes: Lifetimes, restart: timedelta, every: timedelta) -> float:
    between = lifetimes.mean * _HOUR
    behind = (restart + cost.durable) / between
    ahead = (every + cost.stall) / between
    if behind + ahead > 50:  # less than one life in 10^21 is long enough
        return 1.0
    return 1 - every / between / (math.exp(behind) * math.expm1(ahead))


def _wasted_of_lives(cost: SaveCost, lifetimes: Lifetimes, restart: timedelta, every: timedelta) -> float:
    """Return it with half an interval lost by each life, so that it does not hang on their exact lengths."""
    before = (restart + cost.durable) / _HOUR
    each = (every + cost.stall) / _HOUR
    saves = math.fsum(max(0.0, (life - before) / each - 0.5) for life in lifetimes.hours)
    return 1 - saves * (every / _HOUR) / math.fsum(lifetimes.hours)


def judge_tolerance(
    max_loss: timedelta, cost: SaveCost | None, *, between: timedelta | None = None
) -> Tolerance:
    """Hold the loss that is tolerated against what a save was seen to cost.

    Args:
        max_loss: the most work that may be lost.
        cost: of the last save; None before the first.
        between: mean time between interruptions; None takes what `checkpoint.interval` assumes.
    """
    if cost is None:
        why = _("no save has been measured, so nobody knows what it costs to lose no more than {loss}")
        return Tolerance(kept=None, worst=None, stalled=None, why=why.format(loss=show_duration(max_loss)))
    interval = choose_interval(cost, between_interruptions=between, max_loss=max_loss)
    worst = interval.every + cost.durable
    return Tolerance(
        kept=worst <= max_loss,
        worst=worst,
        stalled=cost.stall / (interval.every + cost.stall),
        why=interval.why,
    )
