"""Calendars drawn one by one in plain Python: the way without NumPy, number for number the same."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from lastro.plan.draws import Held
from lastro.plan.luck import triangular, uniform
from lastro.plan.network import Bill, Network, Samples

#: Less slack than this, in hours, is none.
NO_SLACK = 1e-9
MICRO = 1_000_000


def sample(network: Network, count: int) -> Samples:
    """Draw `count` calendars."""
    size = len(network.nodes)
    ends, costs = [], []
    critical, moved = [0] * size, [0] * size
    for draw in range(count):
        hours = [triangular(node.span, uniform(node.begin, draw)) for node in network.nodes]
        begins = _begins(network, hours)
        end = max((begin + hour for begin, hour in zip(begins, hours, strict=True)), default=0.0)
        ends.append(end)
        cost = network.other
        for bill in network.bills:
            cost += _cost(bill, begins, hours, end)
        costs.append(cost)
        for place, slack in enumerate(_slacks(network, begins, hours, end)):
            critical[place] += slack <= NO_SLACK
            moved[place] += round(min(max(1.0 - slack, 0.0), 1.0) * MICRO)
    return Samples(ends=sorted(ends), costs=sorted(costs), critical=critical, moved=moved)


def _begins(network: Network, hours: Sequence[float]) -> list[float]:
    begins: list[float] = []
    for node in network.nodes:
        ready = [begins[earlier] + hours[earlier] + wait for earlier, wait in node.before]
        begins.append(max([node.wait, *ready]))
    return begins


def _slacks(network: Network, begins: Sequence[float], hours: Sequence[float], end: float) -> list[float]:
    """Return for each interval how much longer it could take before the end moves."""
    behind = [0.0] * len(hours)
    for place in range(len(hours) - 1, -1, -1):
        follow = [behind[later] + hours[later] + wait for later, wait in network.after[place]]
        behind[place] = max([0.0, *follow])
    return [end - (rest + (begin + hour)) for begin, hour, rest in zip(begins, hours, behind, strict=True)]


def _cost(bill: Bill, begins: Sequence[float], hours: Sequence[float], end: float) -> float:
    if bill.held is Held.INTERVAL:
        return sum(_units(bill, hours[place]) for place in bill.members) * bill.first
    first = min(begins[place] for place in bill.members)
    if bill.held is Held.WHOLE:
        end = max(begins[place] + hours[place] for place in bill.members)
    return bill.first + (_units(bill, end - first) - 1) * bill.further


def _units(bill: Bill, hours: float) -> int:
    return max(bill.least, ceil(hours * bill.units_an_hour + bill.units_before))
