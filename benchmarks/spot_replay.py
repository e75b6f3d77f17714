"""A job with a deadline replayed on recorded spot availability: rules beside the optimum that knows all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from lastro.billing import LeaseKind
from lastro.plan.spot_rules import Now, Terms, needs_guarantee, next_machine
from lastro.units import Money

#: p3.2xlarge in the time of the traces, USD an hour; the spot price where a trace holds none.
ON_DEMAND, SPOT = 3.06, 0.9731


@dataclass(frozen=True, kw_only=True)
class Trace:
    """Whether spot was to be had at each tick. `tick` and all other times are in hours."""

    name: str
    tick: float
    there: tuple[bool, ...]
    spot: float


def read_trace(path: Path) -> Trace:
    """Read a compact trace. In these files 1 says that a machine could be had; others invert."""
    told = json.loads(path.read_text())
    there: list[bool] = []
    state = bool(told["first_state_available"])
    for length in told["run_lengths"]:
        there += [state] * length
        state = not state
    prices = told.get("spot_price_usd_runs")
    spot = (
        sum(price * ticks for price, ticks in prices) / sum(ticks for _p, ticks in prices) if prices else SPOT
    )
    return Trace(name=path.stem, tick=told["gap_seconds"] / 3600, there=tuple(there), spot=round(spot, 4))


@dataclass(frozen=True, kw_only=True)
class Job:
    """`work` and `window` in hours; `restart` is paid and does no work; `every`: 0 loses nothing."""

    work: float
    window: float
    restart: float
    every: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Bill:
    """What came out: USD, hours of work left at the deadline (0: in time), and interruptions."""

    cost: float
    late: float
    interruptions: int


#: A rule says which machine to use until the next tick.
Rule = Callable[[Now, Terms], LeaseKind | None]


def lastro(now: Now, terms: Terms) -> LeaseKind | None:
    return next_machine(now, terms).use


def on_demand(_now: Now, _terms: Terms) -> LeaseKind | None:
    return LeaseKind.HOURLY


def greedy(now: Now, terms: Terms) -> LeaseKind | None:
    """Spot whenever it is there, else wait, until the safety net."""
    if needs_guarantee(now, terms).yes:
        return LeaseKind.HOURLY
    return LeaseKind.SPOT if now.spot_there else None


def uniform_progress(now: Now, terms: Terms) -> LeaseKind | None:
    """Keep to the straight line of progress.

    Behind the line, without spot: on demand, until spot is back and the work two restarts ahead of it. Spot
    is kept until it is gone.
    Source: Z. Wu and others, Can't Be Late, NSDI 2024; written anew from its description.
    """
    if needs_guarantee(now, terms).yes:
        return LeaseKind.HOURLY
    assert now.window is not None and terms.window is not None, "these jobs have a deadline"
    done, passed = terms.work - now.work, terms.window - now.window
    line, ahead = ((passed + more) * terms.work / terms.window for more in (0.0, 2 * terms.restart))
    if now.on is LeaseKind.HOURLY:
        return LeaseKind.SPOT if done >= ahead and now.spot_there else LeaseKind.HOURLY
    if now.spot_there:
        return LeaseKind.SPOT
    return LeaseKind.HOURLY if done < line else None


def replay(rule: Rule, trace: Trace, first: int, job: Job) -> Bill:
    """Run a job by a rule from tick `first` on. Whole ticks are paid, and of the last what is used."""
    prices = {LeaseKind.SPOT: trace.spot, LeaseKind.HOURLY: ON_DEMAND}
    length = ticks_of(job, trace) * trace.tick
    terms = Terms(
        spot=usd(trace.spot),
        on_demand=usd(ON_DEMAND),
        restart=job.restart,
        every=job.every,
        tick=trace.tick,
        work=job.work,
        window=length,
    )
    on: LeaseKind | None = None
    left, unsaved, starting, cost, on_spot, useful, interruptions = job.work, 0.0, 0.0, 0.0, 0.0, 0.0, 0
    for tick in range(ticks_of(job, trace)):
        there = trace.there[first + tick]
        if on is LeaseKind.SPOT and not there:
            on, left, useful, unsaved = None, left + unsaved, useful - unsaved, 0.0
            interruptions += 1
        now = Now(
            work=left,
            window=length - tick * trace.tick,
            on=on,
            spot_there=there,
            spent=usd(on_spot),
            useful=useful,
        )
        use = rule(now, terms)
        assert use is not LeaseKind.SPOT or there, "nobody gets what is not there"
        if use is not on:
            on, starting, unsaved = use, job.restart, 0.0
        if on is None:
            continue
        held = min(trace.tick, starting + left)
        cost += prices[on] * held
        work = max(0.0, held - starting)
        starting = max(0.0, starting - held)
        left -= work
        if on is LeaseKind.SPOT:
            on_spot, useful = on_spot + trace.spot * held, useful + work
            unsaved = (unsaved + work) % job.every if job.every else 0.0
        if left <= 1e-9:
            return Bill(cost=cost, late=0.0, interruptions=interruptions)
    return Bill(cost=cost, late=left, interruptions=interruptions)


def usd(amount: float) -> Money:
    return Money(Decimal(repr(amount)), "USD")


def ticks_of(job: Job, trace: Trace) -> int:
    """Return how many whole ticks the window has."""
    return int(job.window / trace.tick + 1e-9)


def windows(trace: Trace, job: Job, count: int) -> Iterator[int]:
    """Return the first ticks of `count` windows, spread evenly over the trace."""
    most = len(trace.there) - ticks_of(job, trace) - 1
    for number in range(count):
        yield round(most * number / max(1, count - 1))


def optimum(trace: Trace, first: int, job: Job) -> float:
    """Return the least that the job can cost for one that knows all of the window, in USD.

    Exact on the grid of ticks and a fifth of a tick of work: backwards over time, with the cheapest way for
    each amount of work left and each machine it is on. A start is work to be done first; who knows all begins
    none that is cut off. Nothing is lost at an interruption.
    """
    import numpy as np

    step = 5
    unit = trace.tick / step
    work, restart = round(job.work / unit), round(job.restart / unit)
    size = work + 2 * restart + 1
    left: Any = np.arange(size)
    # Work left after a tick on a machine that runs, and on one that has to start; the last place is never.
    runs, starts = (np.clip(left + more - step, 0, size) for more in (0, restart))
    held = np.minimum(left, step) * unit, np.minimum(left + restart, step) * unit
    on_spot, by_hour = ([hours * price for hours in held] for price in (trace.spot, ON_DEMAND))

    done: Any = np.append(np.where(left == 0, 0.0, np.inf), np.inf)
    none, spot, stays = done.copy(), done.copy(), done.copy()
    for tick in range(ticks_of(job, trace) - 1, -1, -1):
        idle = np.minimum(none[:-1], by_hour[1] + stays[starts])
        kept = by_hour[0] + stays[runs]
        held_spot = idle
        if trace.there[first + tick]:
            idle = np.minimum(idle, on_spot[1] + spot[starts])
            held_spot = np.minimum(idle, on_spot[0] + spot[runs])
        none[:-1], spot[:-1], stays[:-1] = idle, held_spot, np.minimum(idle, kept)
        none[0] = spot[0] = stays[0] = 0.0
    return float(none[work])
