"""In which order a disk wants to be read: decided from a few reads that were timed on it."""

from __future__ import annotations

from dataclasses import asdict
from enum import Enum
from typing import Any

from lastro.locale import _
from lastro.records import dataclass


class Order(str, Enum):
    """How an epoch is shuffled. The value stands in positions."""

    EXACT = "exact"
    BLOCK = "block"


@dataclass(frozen=True, kw_only=True)
class Reads:
    """What was measured past the system's memory, in seconds a sample.

    alone: of one sample anywhere. together: of one that is read with its neighbours in one large piece.
    """

    alone: float
    together: float
    count: int

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The order, and why. `block`: samples of one block; 0 for the exact order."""

    order: Order
    block: int
    why: str


#: A read alone may take so many times one among its neighbours: four workers at once hide as much.
FACTOR = 4.0
#: A block is about so large: a network disk reads it in one go, and sixteen of them are a good mixture.
BLOCK_BYTES = 8 * 10**6
#: Blocks whose samples are shuffled among each other.
MIXED = 16


def choose(reads: Reads | None, mean_bytes: float) -> Choice:
    """Return the order for a disk.

    Args:
        reads: what was measured; None where there is too little to measure.
        mean_bytes: of a sample.
    """
    block = max(int(BLOCK_BYTES / mean_bytes), 1) if mean_bytes else 1
    if reads is None:
        return Choice(order=Order.EXACT, block=0, why=_("too few samples to measure how they are read"))
    told = {"alone": f"{reads.alone * 1e3:.2f}", "together": f"{reads.together * 1e3:.2f}"}
    if reads.alone > FACTOR * reads.together and block > 1:
        why = _("a sample read alone takes {alone} ms here, among its neighbours {together} ms").format(
            **told
        )
        return Choice(order=Order.BLOCK, block=block, why=why)
    why = _("a sample read alone takes {alone} ms here, and {together} ms among its neighbours").format(
        **told
    )
    return Choice(order=Order.EXACT, block=0, why=why)
