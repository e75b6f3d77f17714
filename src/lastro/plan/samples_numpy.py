"""Calendars drawn a few thousand at a time with NumPy; the numbers are those of `plan.samples`."""

# S intervals, B draws in a block
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lastro.plan.draws import Held
from lastro.plan.luck import FIRST, GOLDEN, MASK, SECOND, UNIT
from lastro.plan.network import Bill, Network, Samples
from lastro.plan.samples import MICRO, NO_SLACK

#: So many calendars at once that the work outweighs the calls, and so many draws of all stages that they stay
#: in a processor's cache.
BLOCK, CHUNK = 4096, 256

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
        # Whole numbers, because the order of a sum of fractions differs between processors.
        np.subtract(1.0, slack_SB, out=slack_SB)
        np.maximum(slack_SB, 0.0, out=slack_SB)
        slack_SB *= MICRO
        moved += np.rint(slack_SB, out=slack_SB).sum(axis=1).astype(np.int64)
    ends.sort()
    costs.sort()
    return Samples(ends=ends, costs=costs, critical=critical.tolist(), moved=moved.tolist())


def draw(network: Network, block: slice) -> Array:
    """Return the durations of the draws in `block`, in hours: shape S x B."""
    spans = [node.span for node in network.nodes]
    low_S1, high_S1 = _column([span.low for span in spans]), _column([span.high for span in spans])
    left_S1 = _column([span.likely for span in spans]) - low_S1
    right_S1, width_S1 = high_S1 - low_S1 - left_S1, high_S1 - low_S1
    # Without width all is at its end: nothing is early, and its root is zero.
    early_S1 = np.divide(left_S1, width_S1, out=np.zeros_like(left_S1), where=width_S1 > 0)
    begin_S1 = np.array([node.begin & MASK for node in network.nodes], dtype=np.uint64).reshape(-1, 1)
    hours_SB = np.empty((len(spans), block.stop - block.start))
    for first in range(block.start, block.stop, CHUNK):
        counts = np.arange(first + 1, min(first + CHUNK, block.stop) + 1, dtype=np.uint64)
        share = _uniform(begin_S1 + counts * np.uint64(GOLDEN))
        early = share < early_S1
        root = np.where(early, share * (width_S1 * left_S1), (1.0 - share) * (width_S1 * right_S1))
        np.sqrt(root, out=root)
        at = slice(first - block.start, first - block.start + len(counts))
        hours_SB[:, at] = np.where(early, low_S1 + root, high_S1 - root)
    return hours_SB


def _column(values: Sequence[float]) -> Array:
    return np.array(values, dtype=np.float64).reshape(-1, 1)


def _uniform(bits: Array) -> Array:
    """Turn states of SplitMix64, which are overwritten, into its numbers in [0, 1)."""
    for shift, factor in ((30, FIRST), (27, SECOND)):
        bits ^= bits >> np.uint64(shift)
        bits *= np.uint64(factor)
    bits ^= bits >> np.uint64(31)
    bits >>= np.uint64(11)
    return bits.view(np.int64) * UNIT


def _latest(rows: Sequence[tuple[Array, float]], least: float, out_B: Array) -> None:
    """Write the largest of `least` (not above any row) and of the rows, each with its wait added."""
    if not rows:
        out_B[:] = least
        return
    first_B, wait = rows[0]
    np.add(first_B, wait, out=out_B)
    for row_B, wait in rows[1:]:
        np.maximum(out_B, row_B + wait if wait else row_B, out=out_B)


def _lay_out(network: Network, hours_SB: Array) -> tuple[Array, Array]:
    """Return when each interval begins and ends, in hours: shape S x B both."""
    begins_SB, ends_SB = np.empty_like(hours_SB), np.empty_like(hours_SB)
    for node, begins_B, hours_B, ends_B in zip(network.nodes, begins_SB, hours_SB, ends_SB, strict=True):
        _latest([(ends_SB[earlier], wait) for earlier, wait in node.before], node.wait, begins_B)
        if node.wait and node.before:
            np.maximum(begins_B, node.wait, out=begins_B)
        np.add(begins_B, hours_B, out=ends_B)
    return begins_SB, ends_SB


def _slack(network: Network, hours_SB: Array, ends_SB: Array, end_B: Array) -> Array:
    """Return for each interval how much longer it could take before the end moves: shape S x B, in hours."""
    behind_SB = np.empty_like(hours_SB)
    through_SB = np.empty_like(hours_SB)  # behind an interval, with its own hours
    for place in range(len(network.nodes) - 1, -1, -1):
        behind_B = behind_SB[place]
        _latest([(through_SB[later], wait) for later, wait in network.after[place]], 0.0, behind_B)
        np.add(behind_B, hours_SB[place], out=through_SB[place])
    behind_SB += ends_SB
    return np.subtract(end_B, behind_SB, out=behind_SB)


def _cost(bill: Bill, begins_SB: Array, hours_SB: Array, ends_SB: Array, end_B: Array) -> Array:
    """Return what one machine costs in each draw of the block, in its currency."""
    members = list(bill.members)
    if bill.held is Held.INTERVAL:
        return _units(bill, hours_SB[members]).sum(axis=0) * bill.first
    first_B = begins_SB[members].min(axis=0)
    if bill.held is Held.WHOLE:
        end_B = ends_SB[members].max(axis=0)
    return bill.first + (_units(bill, end_B - first_B) - 1) * bill.further


def _units(bill: Bill, hours: Array) -> Array:
    units = hours * bill.units_an_hour
    units += bill.units_before
    np.ceil(units, out=units)
    return np.maximum(bill.least, units, out=units) if bill.least else units
