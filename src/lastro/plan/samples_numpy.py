"""Calendars drawn a few thousand at a time with NumPy; the numbers are those of `plan.samples`."""

# S intervals, B draws in a block
from __future__ import annotations

from typing import Any

import numpy as np

from lastro.plan.draws import Held
from lastro.plan.luck import FIRST, GOLDEN, MASK, SECOND, UNIT
from lastro.plan.network import Bill, Network, Node, Samples
from lastro.plan.samples import MICRO, NO_SLACK

#: So many draws at once that one block's numbers stay in the processor's cache.
BLOCK = 2048

Array = Any  # NumPy's stubs need a newer Python than ours


def sample(network: Network, count: int) -> Samples:
    """Draw `count` calendars."""
    size = len(network.nodes)
    ends: Array = np.empty(count)
    costs: Array = np.empty(count)
    critical: Array = np.zeros(size, np.int64)
    moved: Array = np.zeros(size, np.int64)
    for begin in range(0, count, BLOCK):
        block = slice(begin, min(begin + BLOCK, count))
        hours_SB = draw(network, block)
        begins_SB, ends_SB = _lay_out(network, hours_SB)
        end_B = ends_SB.max(axis=0, initial=0.0)
        ends[block] = end_B
        costs[block] = network.other
        for bill in network.bills:
            costs[block] += _cost(bill, begins_SB, hours_SB, ends_SB, end_B)
        slack_SB = _slack(network, hours_SB, ends_SB, end_B)
        critical += (slack_SB <= NO_SLACK).sum(axis=1)
        # Whole numbers, because the order of a sum of floats differs between processors.
        moved += np.rint(np.clip(1.0 - slack_SB, 0.0, 1.0) * MICRO).astype(np.int64).sum(axis=1)
    ends.sort()
    costs.sort()
    return Samples(ends=ends, costs=costs, critical=critical.tolist(), moved=moved.tolist())


def draw(network: Network, block: slice) -> Array:
    """Return the durations of the draws in `block`, in hours: shape S x B."""
    counts_B = np.arange(block.start + 1, block.stop + 1, dtype=np.uint64) * np.uint64(GOLDEN)
    hours_SB = np.empty((len(network.nodes), len(counts_B)))
    for node, hours_B in zip(network.nodes, hours_SB, strict=True):
        _durations(node, counts_B, hours_B)
    return hours_SB


def _durations(node: Node, counts_B: Array, hours_B: Array) -> None:
    low, likely, high = node.span.low, node.span.likely, node.span.high
    width, left, right = high - low, likely - low, high - likely
    if width <= 0:
        hours_B[:] = low
        return
    z_B = counts_B + np.uint64(node.begin & MASK)
    z_B ^= z_B >> np.uint64(30)
    z_B *= np.uint64(FIRST)
    z_B ^= z_B >> np.uint64(27)
    z_B *= np.uint64(SECOND)
    z_B ^= z_B >> np.uint64(31)
    share_B = (z_B >> np.uint64(11)) * UNIT
    early_B = share_B * width < left
    root_B = np.sqrt(np.where(early_B, share_B * width * left, (1.0 - share_B) * width * right))
    np.copyto(hours_B, np.where(early_B, low + root_B, high - root_B))


def _lay_out(network: Network, hours_SB: Array) -> tuple[Array, Array]:
    """Return when each interval begins and ends, in hours: shape S x B both."""
    begins_SB, ends_SB = np.empty_like(hours_SB), np.empty_like(hours_SB)
    for node, begins_B, hours_B, ends_B in zip(network.nodes, begins_SB, hours_SB, ends_SB, strict=True):
        begins_B[:] = node.wait
        for earlier, wait in node.before:
            np.maximum(begins_B, ends_SB[earlier] + wait if wait else ends_SB[earlier], out=begins_B)
        np.add(begins_B, hours_B, out=ends_B)
    return begins_SB, ends_SB


def _slack(network: Network, hours_SB: Array, ends_SB: Array, end_B: Array) -> Array:
    """Return for each interval how much longer it could take before the end moves: shape S x B, in hours."""
    behind_SB = np.zeros_like(hours_SB)
    through_SB = np.empty_like(hours_SB)  # behind an interval, with its own hours
    for place in range(len(network.nodes) - 1, -1, -1):
        behind_B = behind_SB[place]
        for later, wait in network.after[place]:
            np.maximum(behind_B, through_SB[later] + wait if wait else through_SB[later], out=behind_B)
        np.add(behind_B, hours_SB[place], out=through_SB[place])
    behind_SB += ends_SB
    return np.subtract(end_B, behind_SB, out=behind_SB)


def _cost(bill: Bill, begins_SB: Array, hours_SB: Array, ends_SB: Array, end_B: Array) -> Array:
    """Return what one machine costs in each draw of the block, in its currency."""
    members = list(bill.members)
    if bill.held is Held.INTERVAL:
        total_B = np.zeros_like(end_B)
        for place in members:
            total_B += _units(bill, hours_SB[place])
        return total_B * bill.first
    first_B = begins_SB[members].min(axis=0)
    if bill.held is Held.WHOLE:
        end_B = ends_SB[members].max(axis=0)
    return bill.first + (_units(bill, end_B - first_B) - 1) * bill.further


def _units(bill: Bill, hours_B: Array) -> Array:
    units_B = np.ceil(hours_B * bill.units_an_hour + bill.units_before)
    return np.maximum(bill.least, units_B, out=units_B) if bill.least else units_B
