"""Draws made ready for sampling: lanes turned into predecessors, machines into what they add to the bill."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import or_

from lastro.plan.draws import Draws, Held, Machine
from lastro.plan.luck import stream
from lastro.plan.parts import Span
from lastro.records import dataclass

_HOUR = 3600
#: A unit or a term is begun when more than this part of it is used.
_ROUNDING = 1e-6


@dataclass(frozen=True, kw_only=True)
class Node:
    """An interval, and all that has to have ended before it (with the wait): what it is after, its lanes."""

    span: Span
    begin: int
    wait: float
    before: tuple[tuple[int, float], ...]


@dataclass(frozen=True, kw_only=True)
class Bill:
    """How one machine is billed: by begun units (terms of a lot), at a price for the first and each further.

    `members`: the intervals on its lanes. One holding of h hours begins h * `units_an_hour` +
    `units_before` units, rounded up, and `least` at least; `units_before` is the boot, less a little for what
    binary fractions cannot hold.
    """

    members: tuple[int, ...]
    held: Held
    units_an_hour: float
    units_before: float
    least: int
    first: float
    further: float


@dataclass(frozen=True, kw_only=True)
class Network:
    """All nodes in their order, the edges backwards (from each node to what follows it), and the bills."""

    nodes: tuple[Node, ...]
    after: tuple[tuple[tuple[int, float], ...], ...]
    bills: tuple[Bill, ...]
    other: float


@dataclass(frozen=True, kw_only=True)
class Samples:
    """What was drawn. `ends` in hours and `costs` in the one currency: a value for each draw, sorted.

    For each interval: in how many draws it is on the critical path, and by how many micro-hours in all the
    end moves when it takes one hour more.
    """

    ends: Sequence[float]
    costs: Sequence[float]
    critical: Sequence[int]
    moved: Sequence[int]


#: A way to draw: the network, how many draws.
Sampler = Callable[[Network, int], Samples]


def make_network(draws: Draws, seed: int, *, priced: bool) -> Network:
    """Return what samplers work on. All durations are known; `priced`: all prices are, in one currency."""
    nodes: list[Node] = []
    last: dict[int, int] = {}
    above: list[int] = []  # for each node a bit for every one that has to end before it
    for place, interval in enumerate(draws.intervals):
        assert interval.hours is not None, "unknown durations are told before anything is drawn"
        before = dict.fromkeys((last[lane] for lane in interval.lanes if lane in last), 0.0)
        before.update(dict.fromkeys(interval.after, interval.wait_hours))
        nodes.append(
            Node(
                span=interval.hours,
                begin=stream(seed, interval.luck),
                wait=0.0 if interval.after else interval.wait_hours,
                before=tuple(
                    (earlier, wait)
                    for earlier, wait in sorted(before.items())
                    # What ends before something else that is waited for need not be looked at.
                    if wait or not any(above[other] >> earlier & 1 for other in before)
                ),
            )
        )
        above.append(reduce(or_, (above[earlier] | 1 << earlier for earlier in before), 0))
        last.update(dict.fromkeys(interval.lanes, place))
    after: Mapping[int, list[tuple[int, float]]] = {place: [] for place in range(len(nodes))}
    for place, node in enumerate(nodes):
        for earlier, wait in node.before:
            after[earlier].append((place, wait))
    return Network(
        nodes=tuple(nodes),
        after=tuple(tuple(after[place]) for place in range(len(nodes))),
        bills=tuple(filter(None, (_bill(machine, draws) for machine in draws.machines))) if priced else (),
        other=float(draws.other.amount) if priced and draws.other else 0.0,
    )


def _bill(machine: Machine, draws: Draws) -> Bill | None:
    """Return how a machine is billed; None when nothing is on its lanes, so that it is not taken."""
    members = tuple(
        place for place, interval in enumerate(draws.intervals) if set(interval.lanes) & set(machine.lanes)
    )
    lease = machine.lease
    if not members:
        return None
    assert lease.price is not None, "unknown prices are told before anything is drawn"
    price = float(lease.price.amount)
    if machine.is_lot:
        unit, least = float(lease.term_seconds or 0), 1
        further = float(machine.renewal.amount) if machine.renewal else price
    else:
        unit = float(lease.unit_seconds)
        least = -(-lease.minimum_seconds // lease.unit_seconds)
        price = further = price * unit / _HOUR
    return Bill(
        members=members,
        held=machine.held,
        units_an_hour=_HOUR / unit,
        units_before=machine.boot_seconds / unit - _ROUNDING,
        least=least,
        first=price,
        further=further,
    )
