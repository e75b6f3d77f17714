"""The law of a loop that waits for its input: three measured paces, a verdict, a prediction. Pure.

A loop without workers loads, then computes: a batch takes the sum of both. With workers loading goes on
meanwhile, and a batch takes the longer of the two. Utilization of a GPU plays no part: it is the share of
time in which *any* kernel ran, and one small kernel shows 100 %.
"""

from __future__ import annotations

from enum import Enum

from lastro.locale import _
from lastro.records import dataclass

#: From so much waiting and so much to win on, the input is what holds a loop up; below the second pair it is
#: not. Between the two nobody should be sent to work on either side. Assumed; the margins are wider than the
#: 15 % within which the law has predicted 20 made loops.
WAITS, GAINS = 0.3, 1.3
RARELY_WAITS, HARDLY_GAINS = 0.1, 1.15
#: Fewer batches than this say nothing of a pace.
FEWEST = 5


class Bound(str, Enum):
    """What holds a loop up."""

    INPUT = "input"
    COMPUTE = "compute"
    MIXED = "mixed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Paces:
    """What was measured of a loop, in batches a second.

    Args:
        real: as it is.
        replayed: with one batch given again and again, so that input costs nothing.
        loader: of the loader alone; None: it could not be begun anew.
        wait: the share of the time in which the loop stood and waited for its next batch.
        workers: of the loader; 0: the loop loads by itself.
        batches: over so many.
    """

    real: float
    replayed: float
    loader: float | None
    wait: float
    workers: int
    batches: int

    @property
    def gain(self) -> float:
        """How many times as fast the loop would be if input cost nothing."""
        return self.replayed / self.real


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A verdict with its reason."""

    bound: Bound
    why: str


def predicted(loader: float, compute: float, *, workers: int) -> float:
    """Return the pace of a loop from those of its two halves, each measured alone; batches a second.

    Raises:
        ValueError: a pace is not above 0.
    """
    if min(loader, compute) <= 0:
        raise ValueError(_("a pace has to be more than 0"))
    return min(loader, compute) if workers else 1 / (1 / loader + 1 / compute)


def judge(paces: Paces) -> Judged:
    """Say what holds a loop up; both marks have to agree, or it is mixed."""
    if paces.batches < FEWEST:
        why = _("only {count} batches were seen, {least} are needed").format(
            count=paces.batches, least=FEWEST
        )
        return Judged(bound=Bound.UNKNOWN, why=why)
    told = _("it waits {wait:.0%} of the time, and would be {gain:.2f} times as fast with free input").format(
        wait=paces.wait, gain=paces.gain
    )
    if paces.wait >= WAITS and paces.gain >= GAINS:
        return Judged(bound=Bound.INPUT, why=told)
    if paces.wait <= RARELY_WAITS and paces.gain <= HARDLY_GAINS:
        return Judged(bound=Bound.COMPUTE, why=told)
    return Judged(bound=Bound.MIXED, why=told)
