"""One on-demand machine and some spot machines that share divisible work: what they cost, when they end."""

from __future__ import annotations

import math
from dataclasses import replace

from lastro.billing import Lease, billed_seconds, cost
from lastro.errors import UsageError
from lastro.locale import _
from lastro.plan.lifetimes import Lifetimes
from lastro.plan.spot import money_of
from lastro.plan.spot_lives import Work
from lastro.records import dataclass
from lastro.units import Money

_HOUR = 3600


@dataclass(frozen=True, kw_only=True)
class Group:
    """One on-demand machine and `nodes` spot machines that share divisible work. None is unknown.

    `end` in hours. `by_spot`: the share of the work that the spot machines do. `alone_cost` and `alone_end`:
    the on-demand machine without them.
    """

    nodes: int
    cost: Money | None
    end: float | None
    by_spot: float | None
    alone_cost: Money | None
    alone_end: float
    why: str


def expect_group(
    work: Work,
    on_demand: Lease,
    spot: Lease,
    lifetimes: Lifetimes,
    *,
    nodes: int,
    away: float | None,
) -> Group:
    """Return what one on-demand machine and some spot machines are expected to cost, and when they end.

    The work has to be divisible (independent runs, items), and each machine takes what is left of it. A spot
    machine does what is saved of a life, then waits: by the renewal-reward theorem its rate is the mean of
    the one divided by the mean of both. That is rough when the end comes before some lives have passed; the
    reason says so. All machines are let go at the end.

    Args:
        work: all of it; `never_spot` gives the on-demand machine alone.
        on_demand: the machine that stays.
        spot: how each of the others is billed.
        lifetimes: of the spot machines.
        nodes: how many of them.
        away: hours on average from an interruption until another is to be had; None: the end is unknown.

    Raises:
        UsageError: `nodes` is negative.
    """
    if nodes < 0:
        raise UsageError(_("there cannot be {nodes} spot machines").format(nodes=nodes))
    end = work.start + work.hours
    price = cost(on_demand, end * _HOUR)
    alone = Group(nodes=0, cost=price, end=end, by_spot=0.0, alone_cost=price, alone_end=end, why="")
    if work.never_spot or not nodes:
        why = _("this run is never put on spot") if work.never_spot else _("no spot machine is asked for")
        return replace(alone, why=why)
    if away is None:
        why = _("nobody knows how long it takes to get {spot} again, so the end is unknown")
        return replace(alone, nodes=nodes, cost=None, end=None, by_spot=None, why=why.format(spot=spot.offer))
    cycle = lifetimes.mean + away
    start, each = work.start + work.restore, work.every + work.stall
    saves = [max(0, math.floor((life - start) / each + 1e-9)) for life in lifetimes.hours]
    rate = sum(saves) * work.every / len(saves) / cycle
    end = (work.hours + work.start) / (1 + nodes * rate)
    billed = math.fsum(billed_seconds(spot, life * _HOUR) for life in lifetimes.hours) / _HOUR / len(saves)
    stays = cost(on_demand, end * _HOUR)
    spent = None
    if stays is not None and spot.price is not None and stays.currency == spot.price.currency:
        spent = stays + money_of(spot.price, nodes * end * billed / cycle)
    why = _(
        "each spot machine does {rate:.2f} h of work in an hour; together they end after {end:.1f} h"
    ).format(rate=rate, end=end)
    if end < 3 * cycle:
        why = _("{why}; rough, because a life and a wait take {cycle:.1f} h").format(why=why, cycle=cycle)
    return replace(alone, nodes=nodes, cost=spent, end=end, by_spot=nodes * rate * end / work.hours, why=why)
